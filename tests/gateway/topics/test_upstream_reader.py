"""The reader of one upstream partition: which reads it begins for a ring, and what becomes of their answers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.errors import WireDecodeError
from share_state.gateway.counts import Counts
from share_state.gateway.upstream import reader as reader_module
from share_state.gateway.upstream.reader import PartitionReader, Read, Ring, Source
from tests.gateway.topics.rings import Rings
from tests.gateway.wire.batches import record_batch

NOW = 1000.0
#: A life of a ring.
LIFE = 4


class Reads:
    """Stands for `Readers`: which reads were begun."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.rings = Rings()
        self.begun: list[str] = []

    def read_tail(self, _: PartitionReader) -> None:
        self.begun.append("tail")

    def read_back(self, _: PartitionReader) -> None:
        self.begun.append("back")


def alone(isolation: int = 0, *, tail: int = -1) -> tuple[PartitionReader, Reads]:
    """A reader that has a home, and has read for a ring up to an offset."""
    reads = Reads()
    made = PartitionReader(cast("Any", reads), reads.rings, "t", Source("an id", 0, isolation))
    made.lanes = cast("Any", "a home")
    made.tail = tail
    made.life = LIFE
    return made, reads


def read(asked: int, *batches: bytes) -> Read:
    """An answer with batches."""
    data = b"head" + b"".join(batches)
    return Read(asked, data, 4, len(data), None)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "time", SimpleNamespace(monotonic=lambda: NOW))


def test_a_reader_that_is_new_knows_nothing() -> None:
    made = PartitionReader(cast("Any", None), Rings(), "t", Source("an id", 3, 1))
    names = [name for name in made.__slots__ if name not in {"_readers", "_rings", "appended"}]
    assert {name: getattr(made, name) for name in names} == {
        "failing_since": None,
        "fed_at": 0.0,
        "heard_at": None,
        "high_watermark": -1,
        "is_reading_tail": False,
        "is_suspect": False,
        "isolation": 1,
        "lanes": None,
        "leader_epoch": -1,
        "life": -1,
        "log_start_offset": -1,
        "partition": 3,
        "preferred": None,
        "tail": -1,
        "topic": "t",
        "topic_id": "an id",
        "wanted": set(),
    }
    assert (made.source, made.back_reads) == (("an id", 3, 1), set())
    assert (made.last_fetched_epoch, made.seen_end, made.wants_tail) == (-1, -1, False)


def test_what_is_wanted_is_read_at_the_end_or_before_it() -> None:
    made, reads = alone()
    made.want(LIFE, 5)
    assert (made.tail, reads.begun) == (5, ["tail"])
    # Not while it is read, nor before what is wanted there has come.
    for made.is_reading_tail, offset in ((True, 9), (False, 8), (False, 5)):
        made.want(LIFE, offset)
        assert made.tail == 5
    assert reads.begun == ["tail"] * 3
    made.wanted.discard(5)
    made.want(LIFE, 10)
    assert (made.tail, reads.begun[3:]) == (10, ["back", "tail"])
    # Two have come to lie before the tail.
    assert (made.back_reads, reads.counts.back_reads) == ({9, 8}, 2)
    for offset in (7, 4, 0):
        made.want(LIFE, offset)
    assert (made.back_reads, reads.begun[5:], reads.counts.back_reads) == ({9, 8, 7, 4, 0}, ["back"] * 3, 5)
    assert (made.tail, reads.rings.starts) == (10, [])


@pytest.mark.parametrize(
    ("seen", "tail", "wanted", "reads_at"),
    # A broker that lags may say that the log ends before the tail.
    [(-1, -1, 12, 12), (0, -1, 12, 0), (10, -1, 12, 10), (10, 4, 12, 10), (10, 4, 8, 8), (10, 10, 12, 10), (4, 10, 12, 10)],
)
def test_nothing_is_read_beyond_an_end_that_was_seen(seen: int, tail: int, wanted: int, reads_at: int) -> None:
    made, reads = alone(tail=tail)
    made.high_watermark = seen
    made.want(LIFE, wanted)
    assert (made.tail, reads.begun, reads.counts.back_reads) == (reads_at, ["tail"], 0)
    assert made.seen_end == seen
    # There is nothing to wait for but the end.
    assert made.wants_tail


def test_the_end_is_read_as_long_as_it_is_wanted() -> None:
    made, _ = alone(tail=7)
    assert not made.wants_tail
    made.wanted = {6}
    assert not made.wants_tail
    for wanted in (7, 8):
        made.wanted = {6, wanted}
        assert made.wants_tail
    for name, value in {"is_reading_tail": True, "lanes": None, "tail": -1}.items():
        before = getattr(made, name)
        setattr(made, name, value)
        assert not made.wants_tail
        setattr(made, name, before)
    assert made.wants_tail


def test_reads_for_another_life_begin_anew() -> None:
    made, reads = alone(tail=20)
    made.wanted, made.high_watermark = {20, 3}, 30
    made.appended.see(record_batch(0, 5), 0, len(record_batch(0, 5)))
    made.is_reading_tail = True
    made.want(LIFE + 1, 10)
    assert (made.life, made.tail, made.wanted, made.back_reads) == (LIFE + 1, 10, {10}, set())
    assert made.appended.of(0) is None
    # The end is read once the read for the life before has ended.
    assert reads.begun == []
    made.is_reading_tail = False
    assert made.wants_tail


@pytest.mark.parametrize(("start", "told"), [(-1, []), (0, []), (7, [7])])
def test_a_ring_that_is_new_is_told_where_its_log_starts(start: int, told: list[int]) -> None:
    made, reads = alone()
    made.log_start_offset = start
    made.want(LIFE, 10)
    assert reads.rings.starts == []
    made.want(LIFE + 1, 10)
    made.want(LIFE + 1, 11)
    assert reads.rings.starts == [(made.source, offset) for offset in told]


def test_batches_move_the_tail_that_was_asked_for() -> None:
    made, reads = alone(tail=0)
    made.wanted = {0, 3, 5, 60}
    made.high_watermark = 5
    whole = read(0, record_batch(0, 5), b"cut off")
    made.take(whole)
    assert reads.rings.reads == [(made.source, LIFE, whole)]
    assert (made.tail, made.wanted, made.fed_at) == (5, {5, 60}, NOW)
    assert (made.appended.of(0), made.last_fetched_epoch, made.seen_end) == (1000, 3, 5)
    # Nothing there is no error, and neither is what came before.
    made.fed_at = 0.0
    made.take(read(5))
    made.take(read(0, record_batch(0, 5)))
    assert (made.tail, made.wanted, made.fed_at) == (5, {60}, 0.0)
    # What lies elsewhere does not move the tail.
    made.take(read(60, record_batch(60, 5)))
    assert (made.tail, made.wanted, made.fed_at) == (5, set(), NOW)
    # The last batch of the ring is not the one before the tail.
    assert (made.last_fetched_epoch, made.seen_end) == (-1, 65)


def test_the_tail_goes_on_where_the_fastest_group_is_and_the_others_read_back() -> None:
    made, reads = alone(tail=12)
    made.is_reading_tail = True
    for offset in (12, 20, 15, 13):
        made.want(LIFE, offset)
    made.high_watermark = 100
    made.take(read(12, record_batch(12, 1)))
    assert (made.tail, made.back_reads, reads.begun, reads.counts.back_reads) == (20, {13, 15}, ["back"], 2)
    made.take(read(15, record_batch(15, 1)))
    assert (made.tail, made.wanted) == (20, {20, 13})


def test_batches_that_cannot_be_read_are_wanted_still() -> None:
    made, reads = alone(tail=5)
    made.wanted = {5, 2}
    for asked in (5, 2):
        with pytest.raises(WireDecodeError):
            made.take(read(asked, record_batch(asked, 5)[:-1]))
    assert (made.tail, made.wanted, made.fed_at) == (5, {5, 2}, 0.0)
    assert reads.rings.ends == {}


def test_a_ring_that_has_begun_again_has_nothing_read_for_it() -> None:
    made, reads = alone(tail=5)
    made.wanted = {5, 2}
    reads.rings.lives[made.source] = LIFE + 1
    made.take(read(5, record_batch(5, 5)))
    assert (made.life, made.tail, made.wanted, made.fed_at) == (-1, -1, set(), 0.0)
    assert (made.appended.of(5), reads.rings.changed) == (None, [])


def test_another_log_is_told_to_the_ring() -> None:
    made, reads = alone(tail=0)
    made.take(read(0, record_batch(0, 5)))
    made.wanted = {5}
    made.restart()
    assert reads.rings.changed == [made.source]
    assert (made.life, made.tail, made.wanted, made.appended.of(0)) == (-1, -1, set(), None)
    assert (made.last_fetched_epoch, made.seen_end) == (-1, -1)


def test_an_answer_is_handed_in_as_it_came() -> None:
    made, reads = alone(0, tail=0)
    came = read(0)._replace(aborted=[(7, 0)])
    made.take(came)
    assert reads.rings.reads == [(("an id", 0, 0), LIFE, came)]


@pytest.mark.parametrize(("end", "epoch"), [(9, -1), (10, 6), (11, -1)])
def test_the_epoch_before_the_tail_is_that_of_the_last_batch(end: int, epoch: int) -> None:
    made, reads = alone(tail=10)
    reads.rings.ends[made.source] = Ring(end, 6)
    assert made.last_fetched_epoch == epoch
