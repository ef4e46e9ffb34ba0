"""Loads of share partitions and lookups of topics: what is asked, what is logged, and how long loads take."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

import share_state as ss
from share_state.gateway import loading as module
from share_state.gateway.data_plane import Needs
from share_state.gateway.loading import Loading
from share_state.gateway.topic_lookups import TopicLookups
from share_state.kafka import codes
from share_state.kafka.client.peers import LostError
from tests.gateway.delivery.one_node import BASE64, KEY, fetch
from tests.gateway.delivery.one_plane import Bench, client, given, run, turns

PLACE = f"group='g' topic='apples' topic_id='{BASE64}' partition=0"
NEW = ss.ReadStateResult(3, -1, [])


class World:
    """Loads of a bench, over a store and an upstream that obey."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.read: Any = ss.ReadStateResult(1, 5, [])
        self.offset: int | None = 7
        self.asked: list[Any] = []
        self.topic: Any = SimpleNamespace(name="apples")
        self.goes_on = threading.Event()
        self.goes_on.set()
        upstream = SimpleNamespace(known=lambda topic_id: self.topic if topic_id == BASE64 else None)
        self.loading = Loading(bench.plane, cast("Any", self), bench.executor, cast("Any", upstream), bench.counts)
        self.loading._start_offsets = cast("Any", SimpleNamespace(find=self._find))
        needs: Needs = {"state": self.loading.state, "start": self.loading.start, "loaded": self.loading.loaded}
        bench.plane.begin({**bench.needs, **needs})

    def read_states(self, asked: Any) -> list[Any]:
        assert threading.current_thread().name.startswith("own")
        assert self.goes_on.wait(10)
        self.asked.append(asked)
        return [self.read for _ in asked]

    async def _find(self, topic: Any, partition: int, strategy: str, isolation: int) -> int | None:
        self.asked.append((topic, partition, strategy, isolation))
        return self.offset

    @property
    def loads(self) -> int:
        return sum(self.bench.counts.load_times.buckets)


def test_a_state_is_read_in_the_epoch_of_this_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(bench: Bench) -> None:
        world = World(bench)
        row = await bench.fetch(client(1), 0, wait_ms=5_000)
        # It says where it begins.
        assert given(row) == [(5, 9)]
        assert world.asked == [[(KEY, 3)]]
        assert (world.loads, 0 <= bench.counts.load_times.total < 15, world.loading._begun) == (1, True, {})

    run(monkeypatch, test)


def test_the_time_of_a_load_is_that_until_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=100.0)

    async def test(bench: Bench) -> None:
        world = World(bench)
        world.goes_on.clear()
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
        # The start offset is found, and written, before it serves.
        world.read, real = NEW, bench.write

        def write(taken: Any) -> Any:
            clock.now = 164.0
            return real(taken)

        bench.write = write
        asked = asyncio.create_task(bench.fetch(client(1), 0, wait_ms=5_000))
        await turns()
        clock.now = 132.0
        world.goes_on.set()
        assert given(await asked) == [(7, 9)]
        assert world.asked == [[(KEY, 3)], (world.topic, 0, "earliest", 0)]
        assert (world.loads, bench.counts.load_times.total) == (1, 64.0)

    run(monkeypatch, test)


@pytest.mark.parametrize(
    ("read", "offset", "code", "why"),
    [
        (NEW, None, codes.OFFSET_NOT_AVAILABLE, []),
        (NEW, -5, -1, ["not loaded: "]),
        (ss.UnknownPartitionError("gone"), 7, 3, ["the state cannot be read: gone: "]),
        (ss.FencedLeaderEpochError("late"), 7, 6, ["the state cannot be read: late: "]),
        (ss.ReadStateResult(1, 4, [ss.StateBatch(2, 3, 2, 1)]), 7, -1, ["the state is corrupt: state_batches[0]"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("is_known", [False, True])
def test_a_load_that_fails_is_told(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    read: Any,
    offset: int | None,
    code: int,
    why: list[str],
    is_known: bool,
) -> None:
    async def test(bench: Bench) -> None:
        world = World(bench)
        world.read, world.offset = read, offset
        if not is_known:
            world.topic = None
        await bench.fetch(client(1), 0, wait_ms=50)
        assert world.loads >= 1
        assert world.loading._begun == {}

    run(monkeypatch, test)
    place = PLACE if is_known else PLACE.replace("'apples'", "None")
    if read is NEW and not is_known:
        # Nobody can be asked where it begins.
        code, why = codes.OFFSET_NOT_AVAILABLE, []
    said = [("ERROR", one) for one in why] + [("WARNING", f"not loaded: code={code} ({codes.name_of(code)}) {place}")]
    found = list(dict.fromkeys((one.levelname, one.getMessage()) for one in caplog.records))
    assert [(level, text[: len(one)]) for (level, text), (_, one) in zip(found, said, strict=True)] == said
    assert all(text.endswith(place) for _, text in found)


def test_whoever_waits_is_told_of_a_start_offset_that_a_disk_refuses(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(bench: Bench) -> None:
        world = World(bench)
        world.read = NEW

        async def refused(*_: Any) -> int | None:
            raise ss.StoreError("full")

        found, world.loading._start_offsets = world.loading._start_offsets, cast("Any", SimpleNamespace(find=refused))
        row = await bench.fetch(client(1), 0, wait_ms=5_000)
        assert row["errorCode"] == codes.OFFSET_NOT_AVAILABLE
        world.loading._start_offsets = found
        assert given(await bench.fetch(client(1), 1, wait_ms=5_000)) == [(7, 9)]

    run(monkeypatch, test)
    assert f"not loaded: full: topic_id='{BASE64}' partition=0" in caplog.messages


def test_a_load_that_is_dropped_at_once_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(bench: Bench) -> None:
        world = World(bench)
        asked = asyncio.create_task(bench.plane.respond(client(1), fetch(wait_ms=5_000)[4:]))
        await turns(1)
        assert len(world.loading._begun) == 1
        bench.plane.topic_deleted(BASE64)
        await asked
        await turns()
        assert world.loading._begun == {}

    run(monkeypatch, test)


def test_what_is_loading_ends_with_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(bench: Bench) -> None:
        world = World(bench)
        world.goes_on.clear()
        asked = asyncio.create_task(bench.plane.respond(client(1), fetch(wait_ms=20_000)[4:]))
        await turns()
        (task,) = world.loading._tasks
        await world.loading.close()
        assert (task.cancelled(), world.loading._tasks) == (True, set())
        world.goes_on.set()
        asked.cancel()

    run(monkeypatch, test)


def test_a_request_goes_on_when_its_topics_were_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    goes_on = asyncio.Event()

    async def topics_by_id(topic_ids: Any) -> None:
        asked.append(topic_ids)
        if len(asked) == 2:
            raise LostError("upstream", "it is gone", code=13, sent=False)
        if len(asked) == 3:
            await goes_on.wait()

    async def test(bench: Bench) -> None:
        plane = bench.plane
        lookups = TopicLookups(plane, cast("Any", SimpleNamespace(topics_by_id=topics_by_id)))
        plane.begin({**bench.needs, "topics": lookups.begin})
        # Where upstream is silent, a topic is as good as unknown.
        for number in (1, 2):
            plane.node.set_topics([])
            assert (await bench.fetch(client(number), 0, member=f"m{number}"))["errorCode"] == codes.UNKNOWN_TOPIC_ID
        waits = asyncio.create_task(plane.respond(client(3), fetch(member="m3")[4:]))
        await turns()
        (task,) = lookups._tasks
        await lookups.close()
        assert (task.cancelled(), lookups._tasks) == (True, set())
        # In any case.
        await waits
        assert asked == [[BASE64]] * 3

    run(monkeypatch, test)
