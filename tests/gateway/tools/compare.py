"""Runs one script of tool commands against two servers and compares what they print.

``compare(script, real, gateway)`` is the whole of it. A script is a function over a :class:`Session`; what it runs there is
recorded, what it only waits for is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import NamedTuple

from tests.gateway import groups, records
from tests.gateway.patience import wait_until
from tests.gateway.tools.driver import Ran, Running, ToolDriver
from tests.gateway.tools.mask import masked


class Side(NamedTuple):
    """A server with share groups, and the cluster that holds its records: of a real broker the same."""

    share: str
    upstream: str

    @classmethod
    def broker(cls, bootstrap: str) -> Side:
        """A broker with its own share groups."""
        return cls(bootstrap, bootstrap)


class Step(NamedTuple):
    """A command and what of its end counts."""

    command: str
    code: int
    lines: list[str]


class Difference(NamedTuple):
    """A command whose ends differ."""

    command: str
    real: list[str]
    other: list[str]

    def __str__(self) -> str:
        """Both, one line below the other."""
        return "\n".join(
            [self.command, *(f"  real    {line}" for line in self.real), *(f"  gateway {line}" for line in self.other)]
        )


class Known(NamedTuple):
    """Lines that may differ, and why: patterns of the command, of the broker's line and of the gateway's (None: no line)."""

    command: str
    real: str | None
    other: str | None
    reason: str


class Session:
    """The tools towards one side."""

    def __init__(self, driver: ToolDriver, side: Side) -> None:
        self.side = side
        self.steps: list[Step] = []
        self._driver = driver

    def run(self, tool: str, *arguments: str, seconds: float = 120.0) -> Ran:
        """Run a command and record what it printed."""
        ran = self._driver.run(tool, "--bootstrap-server", self.side.share, *arguments, seconds=seconds)
        self._record(tool, arguments, ran)
        return ran

    def start(self, tool: str, *arguments: str) -> Running:
        """Start a command that goes on while others run."""
        return self._driver.start(tool, "--bootstrap-server", self.side.share, *arguments)

    def finish(self, running: Running, tool: str, *arguments: str) -> Ran:
        """Stop one that was started so, and record what it printed."""
        running.stop()
        ran = running.wait()
        self._record(tool, arguments, ran)
        return ran

    def until(self, says: Callable[[str], bool], tool: str, *arguments: str) -> None:
        """Repeat a command, unrecorded, until its output is so."""

        def look() -> bool:
            return says(self._driver.run(tool, "--bootstrap-server", self.side.share, *arguments).out)

        wait_until(look, f"{tool} {' '.join(arguments)}")

    def create_topic(self, name: str, partitions: int) -> None:
        """Make a topic where the records are."""
        records.create_topic(self.side.upstream, name, partitions)

    def produce(self, topic: str, values: Iterable[bytes], partition: int = 0) -> None:
        """Produce records where the records are."""
        records.produce(self.side.upstream, topic, values, partition=partition)

    def members(self, group: str, count: int) -> None:
        """Wait until a group has so many members."""
        groups.wait_for_members(self.side.share, group, count)

    def _record(self, tool: str, arguments: Iterable[str], ran: Ran) -> None:
        self.steps.append(Step(" ".join([tool, *arguments]), ran.code, masked(tool, ran.out, ran.err)))


Script = Callable[[Session], None]


def transcript(script: Script, side: Side, driver: ToolDriver) -> list[Step]:
    """Steps that a script records on one side."""
    session = Session(driver, side)
    script(session)
    assert session.steps, "the script ran nothing"
    return session.steps


def compare(script: Script, real: Side, gateway: Side, known: Iterable[Known] = ()) -> list[Difference]:
    """Run a script on both sides; the commands whose ends differ in more than what is known."""
    with ToolDriver() as driver:
        return differences(transcript(script, real, driver), transcript(script, gateway, driver), known)


def differences(real: list[Step], other: list[Step], known: Iterable[Known] = ()) -> list[Difference]:
    """Compare two transcripts of one script."""
    assert [step.command for step in real] == [step.command for step in other], "the script took another way"
    known = list(known)
    found = []
    for ours, theirs in zip(real, other, strict=True):
        pairs = [
            (left, right)
            for left, right in zip_longest([f"exit {ours.code}", *ours.lines], [f"exit {theirs.code}", *theirs.lines])
            if left != right and not any(_is(one, ours.command, left, right) for one in known)
        ]
        if pairs:
            found.append(
                Difference(
                    ours.command,
                    [left for left, _ in pairs if left is not None],
                    [right for _, right in pairs if right is not None],
                )
            )
    return found


def _is(known: Known, command: str, real: str | None, other: str | None) -> bool:
    def fits(pattern: str | None, line: str | None) -> bool:
        if pattern is None or line is None:
            return pattern is None and line is None
        return re.search(pattern, line) is not None

    return re.search(known.command, command) is not None and fits(known.real, real) and fits(known.other, other)
