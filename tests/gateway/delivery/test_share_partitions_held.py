"""The share partitions in memory, without a cluster: how they are loaded, released, acknowledged, fenced and dropped."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest

import share_state as ss
from share_state.kafka import codes
from tests.gateway.delivery.held import COMMITTED, T, U, World, run

Batches = list[tuple[int, int, bytes]]


def test_what_is_asked_for_is_loaded_once() -> None:
    async def test(world: World) -> None:
        world.configs["h"] = COMMITTED
        world.hold_reads.clear()
        places: list[tuple[str, Any, int]] = [("g", T, 0), ("g", T, 1), ("g", U, 0), ("h", T, 0)]
        served = [world.manager.serve(*place) for place in places]
        assert [world.manager.serve(*place) for place in places] == served
        assert [(one.is_ready, one.error_code, len(world.manager)) for one in served] == [(False, 0, 4)] * 4
        loading = [asyncio.ensure_future(world.manager.ready(one)) for one in served]
        await asyncio.sleep(0.01)
        assert not any(one.done() for one in loading)
        world.hold_reads.set()
        await asyncio.gather(*loading)
        assert all(one.is_ready for one in served)
        assert sorted(world.woken, key=served.index) == served
        assert [(one.engine.start_offset, one.engine.leader_epoch) for one in served] == [(5, 7)] * 4
        assert [one.reader.isolation for one in served] == [0, 0, 0, 1]
        assert [one in one.reader.served for one in served] == [True] * 4
        assert (sum(world.counts.load_times.buckets), world.counts.load_times.total < 30) == (4, True)
        # Nothing is loading any more, and nothing is asked of it.
        assert world.manager._loading == {}
        await world.manager.ready(served[0])
        assert (world.manager.get("g", T.topic_id, 1), world.manager.get("h", T.topic_id, 1)) == (served[1], None)
        assert (world.writes, world.found) == ([], [])

    run(test)


def test_a_share_partition_that_has_never_begun_keeps_where_it_begins() -> None:
    async def test(world: World) -> None:
        world.configs["h"] = COMMITTED
        for group in ("g", "h"):
            world.reads[group, T.topic_id, 2] = ss.ReadStateResult(3, -1, [])
        one, other = await world.served("g", T, 2), await world.served("h", T, 2)
        assert [one.is_ready, other.is_ready] == [True, True]
        assert world.found == [("t", 2, "latest", 0), ("t", 2, "latest", 1)]
        state = ss.WriteState(3, 7, 9, 0, [])
        assert world.writes == [("g", 2, state), ("h", 2, state)]
        assert one.engine.start_offset == 9

    run(test)


CORRUPT = ss.ReadStateResult(1, 4, [ss.StateBatch(2, 3, 2, 1)])
PLACE = f"group='g' topic='t' topic_id='{T.topic_id}' partition=0"


@pytest.mark.parametrize(
    ("read", "offset", "wrong", "told"),
    [
        (ss.ReadStateResult(3, -1, []), None, None, (78, [])),
        (ss.ReadStateResult(3, -1, []), 9, ss.StoreError("full"), (-1, ["the start offset cannot be written: full: "])),
        (
            ss.ReadStateResult(3, -1, []),
            9,
            ss.FencedStateEpochError("late"),
            (124, ["the start offset cannot be written: late: "]),
        ),
        (ss.UnknownPartitionError("gone"), 9, None, (3, ["the state cannot be read: gone: "])),
        (ss.StoreError("closed"), 9, None, (-1, ["the state cannot be read: closed: "])),
        (CORRUPT, 9, None, (-1, ["the state is corrupt: state_batches[0]"])),
        (None, 9, None, (-1, ["not loaded: the store is gone: "])),
    ],
)
def test_what_cannot_be_loaded_is_dropped_with_a_code(
    caplog: pytest.LogCaptureFixture, read: Any, offset: int | None, wrong: Any, told: tuple[int, list[str]]
) -> None:
    code, why = told
    said = [*why, f"not loaded: code={code} ({codes.name_of(code)}) "]

    async def test(world: World) -> None:
        world.reads["g", T.topic_id, 0] = read
        world.offset, world.wrong = offset, wrong
        if read is None:
            world.store_error = ss.StoreError("the store is gone")
        served = await world.served()
        assert (served.is_ready, served.error_code, served.reader.served) == (False, code, set())
        assert (len(world.manager), world.woken) == (0, [served])
        # The next one to ask has it loaded again.
        world.reads.clear()
        world.store_error = None
        again = await world.served()
        assert again is not served
        # Unless the store refuses what is to be written, there is a state now.
        assert again.is_ready

    caplog.set_level(logging.WARNING, "share_state.gateway")
    run(test)
    assert len(caplog.messages) == len(said)
    for message, beginning in zip(caplog.messages, said, strict=True):
        assert message.startswith(beginning)
        assert message.endswith(PLACE)
    assert caplog.messages[-1] == f"{said[-1]}{PLACE}"
    if len(said) > 1:
        assert [caplog.records[0].levelname, caplog.records[1].levelname] == ["ERROR", "WARNING"]


def test_the_start_of_the_log_moves_what_begins_before_it() -> None:
    async def test(world: World) -> None:
        starts = []
        for number, start in enumerate((-1, 4, 8)):
            world._reader(T, number, 0).log_start_offset = start
            starts.append((await world.served("g", T, number)).engine.start_offset)
        assert starts == [5, 5, 8]
        one, other = await world.served("g", T, 0), await world.served("h", T, 0)
        loading = world.manager.serve("i", T, 0)
        world.woken.clear()
        reader = world._reader(T, 0, 0)
        reader.log_start_offset = 6
        cast("Any", world.readers).log_start_moved(reader)
        assert [served.engine.start_offset for served in (one, other)] == [6, 6]
        assert set(world.woken) == {one, other}
        # Nothing has changed; what is loading sees to it itself.
        world.woken.clear()
        cast("Any", world.readers).log_start_moved(reader)
        assert world.woken == []
        cast("Any", world.readers).arrived(reader)
        assert set(world.woken) == {one, other, loading}
        await world.manager.ready(loading)
        assert loading.engine.start_offset == 6

    run(test)


def test_only_what_is_stale_is_asked_for() -> None:
    async def test(world: World) -> None:
        served = [await world.served("g", T, number) for number in range(3)]
        served.append(world.manager.serve("h", T, 0))
        await world.manager.freshen(served)
        assert world.freshened == []
        # From the offset on that it would give out next.
        for number, offset in enumerate((5, 6, 0)):
            world._reader(T, number, 0).stale_from = offset
        await world.manager.freshen(served)
        assert world.freshened == [[served[0].reader, served[2].reader]]

    run(test)


def test_what_a_member_holds_is_released_wherever_it_is() -> None:
    async def test(world: World) -> None:
        one, two = await world.holding(), await world.holding("m", "g", U, 1)
        others, elsewhere = await world.holding("n", "g", T, 1), await world.holding("m", "h")
        fenced = await world.holding("m", "g", T, 2)
        fenced.is_ready = False
        assert one.engine.poll_timeout() is not None
        world.woken.clear()
        world.manager.release("g", "m")
        assert set(world.woken) == {one, two}
        await world.manager.writes.close()
        assert sorted((group, number) for group, number, _ in world.writes) == [("g", 0), ("g", 1)]
        free = [served.engine.state_counts()["AVAILABLE"] for served in (one, two, others, elsewhere, fenced)]
        assert free == [5, 5, 0, 0, 0]
        # Once.
        world.woken.clear()
        world.manager.release("g", "m")
        world.manager.release("g", "nobody")
        assert world.woken == []

    run(test)


def test_acknowledgements_are_answered_when_they_are_written() -> None:
    async def test(world: World) -> None:
        served = await world.holding()
        world.woken.clear()
        accepted: Batches = [(5, 5, b"\x01")]
        first = world.manager.acknowledge(served, "m", accepted)
        assert isinstance(first, asyncio.Future)
        assert (world.woken, len(served.settling)) == ([], 1)
        assert await first == 0
        assert (world.woken, served.settling) == ([served], {})
        assert world.writes == [("g", 0, ss.WriteState(1, 7, 5, 1, [ss.StateBatch(5, 5, 2, 1)]))]
        # What asks for no write is answered at once, and may let others in.
        world.woken.clear()
        assert world.manager.acknowledge(served, "m", [(6, 6, b"\x04")]) == 0
        assert world.woken == [served]
        assert world.manager.acknowledge(served, "n", [(6, 6, b"\x01")]) == 121
        assert world.manager.acknowledge(served, "m", [(6, 6, b"\x01\x01")]) == 42
        engine = SimpleNamespace(acknowledge_batches=_raises(ss.StoreError("no code")))
        assert world.manager.acknowledge(cast("Any", SimpleNamespace(engine=engine)), "m", accepted) == -1
        # Nobody waits for this one any more.
        second = world.manager.acknowledge(served, "m", [(6, 6, b"\x02")])
        assert isinstance(second, asyncio.Future)
        second.cancel()
        await world.manager.writes.close()
        assert served.settling == {}

    run(test)


def _raises(error: Exception) -> Any:
    def raises(*_: object, **__: object) -> None:
        raise error

    return raises


@pytest.mark.parametrize(
    ("wrong", "code", "dropped"),
    [
        (ss.FencedLeaderEpochError("another leader"), 6, True),
        (ss.FencedStateEpochError("another state"), 6, True),
        (ss.UnknownPartitionError("gone"), 3, True),
        (ss.StoreError("full"), -1, False),
        (None, 0, False),
    ],
)
def test_a_share_partition_that_the_store_fences_is_dropped(wrong: Any, code: int, dropped: bool) -> None:
    async def test(world: World) -> None:
        served = await world.holding()
        neighbour = await world.holding("m", "g", T, 1)
        world.wrong = wrong
        answers = [world.manager.acknowledge(served, "m", [(at, at, b"\x01")]) for at in (5, 7)]
        assert [await cast("Any", one) for one in answers] == [code, code]
        await asyncio.sleep(0)
        assert (served.is_ready, served.error_code) == ((False, code) if dropped else (True, 0))
        assert list(world.manager.all()) == ([neighbour] if dropped else [served, neighbour])
        assert neighbour.is_ready

    run(test)


def test_what_is_dropped_is_no_longer_there_but_what_has_replaced_it_is() -> None:
    async def test(world: World) -> None:
        old, other = await world.served(), await world.served("g", T, 1)
        world.woken.clear()
        world.manager.drop(old, 6)
        assert (old.is_ready, old.error_code, old.engine.status, world.woken) == (False, 6, "FENCED", [old])
        assert (old.reader.served, list(world.manager.all())) == (set(), [other])
        new = await world.served()
        world.manager.drop(old, 3)
        assert world.manager.get("g", T.topic_id, 0) is new
        assert new.reader.served == {new}
        # Held: it stays in its place, so that nobody loads it meanwhile.
        world.manager.hold(new)
        assert (new.is_ready, new.engine.status, world.manager.serve("g", T, 0)) == (False, "FENCED", new)
        world.manager.let_go(new)
        assert (world.manager.get("g", T.topic_id, 0), new.error_code) == (None, 0)

    run(test)


def test_groups_and_topics_are_dropped_by_themselves() -> None:
    async def test(world: World) -> None:
        for group in ("g", "h"):
            for topic in (T, U):
                await world.served(group, topic, 0)

        def left() -> list[tuple[str, str]]:
            return [(one.key.group, one.reader.topic) for one in world.manager.all()]

        world.manager.drop_topics(set())
        assert len(left()) == 4
        world.manager.drop_topics({("g", U.topic_id)})
        assert left() == [("g", "t"), ("h", "t"), ("h", "u")]
        gone = await world.served("h", T, 0)
        world.manager.drop_topic(T.topic_id)
        assert (left(), world.forgotten, gone.error_code) == ([("h", "u")], [T.topic_id], 100)
        await world.served("g", U, 0)
        dropped = await world.served("h", U, 0)
        world.manager.drop_topics({("h", T.topic_id), ("h", U.topic_id)})
        assert (left(), dropped.error_code) == ([("g", "u")], 0)

    run(test)
