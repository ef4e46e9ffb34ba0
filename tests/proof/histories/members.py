"""Members whose reports become events of a history: what a run needs of one, and each kind by its name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from tests.gateway.clients import members
from tests.gateway.clients.plan import Plan
from tests.kafka.home import VERSIONS
from tests.proof.histories.bare import BareMember
from tests.proof.histories.recorded import lines_of
from tests.proof.histories.system import Line


class Recorded(Protocol):
    """A member at work."""

    name: str

    def kill(self) -> None:
        """End it as a crash would."""

    def pause(self) -> None:
        """Stop it where it is, with its connections open."""

    def resume(self) -> None:
        """Let it go on."""

    def stop(self) -> None:
        """Have it leave in order."""

    def wait(self, seconds: float) -> bool:
        """Wait until it ends by itself; whether it did. One that does not is killed."""

    def lines(self, lock_ms: int) -> Iterator[Line]:
        """Events that it saw, once it has ended."""

    def failure(self) -> str | None:
        """Error that ended it, other than its plan and its run."""


class OfProcess:
    """A member in a process of its own, by a library for clients."""

    def __init__(self, member: members.Member) -> None:
        self.name = f"m{member.number}"
        self._member = member
        self._killed_at: int | None = None
        self._status = 0

    def kill(self) -> None:
        """See :class:`Recorded`."""
        self._killed_at = time.monotonic_ns()
        self._member.kill()

    def pause(self) -> None:
        """See :class:`Recorded`."""
        self._member.pause()

    def resume(self) -> None:
        """See :class:`Recorded`."""
        self._member.resume()

    def stop(self) -> None:
        """See :class:`Recorded`."""
        self._ended(self._member.stop())

    def wait(self, seconds: float) -> bool:
        """See :class:`Recorded`."""
        self._ended(self._member.wait(seconds))
        return self._status == 0

    def lines(self, lock_ms: int) -> Iterator[Line]:
        """See :class:`Recorded`."""
        return lines_of(self._member, lock_ms=lock_ms, killed_at=self._killed_at)

    def failure(self) -> str | None:
        """See :class:`Recorded`."""
        fatal = next((str(event["text"]) for event in self._member.errors() if event["fatal"]), None)
        if fatal is None and self._status != 0:
            return f"status {self._status}: {self._member.complaints[-500:]}"
        return fatal

    def _ended(self, status: int) -> None:
        self._status = status
        if status != 0:
            # It did not leave in order: what it has sent may still be on its way.
            self._killed_at = time.monotonic_ns()


def confluent(plan: Plan, number: int) -> Recorded:
    """A member by confluent-kafka."""
    return OfProcess(members.confluent(plan, number))


def java(version: str, plan: Plan, number: int) -> Recorded:
    """A member by KafkaShareConsumer of a release. It renews as well, where the plan has it do more than accept."""
    renewing = replace(plan, weights=(*plan.weights[:3], max(1, sum(plan.weights) // 10))) if sum(plan.weights[1:]) else plan
    return OfProcess(members.java_member(renewing, number, version=version))


_JAVA: Final = {f"java-{version}": partial(java, version) for version in VERSIONS}
#: The kinds of members by their names.
KINDS: Final[Mapping[str, Callable[[Plan, int], Recorded]]] = {"confluent": confluent, "bare": BareMember, **_JAVA}
#: Choices of ``--members``, and the kinds that are at work then.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "bare": ("bare",),
    "confluent": ("confluent", "bare"),
    "java": (*_JAVA, "bare"),
    "mixed": tuple(KINDS),
}
