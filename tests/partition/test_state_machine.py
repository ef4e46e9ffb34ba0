"""Random lives of a share partition through the Python API, against the obvious model and on both stores at once.

Checked at every step: (2) a record changes only as the model says, (3) the persisted state is the fold of the writes, (4) runs
are ordered, disjoint and coalesced and both stores answer alike, (5) an acquired offset has one member and one deadline and no
other has either, (6) the start offset does not go back, (7) what was written as terminal is never delivered again, (8) a call
that raises has changed nothing. Invariant (1), absence, is not a matter of behaviour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

import share_state as ss
from share_state.errors import InvalidRecordStateError, InvalidRequestError, SharePartitionNotActiveError
from share_state.persister import MemoryPersister, lead
from tests.partition.model import TERMINAL, Model, PersistedModel, Record, offsets_of

KEY = ss.SharePartitionKey("g", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)
DELIVERY_LIMIT, LOCK_MS, WINDOW = 3, 100, 24
CONFIG = ss.GroupConfig(partition_max_record_locks=WINDOW, delivery_count_limit=DELIVERY_LIMIT, record_lock_duration_ms=LOCK_MS)
#: The log: batches of these sizes, again and again.
BATCH_SIZES = (3, 1, 5, 8, 2)
LIVES = 200
REFUSALS = [3, 42, 74, 124, 16, -1]
#: Another leader or state has taken over, or there is none.
FENCING = {3, 74, 124, 69}
#: State of a log batch's rest after a record limit: known to the engine, given to nobody yet, and to the model like any other
#: offset.
NEVER_DELIVERED = (ss.RecordState.AVAILABLE, 0, False)
MEMBERS = st.sampled_from(["alice", "bob", "carol"])
TYPES = st.sampled_from(list(ss.AcknowledgeType))


def log_batches(offset: int, count: int) -> list[ss.FetchedBatch]:
    """Batches that a fetch from `offset` returns: whole ones, the first of which holds the offset."""
    base, index = 0, 0
    while base + BATCH_SIZES[index % len(BATCH_SIZES)] <= offset:
        base += BATCH_SIZES[index % len(BATCH_SIZES)]
        index += 1
    batches = []
    for _ in range(count):
        last = base + BATCH_SIZES[index % len(BATCH_SIZES)] - 1
        batches.append(ss.FetchedBatch(base, last))
        base, index = last + 1, index + 1
    return batches


class SharePartitionLife(RuleBasedStateMachine):
    """Both stores, the model, and a persister that is told everything in order."""

    #: Events of all lives together, so that the test can tell that it has seen enough.
    happened: ClassVar[Counter[str]] = Counter()

    @initialize()
    def begin(self) -> None:
        self.now_ms = 0
        self.leader_epoch = 0
        self.persister = MemoryPersister(snapshot_update_records_per_snapshot=3)
        self.persister.reset_state(KEY, 0, 0)
        self.persisted = PersistedModel()
        self.finished: set[int] = set()
        self.become_leader()

    def become_leader(self) -> None:
        self.leader_epoch += 1
        self.leaves = lead(self.persister, KEY, leader_epoch=self.leader_epoch, config=CONFIG)
        self.twin = ss.SharePartition(*KEY, leader_epoch=self.leader_epoch, config=CONFIG, store="twin")
        self.twin.initialize(self.persister.read_state(KEY, self.leader_epoch))
        records = {o: Record(ss.RecordState(state), count) for o, (count, state) in self.persisted.records.items()}
        self.model = Model(DELIVERY_LIMIT, LOCK_MS, self.persisted.start_offset, self.now_ms, records)
        #: Writes that were taken, oldest first.
        self.taken: list[ss.PendingWrite] = []
        #: Writes that were carried to the persister, but not answered: with Kafka's code.
        self.carried: list[tuple[ss.PendingWrite, int]] = []

    def both(self, call: Callable[[ss.SharePartition], Any]) -> Any:
        """Make the same call on both stores; they must answer alike."""
        answers = [call(self.leaves), call(self.twin)]
        assert answers[0] == answers[1]
        return answers[0]

    def refused(self, call: Callable[[ss.SharePartition], Any]) -> bool:
        """Returns true if both stores refuse the call; then it has changed nothing."""
        answers: list[tuple[object, ...] | None] = []
        for store in (self.leaves, self.twin):
            before = seen(store)
            try:
                call(store)
            except (InvalidRequestError, InvalidRecordStateError, SharePartitionNotActiveError) as error:
                assert seen(store) == before, "a refusal is free"
                answers.append((type(error), error.kafka_code, error.index, str(error)))
            else:
                answers.append(None)
        assert answers[0] == answers[1]
        self.happened["refused"] += answers[0] is not None
        return answers[0] is not None

    @rule(elapsed_ms=st.integers(0, 60))
    def pass_time(self, elapsed_ms: int) -> None:
        self.now_ms += elapsed_ms
        due = self.model.pass_time(self.now_ms)
        assert self.both(lambda store: store.handle_timeout(now_ms=self.now_ms)) == due
        self.happened["lock ran out"] += due

    @rule(
        member=MEMBERS,
        batches=st.integers(1, 4),
        max_records=st.integers(0, 12),
        batch_size=st.integers(1, 6),
        mode=st.sampled_from(list(ss.AcquireMode)),
    )
    def acquire(self, member: str, batches: int, max_records: int, batch_size: int, mode: ss.AcquireMode) -> None:
        fetch_offset = self.both(lambda store: store.next_fetch_offset())
        assert fetch_offset >= self.model.start_offset
        fetched = log_batches(fetch_offset, batches)
        given = self.both(
            lambda store: store.acquire(
                member,
                fetched,
                now_ms=self.now_ms,
                max_records=max_records,
                batch_size=batch_size,
                mode=mode,
                fetch_offset=fetch_offset,
            )
        )
        count = self.model.acquire(member, fetched, given)
        self.happened["acquired"] += count
        self.happened["delivered again"] += sum(batch.delivery_count > 1 for batch in given)
        assert mode != ss.AcquireMode.RECORD_LIMIT or count <= max_records
        assert self.finished.isdisjoint(offset for batch in given for offset in range(batch[0], batch[1] + 1))

    @precondition(lambda self: self.model.held())
    @rule(data=st.data(), kind=TYPES)
    def acknowledge_what_is_held(self, data: st.DataObject, kind: ss.AcknowledgeType) -> None:
        offset, record = data.draw(st.sampled_from(self.model.held()), "first")
        assert record.lock is not None
        last = offset
        while data.draw(st.booleans()) and self.model.may_acknowledge(record.lock.member, offset, last + 1):
            last += 1
        each = data.draw(st.booleans())
        types = [data.draw(TYPES) for _ in range(offset, last + 1)] if each else [kind]
        self.acknowledge(record.lock.member, offset, last, types)

    @rule(member=MEMBERS, first=st.integers(-2, 40), length=st.integers(0, 9), kind=TYPES)
    def acknowledge_anything(self, member: str, first: int, length: int, kind: ss.AcknowledgeType) -> None:
        first += self.model.start_offset - 4
        self.acknowledge(member, first, first + length - 1, [kind])

    def acknowledge(self, member: str, first: int, last: int, types: list[ss.AcknowledgeType]) -> None:
        if first < 0 or last < first:
            allowed: bool | None = False
        elif last < self.model.start_offset:
            # Nothing of it is left; whether the engine still remembers the batch is its own business.
            allowed = None
        else:
            allowed = self.model.may_acknowledge(member, first, last)
        tokens: list[int | None] = []
        refused = self.refused(
            lambda store: tokens.append(store.acknowledge_batches(member, [(first, last, types)], now_ms=self.now_ms))
        )
        assert allowed is None or refused == (not allowed)
        if not refused:
            assert tokens[0] == tokens[1]
            self.model.acknowledge(first, last, types, tokens[0])

    @rule(member=MEMBERS)
    def release(self, member: str) -> None:
        released = self.both(lambda store: store.release(member, now_ms=self.now_ms))
        assert released == len(self.model.held_by(member))
        if released:
            self.take_writes()
            self.model.release(member, self.taken[-1].token)

    def a_write_waits(self) -> bool:
        return self.leaves.writes_under_way > len(self.carried)

    @precondition(a_write_waits)
    @rule(refusal=st.sampled_from([0, 0, 0, *REFUSALS]))
    def carry_a_write(self, refusal: int) -> None:
        """Take a write to the persister, which applies it or not; the answer is still on its way."""
        self.take_writes()
        write = self.taken.pop(0)
        if refusal == 0:
            self.persister.write_state(KEY, write.state)
            self.persisted.write(write.state.start_offset, write.state.state_batches)
            offsets = offsets_of(b for b in write.state.state_batches if b.delivery_state in TERMINAL)
            self.finished.update(offsets)
        self.carried.append((write, refusal))

    def take_writes(self) -> None:
        while (write := self.leaves.poll_write()) is not None:
            of_twin = self.twin.poll_write()
            assert of_twin is not None
            assert (write.token, write.state) == (of_twin.token, of_twin.state)
            self.taken.append(write)
        assert self.twin.poll_write() is None

    @precondition(lambda self: self.carried)
    @rule(which=st.integers(0, 3))
    def answer_a_write(self, which: int) -> None:
        write, code = self.carried.pop(which % len(self.carried))
        for_member = self.both(lambda store: store.handle_write_result(write.token, code, now_ms=self.now_ms))
        assert (for_member == 0) == (code == 0)
        assert self.refused(lambda store: store.handle_write_result(write.token, code, now_ms=self.now_ms)), "answered once"
        self.model.answer(write.token, written=code == 0)
        self.happened["rolled back" if code else "written"] += 1
        is_fenced = self.both(lambda store: store.status) == "FENCED"
        assert is_fenced == (code in FENCING)
        if is_fenced:
            self.happened["fenced"] += 1
            self.nobody_is_served()
            self.become_leader()

    def nobody_is_served(self) -> None:
        calls: list[Callable[[ss.SharePartition], object]] = [
            lambda store: store.acquire("alice", [(0, 9)], now_ms=self.now_ms, max_records=1),
            lambda store: store.acknowledge("alice", 0, 9, now_ms=self.now_ms),
        ]
        assert not self.both(lambda store: store.can_acquire())
        assert all(self.refused(call) for call in calls)

    @precondition(lambda self: self.model.held())
    @rule(data=st.data(), kind=TYPES, refusal=st.sampled_from([0, 0, 0, *REFUSALS]))
    def acknowledge_and_be_answered(self, data: st.DataObject, kind: ss.AcknowledgeType, refusal: int) -> None:
        """The persister answers all that waits before anything else happens."""
        self.acknowledge_what_is_held(data, kind)
        while self.a_write_waits():
            self.carry_a_write(refusal)
            self.answer_a_write(len(self.carried) - 1)

    @rule(ahead=st.integers(-3, 12))
    def move_log_start(self, ahead: int) -> None:
        log_start_offset = self.model.start_offset + ahead
        moved = self.model.move_log_start(log_start_offset)
        assert self.both(lambda store: store.move_log_start_offset(log_start_offset)) == moved
        self.happened["log start moved"] += moved

    @rule()
    def crash_and_lead_again(self) -> None:
        """A crash loses what was not carried, and every lock."""
        self.become_leader()
        self.happened["led again"] += 1

    @invariant()
    def both_stores_look_like_the_model(self) -> None:
        leaves, twin = seen(self.leaves), seen(self.twin)
        assert leaves == twin
        self.leaves.check()
        self.twin.check()
        self.model.advance(self.leaves.start_offset)
        in_flight = {offset: facts for offset, facts in expanded(self.leaves).items() if facts[:3] != NEVER_DELIVERED}
        assert in_flight == {
            offset: shown(record) for offset, record in self.model.records.items() if offset >= self.model.start_offset
        }
        assert self.leaves.delivery_complete_count == self.model.terminal_count()

    @invariant()
    def runs_are_ordered_disjoint_and_coalesced(self) -> None:
        runs = self.leaves.in_flight()
        for left, right in zip(runs, runs[1:], strict=False):
            assert left.first_offset <= left.last_offset < right.first_offset
            # Two writes under way may look alike and still end differently.
            is_apart = left.last_offset + 1 < right.first_offset or right.first_offset == self.leaves.start_offset
            assert left.pending or is_apart or facts(left) != facts(right)
        for run in runs:
            is_held = run.state == ss.RecordState.ACQUIRED
            assert is_held == (run.member is not None) == (run.deadline_ms is not None)

    @invariant()
    def the_persisted_state_is_the_fold_of_the_writes(self) -> None:
        state = self.persister.states()[0]
        batches: Any = state["batches"]
        kept = {offset: (b.delivery_count, b.delivery_state) for b in batches for offset in offsets_of([b])}
        assert (state["start_offset"], kept) == (self.persisted.start_offset, self.persisted.records)

    def teardown(self) -> None:
        """Liveness: with a willing member and a willing persister every record comes to an end."""
        if not hasattr(self, "leaves"):
            return
        end = self.leaves.end_offset
        for _ in range(200):
            self.take_writes()
            self.carried += [(write, 0) for write in self.taken]
            self.taken = []
            while self.carried:
                self.answer_a_write(0)
            self.model.advance(self.leaves.start_offset)
            if self.leaves.start_offset > end:
                self.happened["ended well"] += 1
                return
            self.now_ms += LOCK_MS
            self.pass_time(0)
            self.acquire("willing", 4, 100, 100, ss.AcquireMode.BATCH_OPTIMIZED)
            for offset, record in self.model.held():
                assert record.lock is not None
                self.acknowledge(record.lock.member, offset, offset, [ss.AcknowledgeType.ACCEPT])
        raise AssertionError(f"stuck at {self.leaves!r}: {self.leaves.in_flight()}")


def facts(run: ss.InFlight) -> tuple[object, ...]:
    return (run.state, run.delivery_count, run.pending, run.member, run.acquired_at_ms, run.deadline_ms)


def expanded(store: ss.SharePartition) -> dict[int, tuple[object, ...]]:
    """Every in-flight offset at or after the start offset with its facts."""
    start = store.start_offset
    return {
        offset: facts(run) for run in store.in_flight() for offset in range(max(run.first_offset, start), run.last_offset + 1)
    }


def shown(record: Record) -> tuple[object, ...]:
    lock = record.lock if record.state == ss.RecordState.ACQUIRED else None
    times = (lock.member, lock.acquired_at_ms, lock.deadline_ms) if lock else (None, None, None)
    return (int(record.state), record.delivery_count, record.write is not None, *times)


def seen(store: ss.SharePartition) -> tuple[object, ...]:
    """Everything that a caller can see of a share partition, but the writes that wait."""
    numbers = (store.status, store.start_offset, store.end_offset, store.delivery_complete_count, store.writes_under_way)
    questions = (store.next_fetch_offset(), store.can_acquire(), store.poll_timeout(), store.window_len, store.gap_window)
    runs = [(run.first_offset, run.last_offset, *facts(run)) for run in store.in_flight()]
    return (*numbers, *questions, runs, store.state_counts(), store.counters())


def test_a_share_partition_lives_as_the_model_says() -> None:
    SharePartitionLife.happened.clear()
    run_state_machine_as_test(SharePartitionLife, settings=settings(max_examples=LIVES, stateful_step_count=50, deadline=None))
    happened = SharePartitionLife.happened
    assert happened["ended well"] >= LIVES
    assert {what for what, times in happened.items() if times >= 10} == {
        "acquired",
        "delivered again",
        "fenced",
        "ended well",
        "led again",
        "lock ran out",
        "log start moved",
        "refused",
        "rolled back",
        "written",
    }
