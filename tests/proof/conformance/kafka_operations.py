"""Operations that reach into Kafka's class, driven through the same notion of our own."""

from __future__ import annotations

from typing import Any

from share_state import ReadStateResult, RecordState, StateBatch
from share_state.arguments import InFlightStore

from .effective import PartitionState
from .kafka_names import expected_code
from .partition import Parked, PartitionUnderTest
from .recorded_writes import RecordedWrite
from .recordings import FormatError, Json, NotDrivable
from .settling import settle_timeouts


def injected(op: Json, template: PartitionUnderTest, store: InFlightStore) -> PartitionUnderTest:
    """A new share partition with the given state, as if a persister had answered with it.

    Records that somebody holds, or whose change is under way, cannot be had from a read.
    """
    state = PartitionState.recorded(op["state"])
    if state.status != "ACTIVE" or any(run.state == "ACQUIRED" or run.pending for run in state.runs):
        raise NotDrivable("state injection that no caller could produce")
    config = {
        "leader_epoch": template.leader_epoch,
        "max_in_flight": template.settings["partition_max_record_locks"],
        "max_delivery_count": template.settings["delivery_count_limit"],
        "record_lock_ms": template.settings["record_lock_duration_ms"] - 1,
        "initial_status": "EMPTY",
        "dlq_enabled": template.dead_letters_supplied,
    }
    under_test = PartitionUnderTest.create(config, store)
    batches = [StateBatch(run.first, run.last, RecordState[run.state], run.delivery_count) for run in state.runs]
    under_test.partition.initialize(ReadStateResult(state.state_epoch, state.start_offset, batches))
    return under_test


def lock_timeout(under_test: PartitionUnderTest, op: Json, now_ms: int) -> tuple[int, dict[int, Parked]]:
    """Fire the timeout of exactly one range now.

    Kafka's test calls the timer's body, which finds its batch or offset by these borders; a timer of borders that are
    not tracked any more was cancelled and changes nothing. Our locks end by the clock only, so everything else due by then
    is renewed first (a renewal changes nothing but the deadline) and the clock is moved to the deadline of
    the range. Returns the new reading of the clock.
    """
    partition = under_test.partition
    first, last = op["first"], op["last"]
    held = [run for run in partition.in_flight() if run.state == RecordState.ACQUIRED and not run.pending]
    inside = [run for run in held if run.first_offset <= last and run.last_offset >= first]
    if not inside or not _timed(under_test.recorded_batches, first, last):
        return now_ms, settle_timeouts(under_test, [op], now_ms)
    deadline = max(run.deadline_ms or now_ms for run in inside)
    # Longer than the lock of the range, so that a lock renewed now outlives it in any case.
    duration = deadline - now_ms + under_test.settings["record_lock_duration_ms"] + 1
    for run in held:
        for part_first, part_last in _outside(run.first_offset, run.last_offset, first, last):
            if (run.deadline_ms or now_ms) > deadline:
                continue
            if part_first < partition.start_offset:
                raise NotDrivable("a single timeout beside a lock that cannot be renewed")
            under_test.renew(run.member or "", [(part_first, part_last)], duration, now_ms)
    now_ms = max(now_ms, deadline)
    partition.handle_timeout(now_ms=now_ms)
    return now_ms, settle_timeouts(under_test, [op], now_ms)


def _timed(batches: list[Any], first: int, last: int) -> bool:
    """Returns true if Kafka has a lock timer of exactly these borders: one a batch, or one an offset it tracks alone."""
    for batch in batches:
        if not isinstance(batch, dict):
            if batch[:2] == [first, last] and batch[5]:
                return True
        elif first == last:
            if any(low <= first <= high and armed for low, high, _, _, _, armed, _ in batch["offsets"]):
                return True
    return False


def _outside(first: int, last: int, hole_first: int, hole_last: int) -> list[tuple[int, int]]:
    """``[first, last]`` without ``[hole_first, hole_last]``."""
    if hole_last < first or hole_first > last:
        return [(first, last)]
    parts = [(first, hole_first - 1), (hole_last + 1, last)]
    return [(low, high) for low, high in parts if low <= high]


def write_state(under_test: PartitionUnderTest, op: Json, store: InFlightStore) -> None:
    """Only the way from the persister's answer to the member's exception is of interest.

    A write of ours comes from a change, so a scratch share partition makes one: a record acquired and
    accepted, whose write gets the recorded answer.
    """
    if len(op["persister_writes"]) != 1:
        raise FormatError("write_state with other than one payload")
    answer = RecordedWrite.parse(op["persister_writes"][0])
    expected = op["expect"]["result"]
    code = answer.error_code
    if code is None:
        raise FormatError("write_state without an answer")
    if code == 0 and expected == {"error": "IllegalStateException"}:
        # Refused although the code says success: it was for another partition, which is not recorded.
        code = -1
    partition = _scratch(answer.leader_epoch, 30_000, store).partition
    partition.acquire("member-1", [(0, 0)], max_records=1, now_ms=0)
    token = partition.acknowledge("member-1", 0, 0, now_ms=0)
    if token is None:
        under_test.notice("write", "one", "nothing to write")
        return
    partition.poll_write()
    seen = partition.handle_write_result(token, code, now_ms=0)
    if seen != expected_code(expected):
        under_test.notice("answer to the member", expected, f"code {seen}")


def schedule_lock(under_test: PartitionUnderTest, op: Json, store: InFlightStore) -> None:
    """Only for how long the lock runs is of interest: as long as the group configuration says at that moment.

    Our locks exist with a record only, so a scratch share partition acquires these records under that configuration.
    """
    if op["expect"]["result"] != "AcquisitionLockTimerTask":
        raise FormatError(f"unknown outcome of schedule_lock: {op['expect']['result']}")
    duration = under_test.settings["record_lock_duration_ms"]
    partition = _scratch(under_test.leader_epoch, duration - 1, store).partition
    first, last = op["first"], op["last"]
    partition.acquire(op["member"], [(first, last)], max_records=last - first + 1, now_ms=0)
    locks = [(run.first_offset, run.last_offset, run.member, run.deadline_ms) for run in partition.in_flight()]
    if locks != [(first, last, op["member"], duration)]:
        under_test.notice("lock", (first, last, op["member"], duration), locks)


def _scratch(leader_epoch: int, record_lock_ms: int, store: InFlightStore) -> PartitionUnderTest:
    """An empty, active share partition beside the one under test."""
    scratch = PartitionUnderTest.create(
        {
            "leader_epoch": leader_epoch,
            "max_in_flight": 200,
            "max_delivery_count": 5,
            "record_lock_ms": record_lock_ms,
            "initial_status": "EMPTY",
            "dlq_enabled": False,
        },
        store,
    )
    scratch.partition.initialize(ReadStateResult(0, 0, []))
    return scratch


__all__ = ["injected", "lock_timeout", "schedule_lock", "write_state"]
