"""Share partitions in memory while nobody asks: locks end, configurations change, the unused are forgotten."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest

import share_state as ss
from share_state.gateway import share_partitions as module
from tests.gateway.delivery.held import COMMITTED, T, U, World, run


def test_locks_end_while_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(world: World) -> None:
        world.configs["g"] = ss.GroupConfig(record_lock_duration_ms=1_000)
        served = await world.holding()
        other = await world.holding("m", "h")
        world.woken.clear()
        deadline = time.monotonic() + 30
        while not world.writes:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        await world.manager.writes.close()
        assert served in world.woken
        assert other not in world.woken
        assert served.engine.state_counts()["AVAILABLE"] == 5
        assert other.engine.state_counts()["ACQUIRED"] == 5
        assert served.engine.counters()["lock_timeouts"] == 5
        # A lock that ends before anything is due changes nothing.
        world.woken.clear()
        monkeypatch.setattr(module, "lock_ms", lambda: 0)
        world.manager._locks_expired(other)
        assert world.woken == []

    run(test)


def test_a_configuration_concerns_its_group() -> None:
    async def test(world: World) -> None:
        # The first in memory is of another group.
        other = await world.served("h", T, 0)
        ours, second = await world.served("g", T, 0), await world.served("g", U, 1)
        lost = await world.served("g", T, 2)
        readers = [one.reader for one in (other, ours, second)]
        world.configs.update(g=ss.GroupConfig(delivery_count_limit=2), h=COMMITTED)
        cast("Any", world.config).changed({"g"})
        assert [one.reader for one in (other, ours, second)] == readers
        # It applies to what is in memory: two deliveries, and then no more.
        for one, count in ((ours, 0), (other, 5)):
            for _ in range(2):
                assert one.engine.acquire("m", [(5, 9)], max_records=5, now_ms=0)
                world.manager.holds(one, "m")
                world.manager.release(one.key.group, "m")
                await world.manager.writes.close()
            assert one.engine.state_counts()["AVAILABLE"] == count
        # Another isolation has another reader; nobody knows where a topic that is lost is read.
        world.known.pop(T.topic_id)
        world.configs["g"] = COMMITTED
        cast("Any", world.config).changed({"g"})
        assert (ours.reader, other.reader, lost.reader.isolation) == (readers[1], readers[0], 0)
        assert (second.reader.isolation, second.reader.topic, second.reader.partition) == (1, "u", 1)
        assert (readers[2].served, second.reader.served) == (set(), {second})
        world.known[T.topic_id] = T
        cast("Any", world.config).changed({"g"})
        assert (ours.reader.isolation, ours.reader.served, readers[1].served) == (1, {ours}, {other})
        # And back.
        world.configs["g"] = ss.GroupConfig()
        cast("Any", world.config).changed({"g"})
        assert (ours.reader, second.reader) == (readers[1], readers[2])

    run(test)


def test_what_nobody_uses_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(world: World) -> None:
        served = {name: await world.served(name) for name in ("quiet", "used", "waited for", "settling", "held")}
        world.hold_reads.clear()
        served["loading"] = world.manager.serve("loading", T, 0)
        for name, one in served.items():
            one.used_at = 101.0 if name == "used" else 99.0
        served["waited for"].waiting[cast("Any", "a fetch")] = None
        served["settling"].settling[1] = asyncio.get_running_loop().create_future()
        assert served["held"].engine.acquire("m", [(5, 9)], max_records=5, now_ms=0)
        # Not yet: one that was used at this very time has been used.
        world.manager.sweep(99.0)
        assert len(world.manager) == 6
        world.manager.sweep(100.0)
        assert [one.key.group for one in world.manager.all()] == ["used", "waited for", "settling", "held", "loading"]
        assert served["quiet"].error_code == 0
        # A write under way, and no lock any more.
        assert served["held"].engine.handle_timeout(now_ms=1 << 40) == 5
        assert served["held"].engine.writes_under_way
        assert served["held"].engine.poll_timeout() is None
        world.manager.sweep(100.0)
        assert served["held"].is_ready
        # A request that names it uses it.
        monkeypatch.setattr(time, "monotonic", lambda: 200.0)
        world.manager.serve("waited for", T, 0)
        assert served["waited for"].used_at == 200.0

    run(test)


def test_the_end_waits_for_writes_and_stops_what_is_loaded() -> None:
    async def test(world: World) -> None:
        served = await world.holding()
        answer = world.manager.acknowledge(served, "m", [(5, 9, b"\x01")])
        world.hold_reads.clear()
        loading = world.manager.serve("h", T, 0)
        waiting = asyncio.ensure_future(world.manager.ready(loading))
        await asyncio.sleep(0.01)
        closing = asyncio.ensure_future(world.manager.close())
        await asyncio.wait([closing], timeout=20)
        assert closing.done()
        assert closing.exception() is None
        assert await cast("Any", answer) == 0
        assert (waiting.done(), loading.is_ready, world.manager._loading) == (True, False, {})
        assert len(world.writes) == 1
        assert world.manager.generation == 7

    run(test)
