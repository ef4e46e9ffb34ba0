"""Locks that fall below the start offset: their deadlines are set while their holder can still renew them.

A recorded sequence may end such a lock by hand (``lock_timeout``), or split its batch, which in the recorder's world
gives its locks the whole duration again (``splits.py``). With us nobody can do either: a lock ends by the clock, and a
member has nothing to say of what lies below the start offset. But the recording tells what will come. So right before
the log start passes a held record its lock is renewed to the moment at which the recorded one ends; a renewal changes
nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from share_state import RecordState

from .partition import PartitionUnderTest
from .recordings import Json
from .splits import split_batches


def set_deadlines_before_log_start_passes(under_test: PartitionUnderTest, ops: Sequence[Json], index: int, now_ms: int) -> None:
    """Give what operation ``index`` will put below the start offset the deadlines that the recording shows later."""
    op = ops[index]
    start, log_start = under_test.partition.start_offset, op["log_start_offset"]
    passed = [
        run
        for run in under_test.partition.in_flight()
        if run.state == RecordState.ACQUIRED and not run.pending and start <= run.last_offset and run.first_offset < log_start
    ]
    if not passed:
        return
    fates = _fates(under_test, ops, index, now_ms)
    for run in passed:
        low, high = max(run.first_offset, start), min(run.last_offset, log_start - 1)
        for first, last, deadline, by_hand in fates:
            if first > high or last < low:
                continue
            at = (run.deadline_ms or now_ms) + by_hand if deadline is None else deadline
            under_test.renew(run.member or "", [(max(first, low), min(last, high))], at - now_ms, now_ms)


def _fates(
    under_test: PartitionUnderTest, ops: Sequence[Json], index: int, now_ms: int
) -> list[tuple[int, int, int | None, int]]:
    """Ranges with the deadline that their lock gets, in the order in which they are to be set.

    A lock that is ended by hand has no time of its own (``None``): it only has to end after those ended before it, so
    it gets as many milliseconds more as there are operations between.
    """
    partition_index = ops[index].get("partition_index", 0)
    batches = under_test.recorded_batches
    duration = under_test.settings["record_lock_duration_ms"]
    split: list[tuple[int, int, int | None, int]] = []
    by_hand: list[tuple[int, int, int | None, int]] = []
    clock = now_ms
    for place in range(index + 1, len(ops)):
        op = ops[place]
        if op["op"] == "advance_clock":
            clock += op["ms"]
        of_this = [state for state in op.get("states", ()) if state["partition_index"] == partition_index]
        if op.get("partition_index", 0) == partition_index:
            if op["op"] in ("create", "inject_state"):
                break
            if op["op"] == "lock_timeout":
                by_hand.append((op["first"], op["last"], None, place - index))
            elif "state" in op and op["op"] != "advance_clock":
                split += [(first, last, clock + duration, 0) for first, last in split_batches(batches, op["state"]["batches"])]
            if "state" in op:
                of_this.append(op["state"])
        for state in of_this:
            batches = state["batches"]
    return [*split, *by_hand]
