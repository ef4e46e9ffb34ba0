"""Readers of upstream partitions and the answers they take, without a cluster: `Readers` over a stand-in for it."""

from __future__ import annotations

import asyncio
import time

import pytest

from share_state.gateway.upstream.reader import PartitionReader, Source
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka import codes
from share_state.kafka.client.fetch import Answer
from share_state.kafka.client.offsets import EARLIEST, Found
from tests.gateway.topics.read_cluster import FIRST, OTHER, SECOND, Cluster, T, run
from tests.gateway.wire.batches import record_batch


def test_a_reader_is_of_a_partition_and_an_isolation_level(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        places: list[tuple[int, int, Topic]] = [(0, 0, T), (0, 1, T), (1, 0, T), (0, 0, OTHER)]
        readers = [cluster.reader(*place) for place in places]
        assert len(set(readers)) == 4
        assert [cluster.reader(*place) for place in places] == readers
        assert list(cluster.readers.all()) == readers
        assert [(one.topic, one.topic_id, one.partition, one.isolation) for one in readers[1:3]] == [
            ("t", T.topic_id, 0, 1),
            ("t", T.topic_id, 1, 0),
        ]
        # What was seen of the end, at either level.
        end_of = cluster.upstream.lives.end_of
        assert end_of(T.topic_id, 0) == -1
        # A wanted offset is no sign of an end.
        cluster.reader(offset=50)
        readers[1].high_watermark, readers[2].high_watermark = 7, 90
        assert end_of(T.topic_id, 0) == 7
        cluster.answer(readers[0], record_batch(5, 4))
        assert end_of(T.topic_id, 0) == 9
        assert end_of(OTHER.topic_id, 1) == -1

    run(test, monkeypatch)


def test_a_topic_is_forgotten_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        gone, stays = await cluster.at_home(), await cluster.at_home(topic=OTHER)
        lanes = cluster.lanes(gone)
        cluster.known.pop(T.topic_id)
        homeless = cluster.reader(1)
        await asyncio.sleep(0.01)
        assert homeless.lanes is None
        cluster.readers.forget(T.topic_id)
        assert list(cluster.readers.all()) == [stays]
        assert gone.lanes is None
        assert lanes.tails == [stays]
        # Nobody is looked for any more, also when a read ends that was in flight.
        await cluster.quiet()
        cluster.readers.lost(FIRST, [gone], None)
        cluster.answer(gone, error_code=3)
        assert gone.lanes is None
        await cluster.quiet()
        assert list(cluster.readers.all()) == [stays]

    run(test, monkeypatch)


def test_tails_and_what_lies_before_them_are_read_at_the_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(isolation=1, offset=9)
        lanes = cluster.lanes(reader)
        assert (lanes.node, lanes.isolation, reader.leader_epoch) == (FIRST, 1, 5)
        assert cluster.asked_for == []
        cluster.reader(isolation=1, offset=3)
        assert lanes.backs == [reader]
        # One that is without a home reads both once it has one.
        cluster.readers.lost(FIRST, [reader], None)
        assert (lanes.tails, lanes.backs) == ([], [])
        await cluster.quiet()
        assert (lanes.tails, lanes.backs) == ([reader], [reader])
        assert cluster.asked_for == [{"t"}]

    run(test, monkeypatch)


def test_a_topic_that_upstream_does_not_know_now_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        topic = cluster.known.pop(T.topic_id)
        reader = cluster.reader(1, offset=4)
        await asyncio.sleep(0.005)
        assert cluster.asked_for[:1] == [{"t"}]
        cluster.known[T.topic_id] = topic
        await cluster.quiet()
        assert cluster.lanes(reader).tails[-1:] == [reader]
        assert (reader.tail, reader.wants_tail) == (4, True)
        # One that is gone for good has no name.
        gone = Source("n" * 22, 0, 0)
        cluster.readers.want(*gone, 1, 0)
        assert cluster.readers.get(gone) is None

    run(test, monkeypatch)


def test_silence_in_a_session_is_news_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        silent, other = await cluster.at_home(offset=5), await cluster.at_home(1)
        read = cluster.rings.reads

        def answer(now: float) -> list[tuple[Source, int]]:
            monkeypatch.setattr(time, "monotonic", lambda: now)
            read.clear()
            cluster.answer(other, among={silent: 5})
            return [(source, read.asked) for source, _, read in read]

        said = (other.source, 0)
        assert answer(100.0) == [said, (silent.source, 5)]
        assert (silent.heard_at, silent.wanted, silent.tail) == (100.0, set(), 5)
        assert answer(100.9) == [said]
        assert answer(101.0) == [said, (silent.source, 5)]
        assert silent.heard_at == 101.0
        assert silent.lanes is not None

    run(test, monkeypatch)


def test_a_fetch_that_is_refused_as_a_whole_concerns_every_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        readers = [await cluster.at_home(number) for number in (0, 1)]
        cluster.readers.take(dict.fromkeys(readers, 0), Answer(0, 56, 0, [], b"ten bytes."))
        assert cluster.readers.counts.upstream_errors == {56: 1}
        assert cluster.readers.counts.upstream_bytes == 10
        assert all(one.lanes is None and one.failing_since is not None for one in readers)
        await cluster.quiet()
        assert all(cluster.lanes(one).node == FIRST for one in readers)

    run(test, monkeypatch)


def test_rows_name_topics_by_id_or_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        for end, topic in enumerate((T.topic_id, T.name, OTHER.name)):
            cluster.answer(reader, topic=topic, high_watermark=end)
        assert reader.high_watermark == 1

    run(test, monkeypatch)


def test_what_arrives_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        starts = cluster.rings.starts
        cluster.readers.lost(FIRST, [reader], None)
        await cluster.quiet()
        assert reader.failing_since
        cluster.answer(reader, record_batch(0, 5), high_watermark=5, log_start_offset=0)
        assert (reader.tail, reader.high_watermark, reader.log_start_offset) == (5, 5, 0)
        assert reader.heard_at
        assert [reader.failing_since] == [None]
        assert starts == [(reader.source, 0)]
        # The log start of a replica that lags is none.
        for start in (-1, 0, 3):
            cluster.answer(reader, log_start_offset=start)
        assert (reader.log_start_offset, starts[1:]) == (3, [(reader.source, 3)])
        cluster.answer(reader, record_batch(5, 1))
        assert reader.tail == 6
        # Reads that bring nothing count as well.
        assert [(source, read.asked) for source, _, read in cluster.rings.reads] == [
            (reader.source, at) for at in (0, 5, 5, 5, 5)
        ]

    run(test, monkeypatch)


def test_batches_that_cannot_be_read_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        cluster.answer(reader, b"no batch at all, and longer than a header of one would have to be.", high_watermark=5)
        assert reader.lanes is None
        assert reader.failing_since is not None
        assert (reader.tail, reader.high_watermark, reader.wanted) == (0, -1, {0})

    run(test, monkeypatch)


def test_a_follower_is_read_for_a_while_if_the_leader_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        leader = cluster.lanes(reader)
        cluster.answer(reader, preferred_read_replica=2)
        follower = cluster.lanes(reader)
        assert (follower.node, follower.tails, leader.tails) == (SECOND, [reader], [])
        # It says where it would be read itself; nobody asked it.
        cluster.answer(reader, preferred_read_replica=1, high_watermark=1)
        assert cluster.lanes(reader) is follower
        monkeypatch.setattr(reader, "preferred", (2, 0.0))
        cluster.answer(reader, high_watermark=2)
        assert cluster.lanes(reader) is leader
        assert reader.preferred is None
        # A follower that nobody knows is not waited for.
        cluster.answer(reader, preferred_read_replica=9)
        assert reader.lanes is None
        await cluster.quiet()
        assert cluster.lanes(reader) is leader

    run(test, monkeypatch)


def test_a_follower_that_refuses_an_offset_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        cluster.answer(reader, preferred_read_replica=2)
        cluster.answer(reader, error_code=codes.OFFSET_OUT_OF_RANGE)
        assert reader.preferred is None
        await cluster.quiet()
        assert cluster.lanes(reader).node == FIRST
        assert (cluster.cuts, cluster.rings.starts) == ([], [])

    run(test, monkeypatch)


def test_a_broker_that_says_who_leads_is_believed_if_that_is_news(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        cluster.answer(reader, error_code=6, current_leader=(2, 6))
        assert reader.lanes is None
        assert cluster.readers.counts.upstream_errors == {6: 1}
        await cluster.quiet()
        cluster.is_news = True
        partitions = (Partition(2, 6), *T.partitions[1:])
        cluster.known[T.topic_id] = Topic(T.name, T.topic_id, T.is_internal, partitions)
        cluster.answer(reader, error_code=6, current_leader=(2, 6))
        assert (cluster.lanes(reader).node, reader.leader_epoch) == (SECOND, 6)

    run(test, monkeypatch)


def test_a_log_that_has_diverged_is_cut_at_both_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        readers = [await cluster.at_home(isolation=level, offset=9) for level in (0, 1)]
        cluster.answer(readers[0], diverging_epoch=(4, 7), high_watermark=9)
        assert cluster.cuts == [(readers, 7)]
        assert cluster.readers.counts.truncations == 1
        assert [(one.tail, one.life) for one in readers] == [(-1, -1)] * 2
        assert cluster.rings.changed == [one.source for one in readers]

    run(test, monkeypatch)


async def _out_of_range(cluster: Cluster, asked: int, seen: int = -1) -> PartitionReader:
    reader = await cluster.at_home(offset=asked)
    reader.high_watermark = seen
    cluster.offsets = {EARLIEST: Found(0, 10), -1: Found(0, 20)}
    cluster.answer(reader, error_code=codes.OFFSET_OUT_OF_RANGE)
    await cluster.quiet()
    assert reader.lanes is not None
    return reader


@pytest.mark.parametrize(
    ("asked", "seen", "cut", "tail"),
    [
        (9, -1, None, -1),
        (10, -1, None, 10),
        (20, -1, None, 20),
        # A log that was seen to be longer was cut. One of which nobody knows that is read from its end on.
        (21, 21, 20, -1),
        (21, 30, 20, -1),
        (21, -1, None, 20),
        (21, 20, None, 20),
        (30, 25, None, 25),
    ],
)
def test_an_offset_out_of_range_lies_on_one_side_of_the_log(
    monkeypatch: pytest.MonkeyPatch, asked: int, seen: int, cut: int | None, tail: int
) -> None:
    start = asked == 9

    async def test(cluster: Cluster) -> None:
        reader = await _out_of_range(cluster, asked, seen)
        assert cluster.rings.starts == [(reader.source, 10)] * start
        assert reader.log_start_offset == (10 if start else -1)
        assert cluster.cuts == ([] if cut is None else [([reader], cut)])
        assert cluster.rings.changed == [reader.source] * (start or cut is not None)
        assert (reader.tail, reader.seen_end) == (tail, cut or max(seen, 20))

    run(test, monkeypatch)


def test_a_topic_that_was_created_again_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        cluster.shrunk = True
        reader = await _out_of_range(cluster, 21, 21)
        assert (cluster.cuts, reader.tail) == ([], 21)

    run(test, monkeypatch)
