"""Starts members, reads their reports while they run, and never leaves one behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.gateway.clients.plan import Plan
from tests.gateway.patience import PATIENCE_S, wait_until
from tests.kafka.broker import die_with_parent
from tests.kafka.home import CLIENTS, JUDGE, REPOSITORY, TOOLS, compiled, java, libraries

Event = dict[str, Any]

#: The Java clients that are tried.
JAVA = (CLIENTS, TOOLS, JUDGE)
_SOURCES = Path(__file__).parents[1] / "java" / "workload"


class Member:
    """Member's process and what it has reported so far; a context manager that ends it."""

    def __init__(self, command: list[str], plan: Plan, number: int = 0) -> None:
        self.plan = plan
        self.number = number
        self.events: list[Event] = []
        self.complaints = ""
        self._process = subprocess.Popen(
            [*command, plan.line()],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
        )
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._listen)]
        for reader in self._readers:
            reader.start()

    def received(self) -> int:
        """Number of records received, deliveries counted one by one."""
        return sum(len(event["records"]) for event in list(self.events) if event["event"] == "received")

    def errors(self) -> list[Event]:
        """Errors that it has reported."""
        return [event for event in list(self.events) if event["event"] == "error"]

    def wait_until(self, holds: Callable[[Self], bool], what: str, seconds: float = PATIENCE_S) -> None:
        """Wait for its report to be so; a member that has ended before is an error."""

        def look() -> bool:
            over = self._process.poll() is not None
            if over:
                for reader in self._readers:
                    reader.join()
            if holds(self):
                return True
            if over:
                raise RuntimeError(f"the member ended ({self._process.returncode}) before {what}: {self.complaints[-2000:]}")
            return False

        wait_until(look, what, seconds=seconds)

    def stop(self, seconds: float = PATIENCE_S) -> int:
        """Have it leave in order; its exit status. One that does not come to an end is killed, and the status says so."""
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        return self.wait(seconds)

    def wait(self, seconds: float = PATIENCE_S) -> int:
        """Wait until it ends by itself; its exit status."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self._ended()

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._ended()

    def pause(self) -> None:
        """Stop it where it is, with its connections open."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def _ended(self) -> int:
        status = self._process.wait()
        for reader in self._readers:
            reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # One that is killed may leave half a line.
            with suppress(json.JSONDecodeError):
                self.events.append(json.loads(line))

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.complaints = (self.complaints + line)[-20_000:]


def confluent(plan: Plan, number: int = 0) -> Member:
    """A member by confluent-kafka."""
    return Member([sys.executable, "-m", "tests.gateway.clients.worker"], plan, number)


def java_member(plan: Plan, number: int = 0, *, version: str = JUDGE) -> Member:
    """A member by KafkaShareConsumer of a release."""
    classes = compiled(f"gateway-workload-{version}", _SOURCES, version)
    return Member(
        [java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m",
         "-cp", os.pathsep.join([str(classes), f"{libraries(version)}/*"]), "ShareWorkload"],
        plan,
        number,
    )  # fmt: skip
