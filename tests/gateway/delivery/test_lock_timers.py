"""The timer of locks, on a clock that stands still: when it is set, and whom it calls."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway import lock_timers
from share_state.gateway.lock_timers import LockTimers

START = 1_000_000


class Handle:
    """A timer that has been set."""

    def __init__(self, delay: float, call: Callable[[], None]) -> None:
        self.delay = delay
        self.call = call
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """The clock of locks, and the event loop's timers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        self.handles: list[Handle] = []
        loop = SimpleNamespace(call_later=self.call_later)
        monkeypatch.setattr(lock_timers, "lock_ms", lambda: self.now)
        monkeypatch.setattr(lock_timers, "asyncio", SimpleNamespace(get_running_loop=lambda: loop))

    def call_later(self, delay: float, call: Callable[[], None]) -> Handle:
        self.handles.append(Handle(delay, call))
        return self.handles[-1]

    @property
    def set_for(self) -> list[float]:
        """The delays of what is set now; there is one timer at most."""
        return [one.delay for one in self.handles if not one.is_cancelled]

    def fire(self, at: int) -> None:
        """Call the timer at a time."""
        self.now = START + at
        (handle,) = [one for one in self.handles if not one.is_cancelled]
        handle.is_cancelled = True
        handle.call()


class Partition:
    """A share partition whose locks end at these times; what is due goes when it is called."""

    def __init__(self, *deadlines: int) -> None:
        self.deadlines = [START + one for one in deadlines]
        self.engine = SimpleNamespace(poll_timeout=lambda: min(self.deadlines, default=None))


class Timers:
    """The timers, and who was called."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.due: list[Partition] = []
        self.timers = LockTimers(cast("Any", self._due))

    def _due(self, partition: Partition) -> None:
        self.due.append(partition)
        partition.deadlines = [one for one in partition.deadlines if one > self.clock.now]

    def arm(self, *partitions: Partition) -> None:
        for one in partitions:
            self.timers.arm(cast("Any", one))


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    return Timers(Clock(monkeypatch))


def test_the_timer_is_set_for_the_earliest_lock(timers: Timers) -> None:
    clock = timers.clock
    timers.arm(Partition())
    assert clock.handles == []
    timers.arm(Partition(5_000))
    assert clock.set_for == [5.0]
    timers.arm(Partition(7_000), Partition(5_000))
    assert len(clock.handles) == 1
    timers.arm(Partition(4_999))
    assert clock.set_for == [4.999]
    # What is due already is due now.
    timers.arm(Partition(-3_000))
    assert clock.set_for == [0.0]
    assert [one.is_cancelled for one in clock.handles] == [True, True, False]


def test_who_is_due_is_called_in_the_order_of_its_locks(timers: Timers) -> None:
    partitions = [Partition(3_000), Partition(1_000), Partition(2_000), Partition(2_000), Partition(2_001, 9_000)]
    timers.arm(*partitions)
    timers.clock.fire(2_000)
    assert timers.due == [partitions[1], partitions[2], partitions[3]]
    assert timers.clock.set_for == [0.001]
    timers.clock.fire(2_500)
    assert timers.due[3:] == [partitions[4]]
    assert timers.clock.set_for == [0.5]
    timers.clock.fire(3_000)
    # It has locks that end later.
    assert (timers.due[4:], timers.clock.set_for) == ([partitions[0]], [6.0])
    timers.clock.fire(9_000)
    assert (timers.due[5:], timers.clock.set_for) == ([partitions[4]], [])


def test_one_that_is_armed_again_is_called_once_for_each_time(timers: Timers) -> None:
    one, other = Partition(5_000), Partition(6_000)
    timers.arm(one, one, other)
    one.deadlines.append(START + 8_000)
    timers.arm(one)
    assert len(timers.timers._heap) == 2
    # A shorter lock.
    one.deadlines.append(START + 2_000)
    timers.arm(one)
    assert timers.clock.set_for == [2.0]
    timers.clock.fire(2_000)
    assert (timers.due, timers.clock.set_for) == ([one], [3.0])
    # The old place of the first finds it armed again, and the other follows.
    timers.clock.fire(6_000)
    assert (timers.due[1:], timers.clock.set_for) == ([one, other], [2.0])
    timers.clock.fire(8_000)
    assert (timers.due[3:], timers.clock.set_for) == ([one], [])
    # With nothing in it, it begins anew, for later locks too.
    other.deadlines.append(START + 20_000)
    timers.arm(other)
    assert timers.clock.set_for == [12.0]


def test_an_old_place_does_not_call_nor_stop_those_that_follow(timers: Timers) -> None:
    one, other = Partition(5_000), Partition(5_000)
    timers.arm(one, other)
    one.deadlines = [START + 1_000, START + 9_000]
    timers.arm(one)
    timers.clock.fire(1_000)
    assert (timers.due, timers.clock.set_for) == ([one], [4.0])
    timers.clock.fire(5_000)
    assert (timers.due, timers.clock.set_for) == ([one, other], [4.0])
    # Of two that are due at one time the one that was armed first comes first, even though they cannot be compared.
    three = [Partition(9_000) for _ in range(3)]
    timers.arm(*three)
    timers.clock.fire(9_000)
    assert timers.due[2:] == [one, *three]


def test_nobody_is_called_after_the_end(timers: Timers) -> None:
    timers.timers.close()
    timers.arm(Partition(5_000))
    timers.timers.close()
    assert timers.clock.set_for == []
    assert not timers.timers._heap
    assert not timers.timers._armed
