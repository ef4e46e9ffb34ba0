"""Readers of upstream partitions: who is read, and how leaders are looked for."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest

from share_state.errors import StoreError
from share_state.gateway.upstream import readers as module
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.peers import LostError
from tests.gateway.topics.read_cluster import FIRST, SECOND, Cluster, T, run

LOGGER = "share_state.gateway.upstream"
NOW = 1000.0
PLACE = "topic='t' topic_id='tttttttttttttttttttttt' partition=0"


def test_a_new_leader_is_asked_before_it_is_read(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        asked: list[tuple[Any, ...]] = []
        answers: list[Any] = [LostError("broker 2", "busy", code=75, sent=True), None, 70, 60]

        async def cut_at(_: object, *whom: Any) -> int | None:
            asked.append(whom)
            answer = answers.pop(0)
            if isinstance(answer, LostError):
                raise answer
            return cast("int | None", answer)

        monkeypatch.setattr(module, "cut_at", cut_at)
        cluster.known[T.topic_id] = Topic("t", T.topic_id, is_internal=False, partitions=(Partition(2, 6), *T.partitions[1:]))
        cluster.readers.lost(FIRST, [reader], None)
        await cluster.quiet()
        assert asked == [(SECOND, reader, 6)] * 2
        assert (cluster.lanes(reader).node, reader.leader_epoch, cluster.cuts) == (SECOND, 6, [])
        # The log of the next one ends earlier, and is another topic's.
        cluster.shrunk = True
        cluster.readers.lost(SECOND, [reader], None)
        await cluster.quiet()
        assert cluster.cuts == []
        cluster.shrunk = False
        cluster.readers.lost(SECOND, [reader], None)
        await cluster.quiet()
        assert (cluster.cuts, answers) == ([([reader], 60)], [])
        assert cluster.rings.changed == [reader.source]

    with caplog.at_level("INFO", logger=LOGGER):
        run(test, monkeypatch)
    assert [message for message in caplog.messages if "leader" in message] == [
        f"a new leader cannot be reached: broker 2: busy: {PLACE}"
    ]


def test_leaders_are_looked_for_until_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def test(cluster: Cluster) -> None:
        # Upstream is away; the disk has no room for what it says; there is no leader yet.
        answers: list[Any] = [LostError("1", "gone", code=13, sent=False), StoreError("full"), None, (Partition(2, 6),)]
        sleep = asyncio.sleep

        async def kept(seconds: float) -> None:
            slept.append(seconds)
            await sleep(0)

        async def topics(names: set[str]) -> None:
            assert names == {"t"}
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            cluster.known.pop(T.topic_id, None)
            if answer is not None:
                cluster.known[T.topic_id] = Topic("t", T.topic_id, is_internal=False, partitions=answer)

        monkeypatch.setattr(asyncio, "sleep", kept)
        cluster.upstream.topics = topics
        cluster.known.pop(T.topic_id)
        reader = cluster.reader()
        cluster.readers.read_tail(reader)
        await cluster.quiet()
        assert (cluster.lanes(reader).node, reader.leader_epoch, answers) == (SECOND, 6, [])
        assert cluster.lanes(reader).tails == [reader]

    run(test, monkeypatch)
    # At once the first time; nothing fails yet, so the wait stays the shortest.
    assert slept == [0.001] * 3


@pytest.mark.parametrize("partitions", [(), (Partition(-1, 5),), (Partition(9, 5),)])
def test_one_that_has_read_asks_on_while_its_leader_is_not_known(
    monkeypatch: pytest.MonkeyPatch, partitions: tuple[Partition, ...]
) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        ask = cluster.upstream.topics
        left = [partitions, partitions, (Partition(2, 6),)]

        async def topics(names: set[str]) -> None:
            await ask(names)
            cluster.known[T.topic_id] = Topic("t", T.topic_id, is_internal=False, partitions=left.pop(0))

        cluster.upstream.topics = topics
        cluster.readers.lost(FIRST, [reader], None)
        await cluster.quiet()
        assert cluster.asked_for == [{"t"}] * 3
        assert (cluster.lanes(reader).node, reader.leader_epoch) == (SECOND, 6)

    run(test, monkeypatch)


@pytest.mark.parametrize(("failing", "waited"), [(0.0, 0.25), (0.125, 0.25), (0.5, 0.5), (1.0, 1.0), (8.0, 1.0)])
def test_the_longer_it_fails_the_longer_is_waited(monkeypatch: pytest.MonkeyPatch, failing: float, waited: float) -> None:
    slept: list[float] = []

    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        sleep = asyncio.sleep

        async def kept(seconds: float) -> None:
            slept.append(seconds)
            await sleep(0)

        monkeypatch.setattr(asyncio, "sleep", kept)
        monkeypatch.setattr(module, "_FIRST_WAIT", 0.25)
        monkeypatch.setattr(time, "monotonic", lambda: NOW)
        reader.failing_since = NOW - failing
        cluster.readers.lost(FIRST, [reader], None)
        assert reader.failing_since == NOW - failing
        await cluster.quiet()
        assert cluster.lanes(reader).node == FIRST

    run(test, monkeypatch)
    assert slept == [waited]


def test_a_follower_is_read_for_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        monkeypatch.setattr(time, "monotonic", lambda: NOW)
        cluster.answer(reader, preferred_read_replica=2)
        assert reader.preferred == (2, NOW + 300.0)
        # Nothing else of such an answer counts.
        assert reader.high_watermark == -1
        monkeypatch.setattr(time, "monotonic", lambda: NOW + 300.0)
        cluster.answer(reader, high_watermark=4)
        assert (cluster.lanes(reader).node, reader.heard_at) == (SECOND, NOW + 300.0)
        monkeypatch.setattr(time, "monotonic", lambda: NOW + 300.5)
        cluster.answer(reader, high_watermark=5)
        assert [cluster.lanes(reader).node, reader.preferred] == [FIRST, None]
        # A broker may have the number 0.
        cluster.upstream.node = {0: SECOND, 1: FIRST}.get
        cluster.answer(reader, preferred_read_replica=0)
        assert reader.preferred == (0, NOW + 600.5)
        assert cluster.lanes(reader).node == SECOND

    run(test, monkeypatch)


def test_one_whose_partition_is_gone_has_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(1)
        cluster.known[T.topic_id] = Topic("t", T.topic_id, is_internal=False, partitions=T.partitions[:1])
        cluster.answer(reader, preferred_read_replica=2)
        assert (reader.lanes, reader.preferred) == (None, None)
        cluster.known[T.topic_id] = T
        await cluster.quiet()
        assert cluster.lanes(reader).node == FIRST

    run(test, monkeypatch)


def test_upstream_is_asked_again_for_a_partition_that_had_no_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        topics = cluster.upstream.topics

        async def elected(names: set[str]) -> None:
            await topics(names)
            if len(cluster.asked_for) == 2:
                cluster.known[T.topic_id] = T

        cluster.upstream.topics = elected
        cluster.known[T.topic_id] = Topic("t", T.topic_id, is_internal=False, partitions=(Partition(-1, 5),) * 2)
        reader = await cluster.at_home()
        assert (cluster.lanes(reader).node, reader.failing_since) == (FIRST, None)
        assert cluster.asked_for == [{"t"}, {"t"}]

    run(test, monkeypatch)
