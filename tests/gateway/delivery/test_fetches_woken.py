"""A fetch that waits, step by step: what it takes, when it is enough, who is woken, and that it leaves every line it stood in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway import waiting_fetch as module
from share_state.gateway.waiting_fetch import WaitingFetch, wake

NOW = 12_345


class Served:
    """A share partition that has deliveries, each of some records and bytes."""

    def __init__(
        self, *deliveries: tuple[int, int] | None, isolation: int = 0, held: bool = True, there: int = 0, first: int = 0
    ) -> None:
        self.is_ready = True
        self.error_code = 0
        self.can_acquire = True
        self.waiting: dict[Any, None] = {}
        self.deliveries = list(deliveries)
        self.asked: list[dict[str, Any]] = []
        self.expected: list[int] = []
        self.looked_at: list[tuple[int, int]] = []
        self.there = there
        self.engine = SimpleNamespace(can_acquire=lambda: self.can_acquire, next_fetch_offset=lambda: 77)
        ring = SimpleNamespace(holds=lambda offset: held and offset == 77)
        self.reader = SimpleNamespace(
            isolation=isolation,
            deliver=self._deliver,
            ring=ring,
            expect=self.expected.append,
            has_from=self._has_from,
            first_bytes={77: first}.__getitem__,
        )

    def _deliver(self, engine: Any, member: str, **limits: Any) -> Any:
        assert engine is self.engine
        self.asked.append({"member": member, **limits})
        found = self.deliveries.pop(0) if self.deliveries else None
        return None if found is None else SimpleNamespace(record_count=found[0], nbytes=found[1])

    def _has_from(self, offset: int, limit: int) -> int:
        self.looked_at.append((offset, limit))
        return self.there


class World:
    """The manager, and the room for answers."""

    def __init__(self) -> None:
        self.held: list[tuple[Any, str]] = []
        self.written: list[Any] = []
        self.writes = SimpleNamespace(is_closed=False, add=self.written.append)
        self.room = 1 << 20
        self.line: list[Callable[[], object]] = []
        self.counted: list[tuple[str, int]] = []

    def holds(self, served: Any, member: str) -> None:
        self.held.append((served, member))

    def allowed(self) -> int:
        return self.room

    def hold(self, client: str, count: int) -> None:
        self.counted.append((client, count))

    def wait(self, again: Callable[[], object]) -> None:
        if again not in self.line:
            self.line.append(again)

    def leave(self, again: Callable[[], object]) -> None:
        if again in self.line:
            self.line.remove(again)

    def fetch(self, *served: Served, **limits: Any) -> WaitingFetch:
        wanted: dict[str, Any] = {"max_records": 10, "batch_size": 4, "mode": 1, "max_bytes": 900, "min_bytes": 1, **limits}
        return WaitingFetch(cast("Any", list(served)), "m", client=cast("Any", "the client"), answers=cast("Any", self), **wanted)

    def attempt(self, fetch: WaitingFetch) -> bool:
        return fetch.attempt(cast("Any", self))

    async def wait_for(self, fetch: WaitingFetch, max_wait_ms: int) -> dict[Any, Any]:
        return cast("dict[Any, Any]", await fetch.wait(cast("Any", self), max_wait_ms))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(module, "lock_ms", lambda: NOW)
    return World()


def asked(max_records: int, max_bytes: int) -> dict[str, Any]:
    """Arguments of a request to a reader."""
    return {"member": "m", "now_ms": NOW, "max_records": max_records, "batch_size": 4, "mode": 1, "max_bytes": max_bytes}


def test_partitions_share_the_bytes_and_the_records(world: World) -> None:
    first, nothing, last, unasked = Served((4, 100)), Served(None, isolation=1), Served((6, 50), isolation=1), Served((1, 1))
    loading = Served((1, 1))
    loading.is_ready = False
    fetch = world.fetch(first, loading, nothing, last, unasked)
    assert (fetch.partitions, world.attempt(fetch)) == (5, True)
    assert [one.asked for one in (first, nothing, last)] == [[asked(10, 225)], [asked(6, 225)], [asked(6, 225)]]
    assert (unasked.asked, loading.asked) == ([], [])
    assert cast("Any", fetch.acquirable) == [first, nothing, last, unasked]
    assert world.held == [(first, "m"), (last, "m")]
    # What was aborted is written, whether or not there was a record.
    assert world.written == [nothing, last]
    assert world.counted == [("the client", 150)]


def test_one_batch_is_larger_than_the_answer_and_no_second(world: World) -> None:
    # Small ones may be beyond the limit, together by 64 KiB.
    nothing, large, fits = Served(None, first=1 << 30), Served((1, 700), first=700), Served((1, 300), first=200 + 65_536)
    other, small = Served((1, 1), first=65_437), Served((1, 50), first=65_436)
    assert world.attempt(world.fetch(nothing, large, fits, other, small))
    assert [one.asked for one in (nothing, large, fits)] == [[asked(10, 180)], [asked(10, 180)], [asked(9, 180)]]
    assert (other.asked, small.asked) == ([], [asked(8, 1)])
    assert world.counted == [("the client", 1050)]


@pytest.mark.parametrize(("room", "max_bytes", "count", "share"), [(600, 900, 2, 300), (900, 500, 3, 166), (9, 1, 2, 1)])
def test_nobody_gets_more_than_there_is_room_for(world: World, room: int, max_bytes: int, count: int, share: int) -> None:
    world.room = room
    served = [Served() for _ in range(count)]
    assert not world.attempt(world.fetch(*served, max_bytes=max_bytes))
    assert [one.asked for one in served] == [[asked(10, share)]] * count
    assert world.counted == []


def test_one_record_more_is_asked_for_while_one_is_wanted(world: World) -> None:
    served = [Served((2, 1)), Served((7, 1)), Served((1, 1)), Served((1, 1))]
    assert world.attempt(world.fetch(*served))
    assert [[one["max_records"] for one in each.asked] for each in served] == [[10], [8], [1], []]


@pytest.mark.parametrize(
    ("least", "there", "enough"),
    [(1, (0, 0, 0), True), (2, (0, 0, 0), False), (2, (1, 0, 0), False), (2, (1, 0, 1), True),
     (50, (20, 9, 20), False), (50, (20, 9, 30), True),
     (50, (50, 0, 0), True), (51, (50, 0, 1), True)],
)  # fmt: skip
def test_least_bytes_are_those_of_all_partitions(world: World, least: int, there: tuple[int, int, int], enough: bool) -> None:
    # Of the second one nothing is at hand: it is asked for.
    served = [Served((1, 1), held=at != 1, there=count) for at, count in enumerate(there)]
    assert world.attempt(world.fetch(*served, min_bytes=least)) == enough
    assert [bool(one.asked) for one in served] == [enough] * 3
    if least > 1:
        assert served[0].looked_at == [(77, 300)]
        assert served[1].looked_at == []
        is_looked_for = there[0] < least
        assert served[1].expected == ([77] if is_looked_for else [])
        assert served[2].looked_at == ([(77, 300)] if is_looked_for else [])


def test_nothing_is_given_out_that_could_not_be_settled(world: World) -> None:
    served = Served((1, 1))
    world.writes.is_closed = True
    assert not world.attempt(world.fetch(served))
    assert served.asked == []


def test_a_fetch_is_over_when_every_partition_has_failed(world: World) -> None:
    one, other = Served((1, 1)), Served((1, 1))
    one.is_ready = other.is_ready = False
    assert not world.attempt(world.fetch(one, other))
    one.error_code = 6
    assert not world.attempt(world.fetch(one, other))
    other.error_code = 3
    fetch = world.fetch(one, other)
    assert world.attempt(fetch)
    # A full one has not failed.
    full = Served((1, 1))
    full.can_acquire = False
    assert not world.attempt(world.fetch(one, full))
    assert full.asked == []
    assert asyncio.run(world.wait_for(fetch, 60_000)) == {}


def test_who_does_not_wait_is_answered_at_once(world: World) -> None:
    async def test() -> None:
        empty, full = Served(), Served((3, 30))
        assert await world.wait_for(world.fetch(empty), 0) == {}
        assert await world.wait_for(world.fetch(empty), -1) == {}
        found = await world.wait_for(world.fetch(empty, full), 60_000)
        assert [(served, delivery.record_count) for served, delivery in found.items()] == [(full, 3)]
        assert (len(empty.asked), empty.waiting, world.line) == (3, {}, [])

    asyncio.run(test())


def test_when_the_time_is_over_any_bytes_are_enough(world: World) -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        delays: list[float] = []

        def call_later(delay: float, call: Callable[[], object]) -> asyncio.Handle:
            delays.append(delay)
            return loop.call_soon(call)

        loop.call_later = call_later  # type: ignore[assignment, method-assign]
        served, other = Served((3, 30), there=1), Served()
        fetch = world.fetch(served, other, min_bytes=5)
        found = await world.wait_for(fetch, 1_500)
        assert list(found) == [served]
        assert delays == [1.5]
        assert (served.waiting, other.waiting, world.line) == ({}, {}, [])
        # A moment is waited for, too.
        assert await world.wait_for(world.fetch(Served()), 1) == {}
        assert delays == [1.5, 0.001]

    asyncio.run(test())


async def _waits(world: World, fetch: WaitingFetch, *served: Served) -> asyncio.Task[dict[Any, Any]]:
    """Let a fetch wait for a minute."""
    task = asyncio.ensure_future(world.wait_for(fetch, 60_000))
    await asyncio.sleep(0)
    assert all(fetch in one.waiting for one in served)
    return task


def test_a_fetch_that_is_woken_leaves_every_line(world: World) -> None:
    async def test() -> None:
        one, other = Served(), Served()
        fetch = world.fetch(one, other)
        task = await _waits(world, fetch, one, other)
        assert world.line == []
        other.deliveries.append((2, 20))
        wake(cast("Any", world), cast("Any", other))
        found = await asyncio.wait_for(task, 20)
        assert list(found) == [other]
        assert (one.waiting, other.waiting) == ({}, {})
        # It is not tried once more.
        assert len(other.asked) == 2

    asyncio.run(test())


def test_a_fetch_without_room_stands_in_line_until_there_is_some(world: World) -> None:
    async def test() -> None:
        world.room = 0
        served = Served((2, 20))
        assert await world.wait_for(world.fetch(served), 0) == {}
        assert world.line == []
        task = await _waits(world, world.fetch(served), served)
        assert (len(world.line), served.asked) == (1, [])
        (again,) = world.line
        assert not again()
        assert world.line == [again]
        world.room = 100
        again()
        assert list(await asyncio.wait_for(task, 20)) == [served]
        assert (world.line, served.asked) == ([], [asked(10, 100)])
        # Room may go while it waits for records.
        served = Served()
        task = await _waits(world, world.fetch(served), served)
        world.room = 0
        served.deliveries.append((1, 1))
        wake(cast("Any", world), cast("Any", served))
        assert len(world.line) == 1
        world.room = 100
        world.line[0]()
        assert list(await asyncio.wait_for(task, 20)) == [served]

    asyncio.run(test())


def test_a_fetch_that_is_given_up_takes_nothing(world: World) -> None:
    async def test() -> None:
        served = Served()
        fetch = world.fetch(served)
        task = await _waits(world, fetch, served)
        served.deliveries.append((1, 1))
        fetch.give_up()
        assert await asyncio.wait_for(task, 20) == {}
        fetch.give_up()
        assert (world.attempt(fetch), len(served.asked), served.waiting) == (True, 1, {})

    asyncio.run(test())


class Waiting:
    """A fetch that is asked to try again, and takes what it takes."""

    def __init__(self, name: str, tried: list[str], served: Any, *, takes: bool, then: Callable[[], None] | None = None) -> None:
        self.name, self.tried, self.takes, self.then = name, tried, takes, then
        served.waiting[self] = None

    def attempt(self, _manager: object) -> bool:
        self.tried.append(self.name)
        if self.then is not None:
            self.then()
        return self.takes


@pytest.mark.parametrize(
    ("is_ready", "can_acquire", "held", "tried"),
    [
        (True, True, True, ["a", "b", "d"]),
        # The first that finds nothing where nothing is left is the last that is asked.
        (True, False, True, ["a", "b"]),
        (True, True, False, ["a", "b"]),
        # Where it is not served any more, all are told.
        (False, False, False, ["a", "b", "d"]),
    ],
)
def test_the_oldest_are_woken_first_while_there_is_something(
    is_ready: bool, can_acquire: bool, held: bool, tried: list[str]
) -> None:
    served = Served(held=held)
    served.is_ready, served.can_acquire = is_ready, can_acquire
    found: list[str] = []
    Waiting("a", found, served, takes=True, then=lambda: served.waiting.pop(leaves))
    Waiting("b", found, served, takes=False)
    leaves = Waiting("c", found, served, takes=False)
    Waiting("d", found, served, takes=False)
    wake(cast("Any", None), cast("Any", served))
    assert found == tried
