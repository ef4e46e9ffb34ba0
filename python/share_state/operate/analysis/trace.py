"""The life of one record in a share group, as far as a state topic tells it: from its production to its end, an event at a time.

The events are the rows of a history that concern the record, with a sentence each. Nothing here reads a log or asks a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from share_state.errors import ShareStateError
from share_state.operate.analysis import trace_words as words
from share_state.operate.analysis.history_row import HistoryCause, HistoryRow
from share_state.operate.analysis.trace_facts import Outcome, RecordFacts
from share_state.types import RecordState

__all__ = ["PRODUCED", "NotInLogError", "Outcome", "RecordFacts", "RecordTrace", "RecordTracer", "TraceEvent", "trace"]

#: The kind of the first event; those of the others are causes of a history.
PRODUCED: Final = "produced"
#: Causes that concern the share partition as a whole and tell nothing of a record.
_SILENT: Final = frozenset(
    {
        HistoryCause.SNAPSHOT,
        HistoryCause.COUNTED,
        HistoryCause.SNAPSHOT_EPOCH_NOT_RISING,
        HistoryCause.UPDATE_OF_OTHER_SNAPSHOT,
    }
)
_FORGETTING: Final = frozenset({HistoryCause.INITIALISED, HistoryCause.DELETED})


class NotInLogError(ShareStateError):
    """The log tells nothing of what was asked for: ``field`` says of what, ``value`` of which."""


_OUTCOMES: Final = {
    int(RecordState.AVAILABLE): Outcome.AVAILABLE,
    int(RecordState.ACKNOWLEDGED): Outcome.ACCEPTED,
    int(RecordState.ARCHIVING): Outcome.ARCHIVING,
    int(RecordState.ARCHIVED): Outcome.ARCHIVED,
}


class TraceEvent(NamedTuple):
    """Event in the life of a record.

    Attributes:
        kind: ``produced``, or a :class:`HistoryCause`.
        at_ms: when, in ms since the epoch: of the record of the state topic, which is written after the event itself.
        at_offset: the offset of that record in its state partition; None for the production.
        state, delivery_count: what is known of the record afterwards; None where nothing is.
        text: what happened, in a sentence for a person.
    """

    kind: str
    at_ms: int
    at_offset: int | None
    state: int | None
    delivery_count: int | None
    text: str


class RecordTrace(NamedTuple):
    """The life of one record.

    Attributes:
        group, topic_id, partition, offset: the record; the id is a hyphenated UUID.
        state_partition: the partition of the state topic that keeps its state.
        start_offset: of the share partition at the end of the log; -1 while not resolved.
        state, delivery_count: as last written; of a record that the start offset has passed, the last before that. None where
            nothing was written.
        outcome: an :class:`Outcome`.
        summary: the same, in a sentence for a person.
        events: in their order.
        untold: what the log cannot tell of this record, a sentence each.
    """

    group: str
    topic_id: str
    partition: int
    offset: int
    state_partition: int
    start_offset: int
    state: int | None
    delivery_count: int | None
    outcome: Outcome
    summary: str
    events: tuple[TraceEvent, ...]
    untold: tuple[str, ...]


class _Past(NamedTuple):
    """State of the record after a row, as far as it is known."""

    state: int | None = None
    delivery_count: int | None = None
    #: True once the start offset has passed the record.
    passed: bool = False
    #: True if the start offset was after the record before the log knew of it.
    skipped: bool = False
    deleted: bool = False


class RecordTracer:
    """Takes the rows of one share partition in their order, and keeps those that concern one record."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._rows: list[HistoryRow] = []
        self._past = _Past()
        self._last: HistoryRow | None = None
        self._highest = -1

    def see(self, row: HistoryRow) -> None:
        """Take a row; those of other offsets only tell how far the log goes."""
        self._last = row
        self._highest = max(self._highest, row.start_offset - 1, -1 if row.last_offset is None else row.last_offset)
        if row.first_offset is None or row.last_offset is None:
            if row.cause not in _SILENT and self._concerns(row):
                self._rows.append(row)
        elif row.first_offset <= self._offset <= row.last_offset:
            self._rows.append(row)
            self._past = self._after(row)

    def _concerns(self, row: HistoryRow) -> bool:
        """Take in a row of the share partition as a whole; return whether it says something of the record."""
        before = self._past
        if row.cause in _FORGETTING:
            self._past = _Past(deleted=row.cause == HistoryCause.DELETED, skipped=row.start_offset > self._offset)
            return True
        if before.deleted or before.passed or before.skipped:
            return False
        if row.cause == HistoryCause.LED:
            # Whoever held it holds it no more; of a settled record that changes nothing.
            return before.state in {None, RecordState.AVAILABLE} and 0 <= row.start_offset <= self._offset
        if row.start_offset > self._offset:
            self._past = _Past(skipped=True)
        return True

    def _after(self, row: HistoryRow) -> _Past:
        if row.cause == HistoryCause.PASSED:
            return _Past(row.from_state, row.from_count, passed=True)
        return _Past(row.to_state, row.to_count)

    def trace(self, facts: RecordFacts | None = None) -> RecordTrace:
        """Return the life of the record as the rows so far tell it.

        Raises:
            NotInLogError: no row has come, or the offset is after everything that the log and the topic have.
        """
        facts = facts or RecordFacts()
        last = self._last
        if last is None:
            raise NotInLogError("the log has no such share partition", field="partition")
        if not any(row.first_offset is not None for row in self._rows) and not self._past.skipped:
            self._check(facts)
        events = words.events(self._rows, facts, self._offset)
        outcome = self._outcome()
        return RecordTrace(
            *last[:3],
            self._offset,
            last.state_partition,
            last.start_offset,
            self._past.state,
            self._past.delivery_count,
            outcome,
            words.summary(outcome.value, self._past.state, self._past.delivery_count, facts),
            tuple(TraceEvent(*event) for event in events),
            words.untold(self._rows, facts, is_written=self._past.state is not None),
        )

    def _check(self, facts: RecordFacts) -> None:
        """Refuse an offset that nobody has seen: after the end of the topic, or, where that is not known, of the log."""
        end = facts.log_end_offset
        if end is not None and self._offset >= end:
            text = f"offset {self._offset} was never seen: the topic's partition ends before offset {end}"
        elif end is None and self._offset > self._highest:
            upto = "of no offset" if self._highest < 0 else f"of offsets up to {self._highest}"
            text = f"offset {self._offset} was never seen: the log tells {upto}"
        else:
            return
        raise NotInLogError(text, field="offset", value=self._offset)

    def _outcome(self) -> Outcome:
        past = self._past
        if past.deleted:
            return Outcome.DELETED
        if past.skipped:
            return Outcome.BEFORE_THE_START
        if past.state is not None:
            if past.passed and past.state not in words.TERMINAL:
                return Outcome.PASSED
            return _OUTCOMES.get(past.state, Outcome.UNKNOWN)
        if past.passed:
            return Outcome.PASSED
        forgotten = any(row.first_offset is not None and row.cause not in _FORGETTING for row in self._rows)
        return Outcome.UNKNOWN if forgotten else Outcome.NOTHING_WRITTEN


def trace(rows: Iterable[HistoryRow], offset: int, facts: RecordFacts | None = None) -> RecordTrace:
    """Trace one record through the rows of a history: all rows of one share partition, in their order.

    Raises:
        NotInLogError: there is no row, or the offset is after everything that the log and the topic have.
    """
    tracer = RecordTracer(offset)
    for row in rows:
        tracer.see(row)
    return tracer.trace(facts)
