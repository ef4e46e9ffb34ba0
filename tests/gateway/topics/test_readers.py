"""Readers of upstream partitions and the answers they take, without a cluster: `Readers` over a stand-in for it."""

from __future__ import annotations

import asyncio

import pytest

from share_state.gateway.upstream import readers as module
from share_state.gateway.upstream.reader import PartitionReader
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka import codes
from share_state.kafka.client.fetch import Answer
from share_state.kafka.client.offsets import EARLIEST, Found
from share_state.kafka.client.peers import LostError
from tests.gateway.topics.read_cluster import FIRST, OTHER, SECOND, Cluster, T, run
from tests.gateway.wire.batches import record_batch


def test_a_reader_is_of_a_partition_and_an_isolation_level(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        places = [(T, 0, 0), (T, 0, 1), (T, 1, 0), (OTHER, 0, 0)]
        readers = [cluster.readers.reader(*place) for place in places]
        assert len(set(readers)) == 4
        assert [cluster.readers.reader(*place) for place in places] == readers
        assert list(cluster.readers.all()) == readers
        assert [(one.topic, one.topic_id, one.partition, one.isolation) for one in readers[1:3]] == [
            ("t", T.topic_id, 0, 1),
            ("t", T.topic_id, 1, 0),
        ]
        # What was seen of the end, at either level.
        end_of = cluster.upstream.lives.end_of
        assert end_of(T.topic_id, 0) == -1
        # A wanted offset is no sign of an end.
        readers[0].tail, readers[1].high_watermark, readers[2].high_watermark = 50, 7, 90
        assert end_of(T.topic_id, 0) == 7
        data = record_batch(5, 4)
        readers[0].take(5, data, 0, len(data), None)
        assert end_of(T.topic_id, 0) == 9
        assert end_of(OTHER.topic_id, 1) == -1

    run(test, monkeypatch)


def test_a_topic_is_forgotten_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        gone, stays = await cluster.at_home(), await cluster.at_home(topic=OTHER)
        lanes = cluster.lanes(gone)
        homeless = cluster.readers.reader(T, 1, 0)
        cluster.known.pop(T.topic_id)
        cluster.readers.read_tail(homeless)
        await asyncio.sleep(0.01)
        assert homeless.lanes is None
        cluster.readers.forget(T.topic_id)
        assert list(cluster.readers.all()) == [stays]
        assert gone.lanes is None
        assert lanes.tails == [stays]
        # Nobody is looked for any more.
        await cluster.quiet()

    run(test, monkeypatch)


def test_tails_and_what_lies_before_them_are_read_at_the_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(isolation=1)
        lanes = cluster.lanes(reader)
        assert (lanes.node, lanes.isolation, reader.leader_epoch) == (FIRST, 1, 5)
        assert cluster.asked_for == []
        cluster.readers.read_back(reader)
        assert lanes.backs == [reader]
        # One that is without a home reads both once it has one.
        cluster.readers.lost(FIRST, [reader], None)
        assert (lanes.tails, lanes.backs) == ([], [])
        reader.back_reads.add(3)
        await cluster.quiet()
        assert (lanes.tails, lanes.backs) == ([reader], [reader])
        assert cluster.asked_for == [{"t"}]

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
        assert cluster.arrived == [reader, reader]

    run(test, monkeypatch)


def test_what_arrives_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        reader.tail = 0
        cluster.readers.lost(FIRST, [reader], None)
        await cluster.quiet()
        assert reader.failing_since
        cluster.answer(reader, record_batch(0, 5), high_watermark=5, log_start_offset=0)
        assert (reader.tail, reader.high_watermark, reader.log_start_offset) == (5, 5, 0)
        assert reader.heard_at
        assert [reader.failing_since] == [None]
        assert (cluster.arrived, cluster.starts) == ([reader], [reader])
        # Nothing is new; the log start of a replica that lags is none.
        cluster.answer(reader, log_start_offset=-1)
        cluster.answer(reader, log_start_offset=0)
        assert (cluster.arrived, cluster.starts) == ([reader], [reader])
        cluster.answer(reader, log_start_offset=3)
        assert reader.log_start_offset == 3
        assert (cluster.arrived, cluster.starts) == ([reader], [reader, reader])
        cluster.answer(reader, record_batch(5, 1))
        assert (reader.tail, cluster.arrived) == (6, [reader, reader])

    run(test, monkeypatch)


def test_batches_that_cannot_be_read_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        reader.tail = 0
        cluster.answer(reader, b"no batch at all, and longer than a header of one would have to be.", high_watermark=5)
        assert reader.lanes is None
        assert reader.failing_since is not None
        assert (reader.tail, reader.high_watermark, cluster.arrived) == (0, -1, [])

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
        assert (cluster.cuts, cluster.starts) == ([], [])

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
        readers = [await cluster.at_home(isolation=level) for level in (0, 1)]
        for reader in readers:
            reader.tail = 9
        cluster.answer(readers[0], diverging_epoch=(4, 7), high_watermark=9)
        assert cluster.cuts == [(readers, 7)]
        assert cluster.readers.counts.truncations == 1
        assert [(one.tail, one.life) for one in readers] == [(-1, 1)] * 2
        assert cluster.arrived == readers

    run(test, monkeypatch)


async def _out_of_range(cluster: Cluster, asked: int, seen: int = -1) -> PartitionReader:
    reader = await cluster.at_home()
    reader.tail, reader.high_watermark = asked, seen
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
        assert cluster.starts == [reader] * start
        assert reader.log_start_offset == (10 if start else -1)
        assert cluster.cuts == ([] if cut is None else [([reader], cut)])
        assert cluster.arrived == [reader] * (start or cut is not None)
        assert (reader.tail, reader.seen_end) == (tail, cut or max(seen, 20))

    run(test, monkeypatch)


def test_a_topic_that_was_created_again_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        cluster.shrunk = True
        reader = await _out_of_range(cluster, 21, 21)
        assert (cluster.cuts, reader.tail) == ([], 21)

    run(test, monkeypatch)


def test_logs_that_start_later_than_before_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        readers = [await cluster.at_home(number) for number in (0, 1)]
        readers[1].log_start_offset = 4
        cluster.offsets = {EARLIEST: Found(0, 4)}
        await cluster.readers.freshen(readers)
        assert [one.log_start_offset for one in readers] == [4, 4]
        assert all(one.seen_at > 0 for one in readers)
        assert cluster.starts == readers[:1]
        for one in readers:
            one.seen_at = 0.0
        cluster.offsets = {EARLIEST: Found(6, 9)}
        await cluster.readers.freshen(readers)
        assert [(one.log_start_offset, one.seen_at) for one in readers] == [(4, 0.0)] * 2

        async def lost(*_: object) -> dict[tuple[str, int], Found]:
            raise LostError("broker 1", "gone", code=-1, sent=False)

        monkeypatch.setattr(module, "list_offsets", lost)
        await cluster.readers.freshen(readers)
        assert [(one.log_start_offset, one.seen_at) for one in readers] == [(4, 0.0)] * 2

    run(test, monkeypatch)


async def _filled(cluster: Cluster, interest: float, partition: int) -> PartitionReader:
    reader = await cluster.at_home(partition)
    reader.tail = 0
    reader.interest = interest
    cluster.answer(reader, record_batch(0, 5, size=1000))
    assert reader.ring.held_bytes > 5000
    return reader


def test_rings_that_nobody_reads_are_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        silent, read = await _filled(cluster, 10.0, 0), await _filled(cluster, 20.0, 1)
        cluster.readers.sweep(10.0)
        assert cluster.readers.held_bytes == silent.ring.held_bytes + read.ring.held_bytes
        silent.is_reading_tail = True
        cluster.readers.sweep(15.0)
        assert silent.ring.held_bytes > 0
        silent.is_reading_tail = False
        cluster.readers.sweep(15.0)
        assert (silent.ring.held_bytes, silent.tail) == (0, -1)
        assert cluster.readers.held_bytes == read.ring.held_bytes > 0

    run(test, monkeypatch)


def test_rings_are_bounded_at_the_cost_of_those_read_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        late = await _filled(cluster, 20.0, 1)
        early = await _filled(cluster, 10.0, 0)
        each = early.ring.held_bytes
        assert late.ring.held_bytes == each
        monkeypatch.setattr(module, "_BUDGET", 2 * each)
        # They are within it, to the byte.
        cluster.answer(late, bytes(each // 8 + 1), topic="nobody's")
        assert cluster.readers.held_bytes == 2 * each
        monkeypatch.setattr(module, "_BUDGET", 2 * each - 1)
        cluster.answer(late, b"too little to look", topic="nobody's")
        assert cluster.readers.held_bytes == 2 * each
        cluster.answer(late, bytes(each // 8 + 1), topic="nobody's")
        assert (early.ring.held_bytes, late.ring.held_bytes) == (0, each)

    run(test, monkeypatch)
