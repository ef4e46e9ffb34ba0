"""The operations of a share-partition recording, one method each, driven through the public API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from share_state import AcquireMode, ReadStateResult
from share_state.errors import EnginePoisonedError, SharePartitionNotActiveError, ShareStateError

from . import invariants, kafka_operations
from .deliberate import RENEW, Range, refused_where_kafka_throws, renewals_kept
from .effective import PartitionState
from .foresight import set_deadlines_before_log_start_passes
from .initialization import initialize
from .kafka_names import INVALID_RECORD_STATE, INVALID_REQUEST, expected_code, persister_code
from .partition import Parked, PartitionUnderTest
from .recorded_writes import answer_within, dead_letters_of, writes_of
from .recordings import FormatError, Json
from .settling import catch_up, settle_member_write, settle_timeouts
from .sound_starts import before_refusal, full_for_kafka_alone, ignored_by_kafka, same_room
from .splits import refuse_early_timeouts, restart_split_locks
from .transactions import fetched_batches
from .ways import Way

Operation = Callable[[Json], None]


class Replay:
    """The share partitions of one scenario, the recorded clock and the answers still to come."""

    def __init__(self, way: Way, ops: Sequence[Json]) -> None:
        self.way = way
        #: All operations, because what comes says which deadlines the recorder gave its locks.
        self.ops = ops
        self.index = 0
        self.now_ms = 0
        self.partitions: dict[int, PartitionUnderTest] = {}
        self.parked: dict[int, Parked] = {}
        self._operations: dict[str, Operation] = {
            "create": self._create,
            "inject_state": self._inject_state,
            "initialize": self._initialize,
            "acquire": self._acquire,
            "acknowledge": self._acknowledge,
            "release_session": self._release_session,
            "advance_clock": self._advance_clock,
            "lock_timeout": self._lock_timeout,
            "persister_completes": self._persister_completes,
            "dead_letters_complete": self._dead_letters_complete,
            "move_log_start_offset": self._move_log_start_offset,
            "next_fetch_offset": self._next_fetch_offset,
            "can_acquire_records": self._can_acquire_records,
            "mark_fenced": self._mark_fenced,
            "set_find_next_fetch_offset": self._nothing_to_do,
            "find_last_acknowledged": self._find_last_acknowledged,
            "schedule_lock": self._schedule_lock,
            "write_state": self._write_state,
        }

    def run(self, index: int) -> None:
        """Drive one operation; what differs is noticed on the partitions."""
        self.index, op = index, self.ops[index]
        kind = op["op"]
        if kind not in self._operations:
            raise FormatError(f"operation {kind} cannot be driven")
        if kind not in ("create", "inject_state"):
            restart_split_locks(self.at(op), op, self.now_ms)
            self.at(op).configure(op.get("group_config", {}), self._renews(op))
        self._operations[kind](op)
        for number, partition in self.partitions.items():
            catch_up(partition, self.parked.values(), self._recorded_after(op, number), self.now_ms)
        # A payload that no operation asked for would otherwise stay in the queue unseen.
        for partition in self.partitions.values():
            for write in partition.poll_writes():
                partition.notice("unexpected write", "none", write)

    def is_half_answered(self, under_test: PartitionUnderTest) -> bool:
        """True once Kafka has archived some of the dead letters that one write of ours waits for (S2): ours has no such state."""
        parked = self.parked.values()
        return any(each.partition is under_test and not each.done and each.letters for each in parked)

    def _renews(self, op: Json) -> bool | None:
        """True if renewals are allowed; ``None`` where the operation has none.

        Where settings are recorded, they are not unless this operation says so. A recording without any, as of a release
        that has no such switch, shows it by the answer.
        """
        if op["op"] != "acknowledge" or not any(RENEW in _types(batch[2]) for batch in op.get("batches", ())):
            return None
        if not any("group_config" in each for each in self.ops):
            return bool(op["expect"]["result"] != {"error": "InvalidRecordStateException"})
        return bool(op.get("group_config", {}).get("isRenewAcknowledgeEnabled", False))

    def at(self, op: Json) -> PartitionUnderTest:
        """The share partition an operation speaks of."""
        index = op.get("partition_index", 0)
        if index not in self.partitions:
            raise FormatError(f"partition {index} was never created")
        return self.partitions[index]

    def _create(self, op: Json) -> None:
        under_test = PartitionUnderTest.create(op["config"], self.way.store)
        # A restart: the recorder starts a new timer with the next leader, so the locks of the one before never end.
        for before in self.partitions.values():
            if before.stopped_at is None and before.leader_epoch < under_test.leader_epoch:
                before.stopped_at = self.now_ms
        self.partitions[op.get("partition_index", 0)] = under_test
        status = op["config"]["initial_status"]
        if status == "ACTIVE":
            # Kafka's test object is made active without a read; an empty answer comes to the same.
            under_test.partition.initialize(ReadStateResult(0, 0, []))
        elif status != "EMPTY":
            raise FormatError(f"unknown initial status {status}")

    def _inject_state(self, op: Json) -> None:
        template = self.partitions.get(0)
        if template is None:
            raise FormatError("inject_state before any create")
        self.partitions[op["partition_index"]] = kafka_operations.injected(op, template, self.way.store)

    def _initialize(self, op: Json) -> None:
        initialize(self.at(op), op, self.now_ms)

    def _acquire(self, op: Json) -> None:
        under_test = self.at(op)
        fetched = fetched_batches(op)
        aborted = [(entry["producer_id"], entry["first_offset"]) for entry in op.get("aborted_transactions", ())]
        expect = op["expect"]
        if full_for_kafka_alone(under_test) and expect.get("acquired") == []:
            return
        try:
            with same_room(under_test):
                ranges = under_test.partition.acquire(
                    op["member"],
                    fetched,
                    fetch_offset=op["fetch_offset"],
                    max_records=op["max_fetch_records"],
                    batch_size=op["batch_size"],
                    mode=AcquireMode[op["mode"].upper()],
                    now_ms=self.now_ms,
                    aborted=aborted if op["isolation"] == "TXN_COMMITTED" else (),
                )
        except SharePartitionNotActiveError as error:
            # Kafka gives nothing (S9).
            if expect.get("acquired") != []:
                under_test.notice("acquire", expect, repr(error))
            return
        except ShareStateError as error:
            _refuse_poisoned(error)
            wanted = expected_code(expect["result"]) if "result" in expect else 0
            if error.kafka_code != wanted:
                under_test.notice("acquire", expect, repr(error))
            return
        start = under_test.partition.start_offset
        limit = op["max_fetch_records"] if op["mode"] == "record_limit" else None
        under_test.noticed += invariants.acquired(ranges, start, op["fetched_batches"], limit)
        acquired = [[r.first_offset, r.last_offset, r.delivery_count] for r in ranges]
        count = sum(last - first + 1 for first, last, _ in acquired)
        if "result" in expect:
            under_test.notice("acquire", expect, acquired)
        elif acquired != expect["acquired"]:
            under_test.notice("acquired ranges", expect["acquired"], acquired)
        elif count != expect["count"]:
            under_test.notice("acquired count", expect["count"], count)

    def _acknowledge(self, op: Json) -> None:
        under_test = self.at(op)
        given: list[Range] = [(first, last, _types(types)) for first, last, types in op["batches"]]
        batches = ignored_by_kafka(under_test, given)
        refused = isinstance(op["expect"]["result"], dict) and not op.get("persister_writes")
        earlier = before_refusal(under_test, batches) if refused else None
        if earlier is not None and expected_code(op["expect"]["result"]) in (INVALID_RECORD_STATE, INVALID_REQUEST):
            self._renew_as_kafka_did(under_test, op["member"], earlier)
            return
        if given and not batches:
            under_test.check_member_code(op["expect"]["result"], 0)
            return

        def acknowledge() -> None:
            under_test.partition.acknowledge_batches(op["member"], batches, now_ms=self.now_ms)

        if not self._member_call(under_test, op, acknowledge) and refused:
            self._renew_as_kafka_did(under_test, op["member"], batches)

    def _renew_as_kafka_did(self, under_test: PartitionUnderTest, member: str, batches: Sequence[Range]) -> None:
        """Deliberate difference V2: a refused request renews nothing with us, so these renewals are sent on their own."""
        if under_test.settings.get("renew_acknowledge_enable", False):
            kept = renewals_kept(under_test.partition, member, batches)
            under_test.renew(member, kept, under_test.settings["record_lock_duration_ms"], self.now_ms)

    def _release_session(self, op: Json) -> None:
        under_test = self.at(op)
        self._member_call(under_test, op, lambda: under_test.partition.release(op["member"], now_ms=self.now_ms))

    def _member_call(self, under_test: PartitionUnderTest, op: Json, call: Callable[[], object]) -> bool:
        """Drive a member's request; whether it was not refused at once."""
        expected = op["expect"]["result"]
        answer = answer_within(writes_of(op)) if self.way.is_inline else None
        answered = None
        try:
            if answer is None:
                call()
            else:
                answered = under_test.answered_within(call, answer)
        except ShareStateError as error:
            _refuse_poisoned(error)
            under_test.record_writes(writes_of(op))
            if refused_where_kafka_throws(expected, error.kafka_code):
                return False
            under_test.check_member_code(expected, -2 if error.kafka_code is None else error.kafka_code)
            return False
        parked = settle_member_write(under_test, op, expected, self.now_ms, answered)
        if parked is not None:
            self.parked.update(parked)
        return True

    def _advance_clock(self, op: Json) -> None:
        fired = op.get("lock_timeouts_fired", [])
        named = self.partitions[op["partition_index"]] if "partition_index" in op else None
        if named is not None and named.stopped_at is not None:
            # Time passes for an earlier leader alone, on its own clock.
            named.stopped_at += op["ms"]
            named.partition.handle_timeout(now_ms=named.stopped_at)
            self.parked.update(settle_timeouts(named, fired, named.stopped_at))
            return
        self.now_ms += op["ms"]
        for index, under_test in self.partitions.items():
            if under_test.stopped_at is not None:
                continue
            refuse_early_timeouts(under_test, self.now_ms)
            under_test.partition.handle_timeout(now_ms=self.now_ms)
            mine = [timeout for timeout in fired if self._owner(timeout, op) == index]
            self.parked.update(settle_timeouts(under_test, mine, self.now_ms))

    def _recorded_after(self, op: Json, index: int) -> PartitionState | None:
        """The recorded state of a partition once this operation is through."""
        for state in op.get("states", ()):
            if state["partition_index"] == index:
                return PartitionState.recorded(state)
        if "state" in op and op.get("partition_index", 0) == index:
            return PartitionState.recorded(op["state"])
        return self.partitions[index].recorded

    def _owner(self, timeout: Json, op: Json) -> int | None:
        """Partition to which a fired timeout belongs: told by the epoch in its payload.

        A timeout without a payload found nothing to change, so it belongs to nobody.
        """
        writes = writes_of(timeout)
        if not writes:
            return None
        epoch = writes[0].leader_epoch
        owners = [i for i, p in self.partitions.items() if p.leader_epoch == epoch]
        if op.get("partition_index", 0) in owners:
            return int(op.get("partition_index", 0))
        return owners[-1] if owners else None

    def _lock_timeout(self, op: Json) -> None:
        self.now_ms, parked = kafka_operations.lock_timeout(self.at(op), op, self.now_ms)
        self.parked.update(parked)

    def _persister_completes(self, op: Json) -> None:
        parked = self.parked.pop(op["async_id"], None)
        if parked is None or parked.done:
            return
        under_test = parked.partition
        parked.open_ids.discard(op["async_id"])
        writes = writes_of(op)
        under_test.record_writes(writes)
        parked.letters += dead_letters_of(op)
        if parked.open_ids and not parked.member_waits:
            # One write of ours for many of Kafka's: see settle_timeouts.
            return
        parked.done = True
        answer = op["expect"]["result"]
        code = answer["error_code"] if "error_code" in answer else persister_code(answer)
        for token in parked.tokens:
            seen = under_test.complete(token, code or 0, self.now_ms)
            if parked.member_waits:
                under_test.check_member_code(parked.expected, seen)
        under_test.check_dead_letters(parked.letters, self.now_ms, [write.error_code or 0 for write in writes])

    def _dead_letters_complete(self, op: Json) -> None:
        under_test = self.at(op)
        writes = writes_of(op)
        under_test.record_writes(writes)
        under_test.dead_letters_complete(op["async_id"], self.now_ms, [write.error_code or 0 for write in writes])

    def _move_log_start_offset(self, op: Json) -> None:
        under_test = self.at(op)
        set_deadlines_before_log_start_passes(under_test, self.ops, self.index, self.now_ms)
        under_test.partition.move_log_start_offset(op["log_start_offset"])

    def _next_fetch_offset(self, op: Json) -> None:
        under_test = self.at(op)
        offset = under_test.partition.next_fetch_offset()
        if offset != op["expect"]["result"]:
            under_test.notice("next fetch offset", op["expect"]["result"], offset)

    def _can_acquire_records(self, op: Json) -> None:
        under_test = self.at(op)
        if full_for_kafka_alone(under_test) and op["expect"]["result"] is False:
            return
        with same_room(under_test):
            answer = under_test.partition.can_acquire()
        # Kafka says the same of one that serves nobody (S9).
        expected = op["expect"]["result"] and under_test.partition.status == "ACTIVE"
        if answer != expected:
            under_test.notice("can acquire", expected, answer)

    def _mark_fenced(self, op: Json) -> None:
        self.at(op).partition.fence()

    def _nothing_to_do(self, op: Json) -> None:
        """``set_find_next_fetch_offset`` sets a hint of Kafka's; our search needs none."""

    def _find_last_acknowledged(self, op: Json) -> None:
        """Kafka asks how far its start offset could move; ours has moved that far already."""
        under_test = self.at(op)
        last = op["expect"]["result"]["last_acknowledged_offset"]
        start = under_test.partition.start_offset
        recorded: PartitionState | None = under_test.recorded
        wanted = recorded.start_offset if last == -1 and recorded is not None else last + 1
        if start != wanted:
            under_test.notice("start offset after the done prefix", wanted, start)

    def _schedule_lock(self, op: Json) -> None:
        kafka_operations.schedule_lock(self.at(op), op, self.way.store)

    def _write_state(self, op: Json) -> None:
        kafka_operations.write_state(self.at(op), op, self.way.store)


def _types(types: Any) -> list[int]:
    """The acknowledge types of one batch; a long list is recorded run-length coded."""
    if isinstance(types, dict):
        if set(types) != {"rle"}:
            raise FormatError(f"unknown form of acknowledge types: {types}")
        return [kind for kind, times in types["rle"] for _ in range(times)]
    return list(types)


def _refuse_poisoned(error: ShareStateError) -> None:
    """A poisoned engine is a bug, never an answer to be compared."""
    if isinstance(error, EnginePoisonedError):
        raise error
