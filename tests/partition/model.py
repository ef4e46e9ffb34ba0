"""Model of a share partition, one dictionary entry an offset, after KIP-932 and Kafka's `SharePartition`.

It says exactly what becomes of a record that somebody has acquired. Which records an acquire gives is left to the engine, within
the law: the model takes the answer, and raises where it breaks the law. No dead-letter queue, no transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from share_state import AcknowledgeType as Ack
from share_state import AcquiredRange, FetchedBatch, StateBatch
from share_state import RecordState as State

TERMINAL = frozenset({State.ACKNOWLEDGED, State.ARCHIVED})
#: State that an acknowledgement gives a record; a renewal gives it none.
OUTCOMES = {
    Ack.GAP: State.ARCHIVED,
    Ack.ACCEPT: State.ACKNOWLEDGED,
    Ack.RELEASE: State.AVAILABLE,
    Ack.REJECT: State.ARCHIVED,
}


@dataclass(frozen=True)
class Lock:
    """Holder of a record, and the end of its lock."""

    member: str
    acquired_at_ms: int
    deadline_ms: int


@dataclass(frozen=True)
class Record:
    """Record. While a write of it is under way, `state` is what is written, and `lock` what comes back if it fails."""

    state: State
    delivery_count: int
    lock: Lock | None = None
    #: Token of the write that is under way.
    write: int | None = None
    #: Archived by the log while a write was under way: that cannot be taken back.
    final: bool = False


@dataclass
class Model:
    """Share partition under one leader."""

    delivery_limit: int
    lock_ms: int
    start_offset: int = 0
    now_ms: int = 0
    records: dict[int, Record] = field(default_factory=dict)

    def pass_time(self, now_ms: int) -> int:
        """Let the locks that are due run out; the number of records."""
        self.now_ms = max(self.now_ms, now_ms)
        due = [offset for offset, record in self.held() if self._is_due(record)]
        for offset in due:
            self.records[offset] = self._given_back(offset, State.AVAILABLE)
        return len(due)

    def acquire(self, member: str, fetched: Sequence[FetchedBatch], ranges: Iterable[AcquiredRange]) -> int:
        """Take note of what the engine gave; the number of records."""
        given = [
            (offset, batch.delivery_count) for batch in ranges for offset in range(batch.first_offset, batch.last_offset + 1)
        ]
        offsets = [offset for offset, _ in given]
        assert offsets == sorted(set(offsets)), "ascending and disjoint"
        read = {offset for batch in fetched for offset in range(batch.base_offset, batch.last_offset + 1)}
        for offset, delivery_count in given:
            before = self.records.get(offset, Record(State.AVAILABLE, 0))
            assert offset in read, "only what was fetched"
            assert offset >= self.start_offset, "never below the start offset"
            assert before.state == State.AVAILABLE, "only what is available"
            assert before.write is None, "not while a write is under way"
            assert delivery_count == before.delivery_count + 1 <= self.delivery_limit
            self.records[offset] = Record(State.ACQUIRED, delivery_count, self._new_lock(member))
        return len(given)

    def may_acknowledge(self, member: str, first: int, last: int) -> bool | None:
        """Returns true if the member holds the range, as far as the start offset has not passed it; `None` if it has holes."""
        span = range(max(first, self.start_offset), last + 1)
        known = [self.records[offset] for offset in span if offset in self.records]
        if any(record.lock is None or record.lock.member != member or record.write is not None for record in known):
            return False
        return True if len(known) == len(span) else None

    def acknowledge(self, first: int, last: int, types: Sequence[Ack], write: int | None) -> None:
        """Apply what the engine has taken: one type, or one an offset; `write` is the token of its write."""
        for index, offset in enumerate(range(first, last + 1)):
            record = self.records.get(offset)
            if record is None or offset < self.start_offset:
                continue
            kind = types[index] if len(types) > 1 else types[0]
            if kind == Ack.RENEW:
                assert record.lock is not None
                self.records[offset] = replace(record, lock=self._new_lock(record.lock.member))
                continue
            state = OUTCOMES[kind]
            if state == State.AVAILABLE and record.delivery_count >= self.delivery_limit:
                state = State.ARCHIVED
            self.records[offset] = replace(record, state=state, write=write)

    def held_by(self, member: str) -> list[int]:
        """Every offset that a member holds."""
        return [offset for offset, record in self.held() if record.lock and record.lock.member == member]

    def release(self, member: str, write: int) -> None:
        """Give back all that a member holds; `write` is the token of its write."""
        for offset in self.held_by(member):
            given_back = self._given_back(offset, State.AVAILABLE)
            self.records[offset] = replace(given_back, lock=self.records[offset].lock, write=write)

    def answer(self, write: int, *, written: bool) -> None:
        """End a write: it stands, or the member has its records back, unless its time is over.

        What a lock time-out writes is shown before it is written, and stands whatever the answer: no record waits for it.
        """
        for offset in [offset for offset, record in self.records.items() if record.write == write]:
            record = self.records[offset]
            if written or record.final:
                self.records[offset] = Record(record.state, record.delivery_count)
            elif self._is_due(record):
                self.records[offset] = self._given_back(offset, State.AVAILABLE)
            else:
                self.records[offset] = replace(record, state=State.ACQUIRED, write=None)

    def move_log_start(self, log_start_offset: int) -> bool:
        """Archive what the log has lost, but what members hold."""
        if log_start_offset <= self.start_offset:
            return False
        for offset, record in self.records.items():
            if offset < log_start_offset and record.state == State.AVAILABLE:
                self.records[offset] = replace(record, state=State.ARCHIVED, final=record.write is not None)
        self.start_offset = log_start_offset
        return True

    def advance(self, start_offset: int) -> None:
        """Take note of where the engine's start offset stands now."""
        assert start_offset >= self.start_offset, "the start offset never goes back"
        for offset in range(self.start_offset, start_offset):
            record = self.records.get(offset)
            assert record is None or (record.state in TERMINAL and record.write is None), "nothing outstanding is passed"
        self.start_offset = start_offset

    def held(self) -> list[tuple[int, Record]]:
        """Every acquired record with its offset."""
        return [(offset, record) for offset, record in self.records.items() if record.state == State.ACQUIRED]

    def terminal_count(self) -> int:
        """Number of terminal records at or after the start offset, those whose write is under way included."""
        return sum(offset >= self.start_offset and record.state in TERMINAL for offset, record in self.records.items())

    def _new_lock(self, member: str) -> Lock:
        return Lock(member, self.now_ms, self.now_ms + self.lock_ms)

    def _is_due(self, record: Record) -> bool:
        return record.lock is not None and record.lock.deadline_ms <= self.now_ms

    def _given_back(self, offset: int, state: State) -> Record:
        count = self.records[offset].delivery_count
        if offset < self.start_offset or count >= self.delivery_limit:
            state = State.ARCHIVED
        return Record(state, count)


@dataclass
class PersistedModel:
    """State that a share coordinator keeps of one share partition: at every offset the greatest of (delivery count, state)."""

    start_offset: int = 0
    records: dict[int, tuple[int, int]] = field(default_factory=dict)

    def write(self, start_offset: int, batches: Iterable[StateBatch]) -> None:
        """Fold one write."""
        self.start_offset = max(self.start_offset, start_offset)
        for batch in batches:
            for offset in offsets_of([batch]):
                code = (batch.delivery_count, batch.delivery_state)
                self.records[offset] = max(self.records.get(offset, code), code)
        self.records = {offset: code for offset, code in self.records.items() if offset >= self.start_offset}


def offsets_of(batches: Iterable[StateBatch]) -> list[int]:
    """Every offset of these batches."""
    return [offset for batch in batches for offset in range(batch.first_offset, batch.last_offset + 1)]
