"""A run of the engine: threads on a durable store, a log that grows, and faults, through many starts of the process."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from tests.proof.histories.engine.spec import LogBatch, Spec
from tests.proof.histories.engine.starts import Start
from tests.proof.histories.producing import without_records
from tests.proof.histories.system import Fault, Line, Order, Played

_PARTITIONS: Final = 2
#: Chance that a turn brings a fault.
_FAULTY: Final = 0.25


class Run:
    """The process of the moment, and what all of them have in common."""

    def __init__(self, order: Order) -> None:
        self.rng = order.rng
        self.lines: list[Line] = []
        self.faults: Counter[str] = Counter()
        self.spec = Spec(
            path=str(order.directory / "state"),
            seed=0,
            lock_ms=self.rng.choice((300, 1000, 2000)),
            delivery_limit=5,
            window=self.rng.choice((100, 500, 2000)),
            sync=self.rng.choice(("always", "interval", "never")),
            segment_bytes=self.rng.choice((65_536, 1 << 20)),
            leader_epoch=0,
            prefix="",
            threads=self.rng.randint(3, 6),
            read_committed=self.rng.random() < 0.5,
            floor=time.monotonic_ns(),
            logs=[[] for _ in range(_PARTITIONS)],
            log_starts=[0] * _PARTITIONS,
        )
        self.at_work = self._start()

    def _start(self) -> Start:
        epoch = self.spec.leader_epoch + 1
        self.spec = dataclasses.replace(self.spec, leader_epoch=epoch, prefix=f"m{epoch}", seed=self.rng.randrange(1 << 30))
        return Start(self.spec)

    def again(self, end: Callable[[Start], int], resets: Mapping[int, int] | None = None) -> None:
        """End the process and start another one."""
        self.ended(end)
        self.spec.resets = dict(resets or {})
        self.at_work = self._start()
        self.spec.resets = {}

    def ended(self, end: Callable[[Start], int]) -> None:
        """End the process, and keep what it has told."""
        self.spec.floor = end(self.at_work)
        self.lines += self.at_work.lines

    def end_offset(self, partition: int) -> int:
        """Offset of the next record."""
        log = self.spec.logs[partition]
        return log[-1].last + 1 if log else 0

    def produce(self) -> None:
        """Append a burst to a partition: plain batches, or a transaction with its marker."""
        partition = self.rng.randrange(_PARTITIONS)
        at = self.end_offset(partition)
        in_transaction, aborted = self.rng.random() < 0.3, self.rng.random() < 0.5
        # A producer of its own for each transaction: what was aborted is told by it.
        producer = len(self.spec.logs[partition]) if in_transaction else -1
        batches = []
        for _ in range(self.rng.randint(1, 4)):
            count = self.rng.choice((1, 5, 20, 60))
            batches.append(LogBatch(at, at + count - 1, producer, None, in_transaction and aborted))
            at += count
        if in_transaction:
            batches.append(LogBatch(at, at, producer, "ABORT" if aborted else "COMMIT", aborted))
            self.faults["abort" if aborted else "commit"] += 1
        self.at_work.tell("produce", partition=partition, batches=batches)
        self.spec.logs[partition] += batches

    def which(self) -> int:
        """Any thread."""
        return self.rng.randrange(1 << 16)


def _freeze(run: Run) -> None:
    run.at_work.pause()
    time.sleep(run.rng.uniform(0.1, 1.5) * run.spec.lock_ms / 1000)
    run.at_work.resume()


def _retain(run: Run) -> None:
    partition = run.rng.randrange(_PARTITIONS)
    end = run.end_offset(partition)
    start = run.rng.randint(max(run.spec.log_starts[partition], end - 300, 0), end)
    run.at_work.tell("retain", partition=partition, **{"from": start})
    run.spec.log_starts[partition] = start


def _reset(run: Run) -> None:
    partition = run.rng.randrange(_PARTITIONS)
    to = run.rng.randint(run.spec.log_starts[partition], run.end_offset(partition))
    run.again(Start.stop, {partition: to})


def _full(run: Run) -> None:
    run.at_work.room(run.rng.randint(0, 2000))
    time.sleep(run.rng.uniform(0.1, 0.5))
    run.again(Start.kill)


def _step(run: Run) -> None:
    most = 3 * run.spec.lock_ms
    run.at_work.tell("step", milliseconds=run.rng.randint(-most, most))


def _of_a_thread(what: str) -> Callable[[Run], None]:
    return lambda run: run.at_work.tell(what, which=run.which())


FAULTS: Final[Mapping[str, Fault[Run]]] = {
    "kill": Fault("SIGKILL of the process, which starts again on its directory", lambda run: run.again(Start.kill)),
    "restart": Fault("the process ends in order, and starts again", lambda run: run.again(Start.stop)),
    "freeze": Fault("SIGSTOP of the process for a part of the lock's duration, or longer", _freeze),
    "stall": Fault("a thread sits on its records for longer than their locks hold", _of_a_thread("stall")),
    "leave": Fault("a member leaves and gives back what it holds; another one joins", _of_a_thread("leave")),
    "duplicate": Fault("another thread with the member id of one that is there", _of_a_thread("duplicate")),
    "retain": Fault("the log start moves", _retain),
    "reset": Fault("the state begins again at another offset, with the next state epoch", _reset),
    "full": Fault("no room on the disk, beyond any byte of the next writes; then SIGKILL, and a start with room", _full),
    "step": Fault("the process's clock steps, forward or back", _step),
}


def play(order: Order) -> Played:
    """Play one run of the engine."""
    run = Run(order)
    until = time.monotonic() + order.seconds
    waiting: list[str] = []
    # However slow the machine is: each fault strikes.
    while time.monotonic() < until or not all(run.faults[fault] for fault in order.faults):
        run.produce()
        time.sleep(run.rng.uniform(0, 0.1))
        if order.faults and run.rng.random() < _FAULTY:
            # Each fault strikes once before any strikes again.
            waiting = waiting or list(order.faults)
            fault = waiting.pop(run.rng.randrange(len(waiting)))
            FAULTS[fault].strike(run)
            run.faults[fault] += 1
    run.at_work.tell("drain")
    run.ended(Start.stop)
    members = {line["member"] for line in run.lines if "member" in line}
    besides = without_records(run.lines, _none(run))
    return Played(run.lines, run.faults, len(members), besides)


def _none(run: Run) -> dict[int, list[tuple[int, int]]]:
    """The offsets of each partition that nobody may be given."""
    if not run.spec.read_committed:
        return {}
    return {
        number: [(batch.first, batch.last) for batch in log if batch.aborted and batch.control is None]
        for number, log in enumerate(run.spec.logs)
    }
