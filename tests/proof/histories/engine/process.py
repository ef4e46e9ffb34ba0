"""The process of the engine: ``python -m tests.proof.histories.engine.process SPEC``, commands in, events out, a line each."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from share_state import ShareStateError, StateStore
from share_state.persister import initialize_if_absent
from share_state.types import SharePartitionKey
from tests.proof.histories.engine.clock import Clock
from tests.proof.histories.engine.member import Member
from tests.proof.histories.engine.partition import Partition
from tests.proof.histories.engine.spec import GROUP, TOPIC_ID, LogBatch, Spec


class Telling:
    """Writes events, whole lines each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __call__(self, line: dict[str, Any]) -> None:
        data = json.dumps(line).encode() + b"\n"
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


class Process:
    """Everything that runs between a start and an end."""

    def __init__(self, spec: Spec, store: StateStore) -> None:
        self.tell = Telling()
        self.clock = Clock(spec.floor)
        self._spec = spec
        self._over = threading.Event()
        self._numbers = itertools.count()
        for number in range(len(spec.logs)):
            initialize_if_absent(store, SharePartitionKey(GROUP, TOPIC_ID, number), 0, 0)
        self.partitions = [Partition(spec, number, store, self.clock, self.tell) for number in range(len(spec.logs))]
        self.members: list[Member] = []
        for _ in range(spec.threads):
            self.join()
        for work in (self._look, self._time):
            threading.Thread(target=work, daemon=True).start()

    def join(self, name: str | None = None, *, accepts: bool = False) -> Member:
        """Have another member, or another thread of one."""
        number = next(self._numbers)
        seed = self._spec.seed + number
        member = Member(
            name or f"{self._spec.prefix}.{number}", self.partitions, self.clock, self.tell, seed,
            lock_ms=self._spec.lock_ms, accepts=accepts,
        )  # fmt: skip
        member.start()
        self.members.append(member)
        return member

    def leave(self, members: list[Member]) -> None:
        """Have members leave in order."""
        for member in members:
            member.leaving.set()
        for member in members:
            member.join()
            self.members.remove(member)

    def obey(self, command: dict[str, Any]) -> None:
        """Do what a line of standard input asks for."""
        what, number = command["do"], command.get("which", 0)
        if what == "produce":
            self.partitions[command["partition"]].append([LogBatch(*one) for one in command["batches"]])
        elif what == "retain":
            self.partitions[command["partition"]].retain(command["from"])
        elif what == "stall":
            self.members[number % len(self.members)].stalls.set()
        elif what == "leave":
            self.leave([self.members[number % len(self.members)]])
            self.join()
        elif what == "duplicate":
            self.join(self.members[number % len(self.members)].name)
        elif what == "step":
            # The engine has seen the latest time before the clock goes back.
            for partition in self.partitions:
                partition.state.handle_timeout(now_ms=self.clock.raw_ms())
            self.clock.step(command["milliseconds"])
        elif what == "stop":
            self.leave(list(self.members))
        elif what == "drain":
            self.leave(list(self.members))
            self.join(accepts=True)
            while not all(partition.is_settled() for partition in self.partitions):
                time.sleep(0.02)
            self.tell({"type": "drained", "t": self.clock.tick(), "group": GROUP})
            self.leave(list(self.members))
        self.tell({"type": "done"})

    def _look(self) -> None:
        while not self._over.wait(0.05):
            for partition in self.partitions:
                with contextlib.suppress(ShareStateError):
                    partition.look()

    def _time(self) -> None:
        """Let locks run out also where nobody calls."""
        while not self._over.wait(0.02):
            for partition in self.partitions:
                partition.state.handle_timeout(now_ms=self.clock.raw_ms())

    def end(self) -> None:
        """Look no more."""
        self._over.set()


@contextlib.contextmanager
def _process(spec: Spec) -> Iterator[Process]:
    with StateStore(spec.path, partitions=2, sync=spec.sync, sync_interval_ms=20, segment_bytes=spec.segment_bytes) as store:
        process = Process(spec, store)
        try:
            yield process
        finally:
            process.end()


def main() -> None:
    """Obey until the input ends."""
    # Refused writes of time-outs, once the disk is full.
    logging.disable()
    with _process(Spec.of(sys.stdin.readline())) as process:
        process.tell({"type": "started"})
        for line in sys.stdin:
            process.obey(json.loads(line))


if __name__ == "__main__":
    main()
