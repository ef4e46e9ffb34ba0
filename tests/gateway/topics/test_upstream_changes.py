"""Topics that go, come back, or are others than before: what is told of them, counted and logged."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import StoreError
from share_state.gateway.upstream import lives
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.offsets import Found
from tests.gateway.topics.metadata_brokers import NONE, ONE, THREE, TWO, Brokers, run, topic

LOGGER = "share_state.gateway.upstream"
T = topic("t", ONE, (11, 5), (12, 5))
U = topic("u", TWO, (12, 0), internal=True)


def test_topics_with_other_ids_are_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.have(T, U)
        await brokers.upstream.all_topics()
        brokers.have(topic("t", THREE, (11, 0)), U)
        await brokers.upstream.all_topics()
        assert brokers.gone == [[], [ONE]]
        assert brokers.upstream.recreations == 1
        assert (brokers.upstream.known(ONE), brokers.upstream.names()) == (None, ["t", "u"])
        brokers.have(topic("t", ONE, (11, 0)), topic("u", NONE[:-1] + "Y", (11, 0)))
        await brokers.upstream.all_topics()
        assert brokers.gone == [[], [ONE], [THREE, TWO]]
        assert brokers.upstream.recreations == 3

    with caplog.at_level("WARNING", logger=LOGGER):
        run(monkeypatch, tmp_path, test)
    assert caplog.messages == [
        f"a topic was created again: topic='t' topic_id='{THREE}' former_id='{ONE}'",
        f"a topic was created again: topic='t' topic_id='{ONE}' former_id='{THREE}'",
        f"a topic was created again: topic='u' topic_id='{NONE[:-1]}Y' former_id='{TWO}'",
    ]


def test_nobody_hears_of_an_id_before_it_is_durable_and_the_groups_hear_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def test(brokers: Brokers) -> None:
        upstream, durable, both = brokers.upstream, asyncio.Event(), asyncio.Event()
        save, fails = brokers.registry.save, False

        async def slow() -> None:
            if len(brokers.asked) == 3:
                both.set()
            await durable.wait()
            if fails:
                raise StoreError("full")
            await save()

        monkeypatch.setattr(brokers.registry, "save", slow)
        durable.set()
        brokers.have(T)
        await upstream.all_topics()
        told: list[tuple[list[str], list[tuple[str, str, int]]]] = []

        def changed(gone: list[str]) -> None:
            if gone:
                told.append((gone, upstream.view()))

        upstream.changed = changed
        durable.clear()
        again = topic("t", THREE, (12, 6))
        brokers.have(again)
        asked = [asyncio.ensure_future(upstream.topics(["t"])) for _ in range(2)]
        await both.wait()
        # The topic is neither the former nor the new one; a leader of the former is not taken over.
        assert (upstream.known_by_name("t"), upstream.known(ONE), upstream.known(THREE)) == (None, None, None)
        assert not upstream.moved(THREE, 0, 12, 9)
        assert told == []
        durable.set()
        expected = Topic("t", THREE, is_internal=False, partitions=(Partition(12, 6),))
        assert await asyncio.gather(*asked) == [{"t": expected}] * 2
        assert told == [([ONE], [("t", THREE, 1)])]
        # What a failed write has kept back is told with the next.
        fails = True
        brokers.have(T)
        with pytest.raises(StoreError, match="full"):
            await upstream.topics(["t"])
        assert (upstream.known_by_name("t"), told[1:]) == (None, [])
        fails = False
        await upstream.topics(["t"])
        assert told[1:] == [([THREE], [("t", ONE, 2)])]

    run(monkeypatch, tmp_path, test)


def test_a_topic_that_is_missing_for_long_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(brokers: Brokers) -> None:
        now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: now)
        upstream = brokers.upstream
        brokers.have(T, U)
        await upstream.all_topics()
        brokers.have(U)
        await upstream.topics(["t", "u"])
        assert brokers.gone == [[], []]
        now = 1010.0
        brokers.have()
        await upstream.topics(["t", "u"])
        assert brokers.gone == [[], [], []]
        await upstream.forget_deleted(10.0)
        assert (brokers.gone, upstream.names()) == ([[], [], []], ["t", "u"])
        # One comes back in time.
        now = 1015.0
        brokers.have(U)
        await upstream.topics(["u"])
        await upstream.forget_deleted(10.0)
        assert brokers.gone == [[]] * 4 + [[ONE]]
        assert upstream.names() == ["u"]
        assert type(brokers.registry)(tmp_path).view() == [("u", TWO, 1)]
        now = 2000.0
        await upstream.forget_deleted(10.0)
        assert brokers.gone == [[]] * 4 + [[ONE]]
        # Nothing of its epochs is left when there is one of that name again; nobody takes it for a second life.
        brokers.have(topic("t", ONE, (12, 1)))
        assert (await upstream.topics(["t"]))["t"].partitions == (Partition(12, 1),)
        assert upstream.recreations == 0

    with caplog.at_level("WARNING", logger=LOGGER):
        run(monkeypatch, tmp_path, test)
    assert caplog.messages == ["a topic is gone: topic='t'"]


def test_a_topic_without_an_id_begins_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    formers: list[str | None] = []

    async def test(brokers: Brokers) -> None:
        upstream = brokers.upstream
        brokers.have(T)
        await upstream.begin_anew("t")
        # Nobody knew it.
        assert (brokers.gone, upstream.recreations) == ([[]], 0)
        for count in (1, 2):
            former = brokers.registry.id_of("t")
            formers.append(former)
            await upstream.begin_anew("t")
            assert upstream.recreations == count
            assert brokers.gone[-1] == [former]
            assert brokers.registry.id_of("t") not in {former, None}
        assert [asked["topics"] for _, asked in brokers.asked] == [[{"name": "t"}]] * 3
        assert brokers.registry.epochs_of("t") == (5, 5)

    with caplog.at_level("WARNING", logger=LOGGER):
        run(monkeypatch, tmp_path, test, version=8)
    assert caplog.messages == [f"a topic was created again: topic='t' former_id='{former}'" for former in formers]


def test_a_topic_without_an_id_that_was_away_and_has_older_leaders_is_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []

    async def list_offsets(_: object, wanted: Any, *, in_epoch: bool) -> dict[tuple[str, int], Found]:
        asked.extend((one.name, number, timestamp, in_epoch) for one, number, timestamp in wanted)
        return {(one.topic_id, number): Found(0, 3) for one, number, _ in wanted}

    monkeypatch.setattr(lives, "list_offsets", list_offsets)

    async def test(brokers: Brokers) -> None:
        upstream = brokers.upstream
        brokers.have(T)
        before = (await upstream.topics(["t"]))["t"].topic_id
        # One broker may have just started.
        brokers.have(only=1)
        brokers.have(topic("t", ONE, (11, 5), (12, 5)), only=2)
        assert (await upstream.topics(["t"]))["t"].topic_id == before
        assert asked == []
        brokers.have()
        assert await upstream.topics(["t"]) == {}
        assert brokers.gone == [[], []]
        brokers.have(topic("t", ONE, (12, 0), (11, 5)))
        found = (await upstream.topics(["t"]))["t"]
        assert asked == [("t", 0, -1, True), ("t", 1, -1, True)]
        assert found.topic_id != before
        assert found.partitions == (Partition(12, 0), Partition(11, 5))
        assert (brokers.gone, upstream.recreations) == ([[], [], [before]], 1)
        assert brokers.registry.epochs_of("t") == (0, 5)
        # With more partitions it is the same, and with fewer another one at once.
        brokers.have(topic("t", ONE, (12, 0), (11, 5), (12, 0)))
        assert (await upstream.topics(["t"]))["t"].topic_id == found.topic_id
        brokers.have(topic("t", ONE, (12, 1)))
        last = (await upstream.topics(["t"]))["t"]
        assert (brokers.gone[-1], upstream.recreations) == ([found.topic_id], 2)
        assert last.partitions == (Partition(12, 1),)

    run(monkeypatch, tmp_path, test, version=8)


def test_a_leader_of_an_older_epoch_that_answers_in_it_is_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def list_offsets(_: object, wanted: Any, *, in_epoch: bool) -> dict[tuple[str, int], Found]:
        assert in_epoch
        # The leader of partition 1 is another one by now.
        return {(one.topic_id, number): Found(74 * number, 3) for one, number, _ in wanted}

    monkeypatch.setattr(lives, "list_offsets", list_offsets)

    async def test(brokers: Brokers) -> None:
        brokers.have(T)
        before = (await brokers.upstream.topics(["t"]))["t"].topic_id
        brokers.have(topic("t", ONE, (12, 4), (11, 4)))
        found = (await brokers.upstream.topics(["t"]))["t"]
        assert (found.topic_id, found.partitions) == (before, (Partition(12, 4), Partition(12, 5)))
        assert (brokers.gone, brokers.upstream.recreations) == ([[], []], 0)
        assert brokers.registry.epochs_of("t") == (5, 5)

    run(monkeypatch, tmp_path, test, version=8)


def test_a_topic_is_lost_in_a_cluster_of_one_broker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        upstream = brokers.upstream
        brokers.have(T)
        before = (await upstream.topics(["t"]))["t"].topic_id
        brokers.have()
        assert await upstream.topics(["t"]) == {}
        assert [number for number, _ in brokers.asked] == [1, 1]
        assert brokers.gone == [[], []]
        # Begun anew while nobody knows it, and forgotten after that.
        await upstream.begin_anew("t")
        assert brokers.gone == [[], [], [before]]
        await upstream.forget_deleted(-1.0)
        assert (brokers.gone, upstream.names()) == ([[], [], [before]], [])

    run(monkeypatch, tmp_path, test, version=8, count=1)
