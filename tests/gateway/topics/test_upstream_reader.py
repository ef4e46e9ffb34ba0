"""The reader of one upstream partition: what it wants to read and when, what it keeps, and what it gives out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

from share_state.errors import WireDecodeError
from share_state.gateway.counts import Counts
from share_state.gateway.upstream import reader as reader_module
from share_state.gateway.upstream.reader import PartitionReader
from tests.gateway.wire.batches import marker, record_batch

NOW = 1000.0


class Reads:
    """Stands for `Readers`: which reads were begun."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.begun: list[str] = []

    def read_tail(self, _: PartitionReader) -> None:
        self.begun.append("tail")

    def read_back(self, _: PartitionReader) -> None:
        self.begun.append("back")


def alone(isolation: int = 0, *, tail: int = -1, front: int = -1) -> tuple[PartitionReader, Reads]:
    """A reader that has a home."""
    reads = Reads()
    made = PartitionReader(cast("Any", reads), "t", "an id", 0, isolation)
    made.lanes = cast("Any", "a home")
    made.tail, made.front = tail, front
    return made, reads


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "time", SimpleNamespace(monotonic=lambda: NOW))


def test_a_reader_that_is_new_knows_nothing() -> None:
    made = PartitionReader(cast("Any", None), "t", "an id", 3, 1)
    names = [name for name in made.__slots__ if name not in {"_readers", "ring", "appended"}]
    assert {name: getattr(made, name) for name in names} == {
        "back_reads": set(),
        "failing_since": None,
        "fed_at": 0.0,
        "front": -1,
        "heard_at": None,
        "high_watermark": -1,
        "interest": 0.0,
        "is_reading_tail": False,
        "is_suspect": False,
        "isolation": 1,
        "lanes": None,
        "leader_epoch": -1,
        "life": 0,
        "log_start_offset": -1,
        "partition": 3,
        "preferred": None,
        "seen_at": 0.0,
        "served": set(),
        "tail": -1,
        "topic": "t",
        "topic_id": "an id",
    }
    assert (made.last_fetched_epoch, made.wants_tail, made.has_from(0, 100)) == (-1, False, 0)


def test_what_is_expected_is_read_at_the_end_or_before_it() -> None:
    made, reads = alone()
    made.expect(5)
    assert (made.interest, made.tail, made.front, reads.begun) == (NOW, 5, 5, ["tail"])
    # The same again, while nobody reads.
    made.expect(5)
    assert (made.tail, reads.begun) == (5, ["tail"] * 2)
    made.is_reading_tail = True
    made.expect(5)
    made.expect(9)
    assert (made.tail, made.front, reads.begun) == (5, 9, ["tail"] * 2)
    made.is_reading_tail = False
    made.expect(8)
    assert (made.tail, made.front, reads.begun) == (8, 9, ["tail"] * 3)
    assert (made.back_reads, reads.counts.back_reads) == (set(), 0)
    for offset in (7, 4, 7, 0):
        made.expect(offset)
    assert (made.back_reads, reads.begun[3:], reads.counts.back_reads) == ({7, 4, 0}, ["back"] * 3, 3)
    assert (made.tail, made.front) == (8, 9)


@pytest.mark.parametrize(
    ("seen", "tail", "wanted", "reads_at"), [(-1, -1, 12, 12), (10, -1, 12, 10), (10, 4, 12, 10), (10, 4, 8, 8), (10, 10, 12, 10)]
)
def test_nothing_is_read_beyond_an_end_that_was_seen(seen: int, tail: int, wanted: int, reads_at: int) -> None:
    made, reads = alone(tail=tail)
    made.high_watermark = seen
    made.expect(wanted)
    assert (made.tail, made.front, reads.begun) == (reads_at, wanted, ["tail"])
    assert made.seen_end == seen


def test_the_end_is_read_while_somebody_cares(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = alone(tail=0)

    def wants(**changes: Any) -> bool:
        with monkeypatch.context() as changed:
            for name, value in {"interest": NOW, **changes}.items():
                changed.setattr(made, name, value)
            return made.wants_tail

    assert wants()
    assert wants(interest=NOW - 5.0)
    assert not wants(interest=NOW - 5.01)
    assert not wants(is_reading_tail=True)
    assert not wants(lanes=None)
    assert not wants(tail=-1)
    made.interest = NOW
    asked: list[tuple[int, int]] = []
    there = 0

    def bytes_from(offset: int, limit: int) -> int:
        asked.append((offset, limit))
        return there

    monkeypatch.setattr(made, "ring", SimpleNamespace(bytes_from=bytes_from))
    made.tail, made.front = 7, 7
    there = 1 << 30
    # Everything was given out.
    assert made.wants_tail
    made.front = 6
    # What the ring does not hold is read further back, and nothing ahead of it.
    for there in (0, 1, 2_097_151, 2_097_152):
        assert made.wants_tail == (0 < there < 2_097_152)
    assert asked == [(6, 2_097_152)] * 4


def test_the_ring_says_what_may_be_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = alone(tail=0)
    first, second = record_batch(0, 5, size=100), record_batch(5, 5, size=100)
    assert made.take(0, first + second, 0, len(first + second), None)
    made.seen_at = NOW - 0.5
    assert [made.is_stale(offset) for offset in (0, 9, 10)] == [True, True, False]
    for now, seen_at, is_stale in ((0.2, 0.0, False), (0.201, 0.0, True), (0.5, 0.4, False)):
        monkeypatch.setattr(reader_module, "time", SimpleNamespace(monotonic=lambda now=now: now))
        made.seen_at = seen_at
        assert made.is_stale(0) is is_stale
    assert made.has_from(0, 1 << 20) == len(first + second)
    assert made.has_from(5, 1 << 20) == len(second)
    assert made.has_from(10, 1 << 20) == 0
    # Not what lies after a gap either.
    far = record_batch(50, 5)
    made.take(50, far, 0, len(far), None)
    assert [made.has_from(offset, 1 << 20) for offset in (20, 50)] == [0, len(far)]
    made, _ = alone(tail=0)
    made.take(0, first, 0, len(first), None)
    assert made.last_fetched_epoch == 3
    made.tail = 11
    assert made.last_fetched_epoch == -1


def test_batches_are_kept_where_they_are_new() -> None:
    made, _ = alone(tail=0)
    batch = record_batch(0, 5)
    data = b"head" + batch + b"cut off"
    assert made.take(0, data, 4, len(data), None) is True
    assert made.tail == 5
    assert made.appended.of(0) == 1000
    # Nothing there is no error; the same once more is nothing new.
    assert made.take(5, b"", 0, 0, None) is False
    assert made.take(0, batch, 0, len(batch), None) is False
    assert made.tail == 5
    # What lies elsewhere does not move the tail.
    far = record_batch(50, 5)
    assert made.take(50, far, 0, len(far), None) is True
    assert made.tail == 5
    with pytest.raises(WireDecodeError) as refused:
        made.take(5, b"##" + record_batch(5, 5)[:-1], 2, 2 + len(record_batch(5, 5)) - 1, None)
    assert str(refused.value).startswith("no whole batch from offset 5 on")
    assert (refused.value.position, refused.value.kind) == (2, "batches")
    made.restart()
    made.restart()
    assert (made.tail, made.front, made.life, made.ring.nbytes, made.appended.of(0)) == (-1, -1, 2, 0, None)


@pytest.mark.parametrize(
    ("isolation", "aborted", "told"),
    [(0, None, None), (0, [(7, 0)], None), (1, None, []), (1, [(7, 0)], [(7, 0)])],
)
def test_transactions_are_judged_at_the_level_that_looks_at_them(
    isolation: int, aborted: list[tuple[int, int]] | None, told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = alone(isolation, tail=0)
    given: list[Any] = []

    def append(*place: Any, aborted: Any) -> tuple[int, int]:
        given.append((*place, aborted))
        return 6, 60

    evicted: list[int] = []
    ring = SimpleNamespace(append=append, evict=evicted.append)
    monkeypatch.setattr(made, "ring", ring)
    data = record_batch(0, 5, producer_id=7) + marker(5, 7, commit=False)
    assert made.take(0, data, 0, len(data), aborted)
    assert given == [(0, data, 0, len(data), told)]
    assert (made.tail, evicted) == (6, [8_388_608])
    # One read that is larger is kept.
    for kept in (8_388_609, 0):
        monkeypatch.setattr(ring, "append", lambda *_, kept=kept, **__: (6, kept))
        assert made.take(6, data, 0, len(data) if kept else 0, aborted) is bool(kept)
    assert evicted[1:] == [8_388_609, 8_388_608]


class Given(NamedTuple):
    """Records that a ring gives."""

    ranges: list[tuple[int, int, int]]
    fetch_offset: int = 0


class Engine(NamedTuple):
    """A share partition that wants records from one offset after the other."""

    offsets: list[int]
    can: bool = True

    def can_acquire(self) -> bool:
        return self.can

    def next_fetch_offset(self) -> int:
        return self.offsets[0] if len(self.offsets) == 1 else self.offsets.pop(0)


LIMITS: dict[str, int] = {"now_ms": 1, "max_records": 2, "batch_size": 3, "mode": 4, "max_bytes": 5}


@pytest.mark.parametrize(
    ("gives", "wants", "result", "seen"),
    [
        # Given out, and read on where the ring ends.
        ([Given([(3, 4, 1), (5, 5, 2), (7, 9, 1)])], Engine([0]), 0, (10, ["tail"])),
        # Not there: it is read, at the tail or before it.
        ([None], Engine([12]), None, (12, ["tail"])),
        ([None], Engine([6]), None, (6, ["back"])),
        # Nothing for members there: what follows is looked at, if there is anything.
        ([Given([], 4), Given([(8, 8, 1)])], Engine([5]), 1, (9, ["tail"])),
        ([Given([], 4), None], Engine([5, 12]), None, (12, ["tail"])),
        ([Given([], 4)], Engine([4]), None, (1, [])),
        ([Given([], 4)], Engine([3]), None, (1, [])),
        ([Given([], 4)], Engine([5], can=False), None, (1, [])),
    ],
)
def test_records_are_given_out_of_the_ring_or_read(
    gives: list[Given | None],
    wants: Engine,
    result: int | None,
    seen: tuple[int, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, reads = alone(tail=10, front=1)
    left, engine = list(gives), wants._replace(offsets=list(wants.offsets))

    def deliver(*whom: Any, **limits: int) -> Given | None:
        assert (whom, limits) == ((engine, "m"), LIMITS)
        return left.pop(0)

    monkeypatch.setattr(made, "ring", SimpleNamespace(deliver=deliver, bytes_from=lambda *_: 1))
    found = made.deliver(cast("Any", engine), "m", **LIMITS)
    assert cast("Any", found) is (None if result is None else gives[result])
    assert (left, made.interest) == ([], NOW)
    assert (made.front, reads.begun) == seen


def test_a_group_far_from_the_front_does_not_move_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made, reads = alone(tail=10, front=9)
    ring = SimpleNamespace(deliver=lambda *_, **__: Given([(0, 1, 1)]), bytes_from=lambda *_: 1 << 30)
    monkeypatch.setattr(made, "ring", ring)
    assert made.deliver(cast("Any", Engine([0])), "m", **LIMITS) is not None
    # There is enough in front of it.
    assert (made.front, reads.begun) == (9, [])
