"""The sentences of a trace: what a row says of one record, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from share_state.operate.analysis.history_row import HistoryCause, HistoryRow
from share_state.operate.analysis.trace_facts import RecordFacts
from share_state.types import RecordState

__all__ = ["TERMINAL", "events", "summary", "untold"]

TERMINAL: Final = frozenset({RecordState.ACKNOWLEDGED, RecordState.ARCHIVED})
_Event = tuple[str, int, int | None, int | None, int | None, str]


def events(rows: Sequence[HistoryRow], facts: RecordFacts, offset: int) -> Iterator[_Event]:
    """Put each row into words, after the production of the record where its time is known."""
    if facts.produced_ms is not None:
        yield "produced", facts.produced_ms, None, None, None, "produced, by the timestamp of the record"
    before: HistoryRow | None = None
    for row in rows:
        is_of_record = row.first_offset is not None
        state, count = (row.to_state, row.to_count) if is_of_record else (None, None)
        yield row.cause, row.at_timestamp, row.at_offset, state, count, _text(row, facts, offset, before)
        before = row


#: Sentences that are the same for every record.
_FIXED: Final[dict[str, str]] = {
    HistoryCause.START_OFFSET_WENT_BACK: "the start offset went back below it, as brokers before 4.4 may write",
    HistoryCause.FORGOTTEN: "a snapshot omits it, although the start offset has not passed it",
}


def _text(row: HistoryRow, facts: RecordFacts, offset: int, before: HistoryRow | None) -> str:
    if row.first_offset is None:
        return _of_partition(row, offset)
    match row.cause:
        case HistoryCause.RELEASED:
            text = f"available again{_delivery(row)}: {_came_back(row, facts, before)}"
        case HistoryCause.ARCHIVED:
            text = f"archived{_delivery(row)}: {_given_up(row, facts)}"
        case HistoryCause.PASSED:
            text = _passed(row)
        case _:
            text = _FIXED.get(row.cause) or _plain(row)
    return text


def _plain(row: HistoryRow) -> str:
    state = _state(row.to_state, row.to_count)
    texts: dict[str, str] = {
        HistoryCause.ACCEPTED: f"accepted{_delivery(row)}",
        HistoryCause.ARCHIVING: f"on its way to the dead-letter queue{_delivery(row)}",
        HistoryCause.FOUND: f"the log begins here and has the record {state}",
        HistoryCause.WENT_BACK: f"a snapshot has it as {state}, which is earlier than what was written",
    }
    return texts.get(row.cause, f"it has {state}, which this release does not know")


def _of_partition(row: HistoryRow, offset: int) -> str:
    start = row.start_offset
    where = "not resolved yet" if start < 0 else f"at {start}"
    after = f", after offset {offset}" if start > offset else ""
    match row.cause:
        case HistoryCause.INITIALISED:
            never = "; the group does not deliver it" if after else ""
            return f"the state was initialised (state epoch {row.state_epoch}), with the start offset {where}{after}{never}"
        case HistoryCause.START_OFFSET_RESOLVED:
            never = ": settled by the same write, or never delivered" if after else ""
            return f"the start offset was resolved: it is {where}{after}{never}"
        case HistoryCause.FOUND:
            earlier = "; what became of the record is in a part of the log that was deleted" if after else ""
            return f"the log begins here for the share partition, with the start offset {where}{after}{earlier}"
        case HistoryCause.LED:
            return f"a new leader (epoch {row.leader_epoch}) has read the state: whoever held the record holds it no more"
        case _:
            return "the state was deleted, with everything known of the record"


def _delivery(row: HistoryRow) -> str:
    """Say with which delivery, as far as the counts tell."""
    before, now = row.from_count or 0, row.to_count or 0
    if now <= before:
        return ", without another delivery"
    if now - before == 1:
        return f" after delivery {now}"
    earlier = now - before - 1
    others = "the delivery before it" if earlier == 1 else f"the {earlier} deliveries before it"
    return f" after delivery {now} (how {others} ended is not in the log)"


def _came_back(row: HistoryRow, facts: RecordFacts, before: HistoryRow | None) -> str:
    """Say by whom, where the time between two writes is shorter than a lock; the first write may have come late."""
    lock = facts.lock_duration_ms
    if lock is not None and before is not None and before.first_offset is not None and before.to_state == RecordState.AVAILABLE:
        took = row.at_timestamp - before.at_timestamp
        if 0 <= took < lock and row.to_count == (before.to_count or 0) + 1:
            return f"probably released by a member or with its session, {took} ms after the last write: a lock lasts {lock} ms"
    return "released, or its lock ran out"


def _given_up(row: HistoryRow, facts: RecordFacts) -> str:
    limit, count = facts.delivery_limit, row.to_count or 0
    if row.from_state == RecordState.ARCHIVING:
        return "its way to the dead-letter queue has ended"
    if row.from_state == RecordState.AVAILABLE and row.from_count == row.to_count:
        return "it was in no member's hands, as when the start of the topic's log passes it"
    if limit is None:
        return "rejected, at the delivery limit, or reported as a gap"
    if count >= limit:
        return f"at the delivery limit of {limit}: released, rejected, or its lock ran out"
    return f"rejected, or reported as a gap: the delivery limit is {limit}"


def _passed(row: HistoryRow) -> str:
    if row.from_state is None:
        return "passed by the start offset: settled by the same write, skipped, or a gap; which one is not written"
    if row.from_state in TERMINAL:
        return f"passed by the start offset as {_state(row.from_state, row.from_count)}: its life in the group is over"
    how = "settled by the same write, or passed by the start of the topic's log"
    return f"passed by the start offset, {_state(row.from_state, row.from_count)} before: {how}; which one is not written"


def summary(outcome: str, state: int | None, count: int | None, facts: RecordFacts) -> str:
    """Say how the record stands."""
    left = ""
    if facts.delivery_limit is not None and count is not None and state == RecordState.AVAILABLE:
        left = f" of at most {facts.delivery_limit}"
    if outcome == "available":
        return f"available after {_deliveries(count)}{left}, or in a member's hands again"
    if outcome in {"accepted", "archived"}:
        return f"{outcome} after {_deliveries(count)}"
    return {
        "archiving": "on its way to the dead-letter queue",
        "passed": "passed by the start offset; how it ended is not written",
        "before_the_start": "before the start offset as far back as the log tells",
        "nothing_written": "nothing is written about it: never delivered, or in a member's hands since its first delivery",
        "deleted": "the state of the share partition is deleted",
    }.get(outcome, "the log does not say how it stands")


def untold(rows: Sequence[HistoryRow], facts: RecordFacts, *, is_written: bool) -> tuple[str, ...]:
    """Say what stays open."""
    told = ["An acquisition is never written: when a delivery began, and who held the record, is not in the log."]
    if facts.produced_ms is None:
        told.append("When it was produced is not in the state topic.")
    if any(row.cause == HistoryCause.RELEASED for row in rows):
        told.append("A release and a lock that ran out are written alike.")
    if any(row.cause == HistoryCause.ARCHIVED for row in rows):
        told.append("A rejection, a reported gap and the delivery limit are written alike.")
    if any(row.cause == HistoryCause.FOUND for row in rows):
        told.append("The log does not reach back to the beginning of the state.")
    if not is_written and rows:
        told.append("A record in a member's hands since its first delivery looks like one that was never delivered.")
    return tuple(told)


def _state(state: int | None, count: int | None) -> str:
    if state is None:
        return "unknown"
    try:
        name = RecordState(state).name.lower()
    except ValueError:
        name = f"state {state}"
    return f"{name} after {_deliveries(count)}"


def _deliveries(count: int | None) -> str:
    return f"{count} {'delivery' if count == 1 else 'deliveries'}"
