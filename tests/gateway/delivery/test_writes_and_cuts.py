"""Reports on the writes of a round, and what becomes of share partitions whose log was cut."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

import share_state as ss
from share_state.gateway.counts import Counts
from share_state.gateway.share_partitions import ServedPartition
from share_state.gateway.truncation import Truncation
from share_state.gateway.writes import WritePump
from tests.gateway.delivery.test_writes import served

#: Answer of a store to a round: by partition, or an exception.
Outcome = Exception | None


class Pump:
    """A pump over a store that answers what a test says, on a clock that goes on by itself."""

    def __init__(self, executor: ThreadPoolExecutor, answer: Callable[[int], Outcome], *, fails: Exception | None = None) -> None:
        self.answer, self.fails = answer, fails
        self.asked: list[list[int]] = []
        self.told: list[tuple[int, int, int]] = []
        self.counts = Counts()
        self.writes = WritePump(cast("Any", self), executor, self._settled, self.counts)

    def write_states(self, requests: Iterable[tuple[ss.SharePartitionKey, ss.WriteState]]) -> list[Outcome]:
        numbers = [key.partition for key, _ in requests]
        self.asked.append(numbers)
        if self.fails is not None:
            raise self.fails
        return [self.answer(number) for number in numbers]

    def _settled(self, where: ServedPartition, token: int, code: int) -> None:
        self.told.append((where.key.partition, token, code))
        where.engine.handle_write_result(token, code, now_ms=0)


def run(
    test: Callable[[Pump], Any], answer: Callable[[int], Outcome] = lambda _: None, *, fails: Exception | None = None
) -> Pump:
    async def all_of_it() -> Pump:
        with ThreadPoolExecutor(1) as executor:
            pump = Pump(executor, answer, fails=fails)
            await test(pump)
            await asyncio.wait_for(pump.writes.close(), 20)
            return pump

    return asyncio.run(all_of_it())


def changed(number: int, *offsets: int) -> ServedPartition:
    """A share partition with an acknowledgement of each of these offsets to write."""
    one = served(number)
    one.is_ready = True
    for offset in offsets:
        one.engine.acknowledge("alice", offset, offset, now_ms=0)
    return one


def test_each_write_is_answered_with_its_own_code() -> None:
    answers: dict[int, Outcome] = {
        1: ss.FencedLeaderEpochError("another"),
        2: ss.StoreError("full"),
        3: RuntimeError("a bug"),
        4: ss.UnknownPartitionError("gone"),
    }

    async def test(pump: Pump) -> None:
        assert (pump.writes.is_failing, pump.writes.is_closed) == (False, False)
        for number in (0, 1, 2, 3, 4):
            pump.writes.add(changed(number, 0))
        # Nothing to write.
        pump.writes.add(served(5))

    pump = run(test, answers.get)
    assert pump.asked == [[0, 1, 2, 3, 4]]
    assert pump.told == [(0, 0, 0), (1, 0, 74), (2, 0, -1), (3, 0, -1), (4, 0, 3)]
    assert (pump.writes.is_failing, pump.writes.is_closed) == (True, True)


def test_a_log_that_failed_stays_closed_although_it_answers_again(caplog: pytest.LogCaptureFixture) -> None:
    states: list[tuple[bool, bool]] = []

    async def test(pump: Pump) -> None:
        full: dict[int, Outcome] = {0: ss.StoreError("full")}
        for answers, fails in ((full, None), ({}, None), ({}, OSError("odd"))):
            pump.answer, pump.fails = answers.get, fails
            pump.writes.add(changed(0, 0))
            await pump.writes.close()
            states.append((pump.writes.is_failing, pump.writes.is_closed))

    pump = run(test)
    assert states == [(True, True), (False, True), (True, True)]
    assert [code for _, _, code in pump.told] == [-1, 0, -1]
    assert caplog.messages == ["the store refuses writes: OSError('odd')"]


@pytest.mark.parametrize(("fails", "is_closed"), [(OSError("odd"), False), (ss.StoreError("closed"), True)])
def test_a_round_that_fails_as_a_whole_fails_each_write(fails: Exception, is_closed: bool) -> None:
    kept: list[Any] = []

    async def test(pump: Pump) -> None:
        # Two writes of one share partition cannot be in one round: the second waits for the first.
        for number in (0, 1):
            pump.writes.add(changed(number, 0))
        kept.append(await pump.writes.keep_start(changed(2)))

    pump = run(test, fails=fails)
    assert pump.asked[0] == [0, 1, 2]
    assert [code for _, _, code in pump.told] == [-1, -1]
    assert kept == [None]
    assert (pump.writes.is_failing, pump.writes.is_closed) == (True, is_closed)


def test_starts_are_kept_beside_the_changes_where_there_is_none() -> None:
    loading, quiet, busy, refused, late = served(0), changed(1), changed(2, 0), changed(3), changed(4, 0)
    kept: list[Any] = []

    async def test(pump: Pump) -> None:
        waits = [asyncio.ensure_future(pump.writes.keep_start(one)) for one in (loading, quiet, busy, refused)]
        cancelled = [asyncio.ensure_future(pump.writes.keep_start(one)) for one in (quiet, loading)]
        await asyncio.sleep(0)
        for one in cancelled:
            one.cancel()
        pump.writes.add(busy)
        pump.writes.add(late)
        kept.extend(await asyncio.gather(*waits))

    pump = run(test, lambda number: ss.FencedStateEpochError("no") if number == 3 else None)
    assert pump.asked == [[2, 4, 1, 3, 1]]
    assert pump.told == [(2, 0, 0), (4, 0, 0)]
    state = ss.WriteState(quiet.engine.state_epoch, quiet.engine.leader_epoch, 0, 0, [])
    # One that is loading and one that is being written keep nothing; one was refused.
    assert kept == [None, state, None, None]
    # The store has refused a request, but takes others.
    assert (pump.writes.is_failing, pump.writes.is_closed) == (False, False)


def test_times_are_counted_from_the_first_that_gathers(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr("share_state.gateway.writes.time", clock)

    async def test(pump: Pump) -> None:
        def answer(_: int) -> Outcome:
            clock.now += 16.0
            return None

        pump.answer = answer
        settled = pump._settled

        def settle(*told: Any) -> None:
            clock.now += 32.0
            settled(*told)

        pump.writes._settled = settle
        for clock.now, number in ((101.0, 0), (103.0, 1)):
            pump.writes.add(changed(number, 0))
        clock.now = 105.0
        await pump.writes.close()
        # Two writes took 16 s each, and their answers 32 s.
        assert [one.total for one in _times(pump)] == [4.0, 32.0, 64.0]
        # An offset that is to be kept is the first of the next round; a change comes later.
        clock.now = 300.0
        kept = asyncio.ensure_future(pump.writes.keep_start(changed(2)))
        await asyncio.sleep(0)
        clock.now = 302.0
        pump.writes.add(changed(3, 0))
        clock.now = 303.0
        await kept
        await pump.writes.close()
        assert [one.total for one in _times(pump)] == [7.0, 64.0, 96.0]
        # A round without a write has no times.
        pump.writes.add(served(5))
        await pump.writes.close()
        assert [sum(one.buckets) for one in _times(pump)] == [2, 2, 2]

    run(test)


def _times(pump: Pump) -> list[Any]:
    return [pump.counts.queue_times, pump.counts.write_times, pump.counts.settle_times]


class Cut:
    """A share partition in memory as a cut finds it."""

    def __init__(self, start_offset: int, end_offset: int, *, is_ready: bool = True) -> None:
        self.is_ready = is_ready
        self.engine = SimpleNamespace(start_offset=start_offset, end_offset=end_offset)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("rewinds", [False, True])
def test_who_has_seen_the_offsets_that_were_cut_is_held(caplog: pytest.LogCaptureFixture, fails: bool, rewinds: bool) -> None:
    caplog.set_level(logging.WARNING, "share_state.gateway")
    did: list[Any] = []
    #: The cut is at 10. An end is the offset of the last record, a start that of the next one.
    below, up_to, beyond, started, at, loading = (
        Cut(0, 8),
        Cut(0, 9),
        Cut(0, 10),
        Cut(11, 10),
        Cut(10, 9),
        Cut(0, 50, is_ready=False),
    )
    readers = [
        SimpleNamespace(topic="t", topic_id="id", partition=3, served=[below, up_to, beyond, loading]),
        # One may be all that there is: the place is that of the first.
        SimpleNamespace(served=[started, at]),
    ]

    def truncated(*place: Any) -> int:
        # In the threads that wait for the disk.
        assert threading.current_thread().name.startswith("own")
        did.append(place)
        if fails:
            raise ss.StoreError("it is full")
        return 2

    manager = SimpleNamespace(hold=lambda one: did.append(("held", one)), let_go=lambda one: did.append(("let go", one)))

    async def test() -> None:
        with ThreadPoolExecutor(1, thread_name_prefix="own") as executor:
            store = SimpleNamespace(log_truncated=truncated)
            truncation = Truncation(cast("Any", store), executor, cast("Any", manager), rewinds=rewinds)
            truncation.begin(cast("Any", readers), 10)
            # They are held at once, whenever the store is done.
            assert did == ([("held", beyond), ("held", started)] if rewinds else [])
            assert len(truncation._tasks) == rewinds
            await asyncio.gather(*truncation._tasks)
            await asyncio.sleep(0)
            assert truncation._tasks == set()

    asyncio.run(test())
    place = "topic='t' topic_id='id' partition=3"
    if not rewinds:
        assert (did, caplog.messages) == ([], [])
        return
    assert did[2:] == [("id", 3, 10), ("let go", beyond), ("let go", started)]
    said = "states were not truncated at offset 10: it is full" if fails else "the states of 2 groups were truncated at offset 10"
    assert caplog.messages == [f"{said}: {place}"]
