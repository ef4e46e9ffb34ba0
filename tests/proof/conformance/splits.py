"""A clock of the recorder that stood still, and what it did to locks when Kafka split a batch.

When Kafka begins to track a batch offset by offset it starts a timer for each, with the time that remains of the
batch's (§1.8, §1.10). It reckons that from its wall clock, which the recorder never moved: only the timers' clock
went on. So in every recording the remaining time came out as the whole lock duration, counted from the split.
share_state has one clock and keeps the remaining time, as Kafka does in service.

To replay such a recording the adapter renews the locks of a batch right before the operation that splits it,
which gives them the same deadlines; a renewal changes nothing else.
"""

from __future__ import annotations

from typing import Any

from share_state import RecordState

from .partition import PartitionUnderTest
from .recordings import Json, NotDrivable


def restart_split_locks(under_test: PartitionUnderTest, op: Json, now_ms: int) -> None:
    """Give the locks of every batch this operation splits the whole duration from now on."""
    if "state" not in op or op["op"] in ("advance_clock", "lock_timeout", "create", "inject_state"):
        return
    split = split_batches(under_test.recorded_batches, op["state"]["batches"])
    if not split:
        return
    start = under_test.partition.start_offset
    duration = under_test.settings["record_lock_duration_ms"]
    deadline = now_ms + duration
    for run in under_test.partition.in_flight():
        if run.state != RecordState.ACQUIRED or run.pending or run.deadline_ms == deadline:
            continue
        for first, last in split:
            low, high = max(first, run.first_offset), min(last, run.last_offset)
            if low > high:
                continue
            if low < start:
                # A member has nothing to say of what lies below the start offset, renewals included.
                under_test.early_locks.append((low, min(high, start - 1), deadline))
                low = start
            if low <= high:
                under_test.renew(run.member or "", [(low, high)], duration, now_ms)


def refuse_early_timeouts(under_test: PartitionUnderTest, now_ms: int) -> None:
    """A lock that could not be renewed must not end while Kafka's lasts: then the rest is not comparable."""
    if not under_test.early_locks:
        return
    for run in under_test.partition.in_flight():
        if run.deadline_ms is None or run.deadline_ms > now_ms:
            continue
        for first, last, until in under_test.early_locks:
            if run.first_offset <= last and run.last_offset >= first and now_ms < until:
                raise NotDrivable(
                    "the recorder's wall clock stood still when a batch was split, and its lock "
                    "below the start offset cannot be renewed to match"
                )


def split_batches(before: list[Any], after: list[Any]) -> list[tuple[int, int]]:
    """Batches somebody holds as a whole before, and tracked offset by offset after."""
    by_offset = {batch["first"] for batch in after if isinstance(batch, dict)}
    return [
        (batch[0], batch[1])
        for batch in before
        if not isinstance(batch, dict) and batch[2] == "ACQUIRED" and batch[5] and batch[0] in by_offset
    ]
