"""Reads of what lies before the end of a ring, for groups that are behind others: none is lost, and none is made in a loop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from share_state.kafka.client.fetch import Answer
from tests.gateway.hostile import HostileUpstream
from tests.gateway.serving import heartbeat, serving
from tests.gateway.sharing import APPLES, A, Market, Member, given
from tests.gateway.topics.read_cluster import FIRST, Cluster, run
from tests.gateway.wire.batches import record_batch
from tests.gateway.wire.connection import Connection


@pytest.mark.parametrize("how", ["lost", "refused", "refused as a whole", "unreadable", "left out"])
def test_a_back_read_that_fails_is_made_again(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(offset=9)
        lanes = cluster.lanes(reader)
        cluster.reader(offset=3)
        assert lanes.backs == [reader]
        lanes.backs.clear()
        if how == "lost":
            cluster.readers.lost(FIRST, [reader], None)
        elif how == "refused":
            cluster.answer(reader, asked=3, error_code=3)
        elif how == "unreadable":
            cluster.answer(reader, b"nonsense", asked=3)
        else:
            cluster.readers.take({reader: 3}, Answer(0, 0 if how == "left out" else 56, 0, [], b""))
        assert reader.lanes is None
        await cluster.quiet()
        # Not before its leader was looked for.
        assert cluster.asked_for == [{"t"}]
        assert (lanes.tails, lanes.backs, reader.back_reads) == ([reader], [reader], {3})
        cluster.answer(reader, record_batch(3, 2), asked=3)
        assert (reader.back_reads, reader.failing_since) == (set(), None)

    run(test, monkeypatch)


@pytest.mark.parametrize(("isolation", "asked", "tail"), [(0, 20, 20), (0, 22, 22), (1, 15, 15)])
def test_a_back_read_where_nobody_can_read_yet_becomes_the_tail(
    monkeypatch: pytest.MonkeyPatch, isolation: int, asked: int, tail: int
) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(isolation=isolation, offset=24)
        cluster.reader(isolation=isolation, offset=asked)
        cluster.answer(reader, asked=asked, high_watermark=20, last_stable_offset=15)
        assert reader.tail == tail
        # Whoever waits there wants it again, and waits at the end for what comes, as does the other one.
        cluster.reader(isolation=isolation, offset=asked)
        assert (reader.back_reads, reader.wants_tail) == (set(), True)

    run(test, monkeypatch)


@pytest.mark.parametrize(("isolation", "asked"), [(0, 19), (1, 14)])
def test_a_broker_that_gives_nothing_of_what_it_has_is_asked_again_in_a_while(
    monkeypatch: pytest.MonkeyPatch, isolation: int, asked: int
) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(isolation=isolation, offset=24)
        cluster.reader(isolation=isolation, offset=asked)
        cluster.answer(reader, asked=asked, high_watermark=20, last_stable_offset=15)
        assert (reader.tail, reader.back_reads, reader.lanes) == (24, {asked}, None)
        assert reader.failing_since is not None

    run(test, monkeypatch)


@contextlib.contextmanager
def two_groups(upstream: HostileUpstream, path: Path, start: int, **settings: str) -> Iterator[tuple[Member, Member]]:
    """Members of two groups at one partition, each with a connection; the first group begins at an offset."""
    upstream.create(APPLES)
    with upstream.lock:
        upstream.topics[APPLES].topic_id = A
    for _ in range(4):
        upstream.append(APPLES, 0, [b"apple"] * 5)
    groups = {f"share.{name.replace('_', '.')}": value for name, value in settings.items()}
    with (
        serving(upstream.bootstrap, path, groups=groups) as gateway,
        Connection(gateway.bootstrap_servers) as connection,
        Connection(gateway.bootstrap_servers) as another,
    ):
        market = Market(upstream, gateway, connection)
        market.join("ahead", [APPLES])
        leaving = {**heartbeat("ahead", [APPLES]), "memberEpoch": -1}
        assert connection.ask("ShareGroupHeartbeat", 1, leaving)["errorCode"] == 0
        row = {"topicName": APPLES, "partitions": [{"partitionIndex": 0, "startOffset": start}]}
        assert connection.ask("AlterShareGroupOffsets", 0, {"groupId": "ahead", "topics": [row]})["errorCode"] == 0
        for group in ("ahead", "behind"):
            market.join(group, [APPLES])
        yield Member(market, "ahead"), Member(market, "behind", connection=another)


def test_groups_at_any_offsets_are_read_once_upstream_answers(tmp_path: Path) -> None:
    with HostileUpstream() as upstream, two_groups(upstream, tmp_path, 15, auto_offset_reset="earliest") as (ahead, behind):
        upstream.faults.fetch_code = 56
        for member in (behind, ahead):
            assert given(member.fetch([(A, 0)], maxWaitMs=300)) == {}
        upstream.faults.clear()
        assert given(ahead.fetch(maxWaitMs=10_000)) == {(A, 0): [(15, 19, 1)]}
        assert given(behind.fetch(maxWaitMs=10_000)) == {(A, 0): [(0, 19, 1)]}


def test_groups_at_any_offsets_wait_for_the_end_of_a_transaction(tmp_path: Path) -> None:
    settings = {"isolation_level": "read_committed", "auto_offset_reset": "latest"}
    with HostileUpstream() as upstream, two_groups(upstream, tmp_path, 24, **settings) as (ahead, behind):
        upstream.change(APPLES, 0, lambda log: log.append([b"open"] * 5, leader_epoch=0, producer_id=7))
        assert given(ahead.fetch([(A, 0)], maxWaitMs=500)) == {}
        asked = len(upstream.requests("Fetch"))
        assert given(behind.fetch([(A, 0)], maxWaitMs=1000)) == {}
        # Each waits half a second upstream.
        assert len(upstream.requests("Fetch")) < asked + 10
        upstream.change(APPLES, 0, lambda log: log.end_transaction(7, commit=True, leader_epoch=0))
        assert given(behind.fetch(maxWaitMs=10_000)) == {(A, 0): [(20, 25, 1)]}
        assert given(ahead.fetch(maxWaitMs=10_000)) == {(A, 0): [(24, 25, 1)]}
