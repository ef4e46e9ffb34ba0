"""Topics in memory that take records, and a power switch that cuts a run off at any step of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from share_state.errors import UnknownPartitionError
from share_state.operate.dead_letters import (
    Execution,
    Identity,
    Interval,
    Journal,
    Outcome,
    Pace,
    Redrive,
    RedriveRow,
    Sender,
    Sent,
    resolve,
)
from share_state.operate.dead_letters.sending import Answers, Outgoing
from share_state.operate.dead_letters.topic_log import Bounds, Record
from share_state.operate.payloads import Missing, Payload, Reason

IDENTITY = Identity("cluster-1", "workers", "retry")
#: Code that is about the record itself.
TOO_LARGE = 10
BORN = 1_700_000_000_000


#: By the key of a record: the error that it is answered with, and whether it was written all the same; None: it goes well.
Fails = Callable[[bytes | None], tuple[int, bool] | None]


class PowerCutError(BaseException):
    """The process is dead: nothing of it has any effect from here on."""


class Power:
    """Counts steps, and cuts the power at one of them."""

    def __init__(self, cut_at: int | None = None) -> None:
        self.steps = 0
        self.cut_at = cut_at
        self.off = False

    def step(self) -> None:
        if self.off or self.steps == self.cut_at:
            self.off = True
            raise PowerCutError
        self.steps += 1


class Topics:
    """The records of topics, by partition; offsets count from ``starts``."""

    def __init__(
        self, records: Mapping[str, Sequence[Sequence[Payload | None]]], starts: Mapping[str, int] | None = None
    ) -> None:
        self.logs = {topic: [list(partition) for partition in partitions] for topic, partitions in records.items()}
        self.starts = dict(starts or {})

    def partitions(self, topic: str) -> list[int] | None:
        return list(range(len(self.logs[topic]))) if topic in self.logs else None

    def bounds(self, topic: str, partition: int) -> Bounds:
        return Bounds(self.starts.get(topic, 0), len(self.logs[topic][partition]))

    def records(self, topic: str, partition: int, bounds: Bounds) -> Iterator[Record]:
        for offset in range(*bounds):
            found = self.logs[topic][partition][offset]
            if found is not None:
                yield Record(partition, offset, found.timestamp_ms or 0, list(found.headers), found.value is not None)

    def read(self, topic: str, partition: int, offsets: Sequence[int]) -> Iterator[Payload | Missing]:
        if topic not in self.logs:
            raise UnknownPartitionError(f"topic {topic} is not in the cluster", field="topic", value=topic)
        for offset in offsets:
            yield self.logs[topic][partition][offset] or Missing(topic, partition, offset, Reason.NOT_THERE)

    def sent(self) -> list[Payload]:
        """Everything in the target."""
        return [one for log in self.logs["retry"] for one in log if one is not None]


class FakeTarget:
    """Appends to topics, a record at a time; ``fails`` gives some of them an error. After one in doubt it takes no more."""

    def __init__(self, topics: Topics, power: Power, fails: Fails | None = None) -> None:
        self.topics = topics
        self.power = power
        self.fails = fails or (lambda _: None)

    def send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        for one in batch:
            self.power.step()
            answers.in_doubt[one.place] = ""
            partition = one.partition or 0
            code, written = self.fails(one.payload.key) or (None, True)
            log = self.topics.logs[one.topic][partition]
            self.power.step()
            if written:
                log.append(one.payload._replace(topic=one.topic, partition=partition, offset=len(log), headers=one.headers))
            # It is in the target, and nobody has heard of that.
            self.power.step()
            if code is not None and code != TOO_LARGE:
                answers.in_doubt[one.place] = f"code {code}"
                return
            del answers.in_doubt[one.place]
            if code is None:
                answers.sent[one.place] = Sent(one.place, one.topic, partition, len(log) - 1)
            else:
                answers.refused[one.place] = f"code {code}"


def sources(count: int) -> Topics:
    """A source with records in two partitions, and an empty target."""
    partitions = [[payload(partition, offset) for offset in range(count)] for partition in (0, 1)]
    return Topics({"orders": partitions, "retry": [[]]})


def payload(partition: int, offset: int) -> Payload:
    key, value = b"key %d-%d" % (partition, offset), None if offset == 1 else b"value %d-%d" % (partition, offset)
    return Payload("orders", partition, offset, BORN + offset, key, value, (("h", b"%d" % offset), ("h", None)))


def intervals(count: int) -> list[Interval]:
    """All records of the source."""
    return [Interval("orders", partition, 0, count - 1) for partition in (0, 1)]


def redriven(
    path: Path,
    topics: Topics,
    asked: Sequence[Interval],
    target: FakeTarget,
    *,
    identity: Identity = IDENTITY,
    pace: Pace | None = None,
    limit: int | None = None,
    rows: list[RedriveRow] | None = None,
) -> list[RedriveRow]:
    """Rows of a run, as the command does it, from opening the journal on; in ``rows`` those before an error too."""
    rows = [] if rows is None else rows
    with Journal(path, identity, lambda: BORN) as journal:
        resolve(journal, topics)
        execution = Execution(journal, Sender(target, pace or Pace(None)))
        run = Redrive(topics, topics, target=identity.target, state=journal.state, execution=execution, limit=limit)
        for row in run.rows(asked):
            rows.append(row)
    return rows


def outcomes(rows: Sequence[RedriveRow]) -> dict[Outcome, int]:
    """Number of records with each outcome."""
    found: dict[Outcome, int] = {}
    for row in rows:
        found[row.outcome] = found.get(row.outcome, 0) + row.last_offset - row.first_offset + 1
    return found


def power_the_disk(monkeypatch: pytest.MonkeyPatch, power: Power, *, keeps_unsynced: bool) -> None:
    """Let every write and sync of a journal be a step. A write that is cut off leaves half a line.

    What is not synced is there after the cut or not, as ``keeps_unsynced`` says.
    """
    write, ftruncate = os.write, os.ftruncate
    synced: dict[int, int] = {}

    def written(file: int, data: bytes) -> int:
        synced[file] = os.fstat(file).st_size
        try:
            power.step()
        except PowerCutError:
            if power.steps == power.cut_at and keeps_unsynced:
                write(file, bytes(data)[: len(data) // 2])
            # Only the first time: a dead process writes nothing.
            power.cut_at = -1
            raise
        return write(file, data)

    def synced_now(file: int) -> None:
        try:
            power.step()
        except PowerCutError:
            if not keeps_unsynced and file in synced:
                ftruncate(file, synced[file])
            synced.clear()
            raise

    def cut(file: int, length: int) -> None:
        power.step()
        ftruncate(file, length)

    monkeypatch.setattr("share_state.operate.dead_letters.journal.os.write", written)
    monkeypatch.setattr("share_state.operate.dead_letters.journal.os.fsync", synced_now)
    monkeypatch.setattr("share_state.operate.dead_letters.journal.os.ftruncate", cut)
