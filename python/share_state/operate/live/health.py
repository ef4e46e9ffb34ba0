"""Health of a share partition in one word, with its reason; the likeliest trouble first."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.operate.analysis.anomaly import AnomalyConfig
from share_state.operate.analysis.names import instant, plural
from share_state.operate.analysis.start_offset_reason import never_settled, unsettled
from share_state.types import RecordState, StateBatch

if TYPE_CHECKING:
    from share_state.operate.live.heads import Head, OpenTransaction
    from share_state.operate.live.live_row import LiveRow
    from share_state.operate.live.rates import Rates

__all__ = ["LASTING_MS", "Health", "Seen", "Verdict", "as_it_stands", "health_of", "near_limit", "window_of"]

#: The least that Kafka takes.
_LEAST_LIMIT: Final = 2
#: Limits from which the search for anomalies takes a start offset for stuck, and a lag for growing.
_LASTING: Final = AnomalyConfig()
#: Time after which what does not move counts as stopped, ms.
LASTING_MS: Final = _LASTING.stuck_ms


class Health(StrEnum):
    """Health of a share partition. The order is that of urgency."""

    #: A record is at or one delivery before the delivery limit and holds the start offset, or was just archived at the limit.
    POISON = "POISON"
    #: The start offset stands although records after it were delivered.
    STUCK = "STUCK"
    #: There are records to deliver, and the group has no members.
    NO_MEMBERS = "NO MEMBERS"
    #: As many offsets are in flight as the limit allows, and records wait after them.
    FULL = "FULL"
    #: A member is assigned the share partition, and the state topic has no state of it.
    NO_STATE = "NO STATE"
    #: There are members and records, and no delivery has ended for long.
    STALLED = "STALLED"
    #: Deliveries end without an acceptance: released, or their locks ran out.
    EXPIRING = "EXPIRING"
    #: The lag grows.
    SLOW = "SLOW"
    OK = "OK"


class Seen(NamedTuple):
    """Facts from which the health follows."""

    row: LiveRow | None
    lag: int | None
    #: True if the group has members; None where that is not known.
    has_members: bool | None
    #: ``share.delivery.count.limit``, as far as it is known.
    delivery_limit: int
    rates: Rates | None
    now_ms: int
    #: The log end; None where it is not known.
    log_end: int | None = None
    #: Facts from the log; None where it was not read.
    head: Head | None = None
    #: Open transaction before the group, if the group reads committed records.
    transaction: OpenTransaction | None = None
    #: ``share.partition.max.record.locks`` and ``share.record.lock.duration.ms``; None where they are not known.
    record_locks: int | None = None
    lock_ms: int | None = None
    #: Reason for which records come back, where their locks run out; otherwise empty.
    by_locks: str = ""


class Verdict(NamedTuple):
    """A word, and a sentence for a person."""

    health: Health
    why: str


def near_limit(delivery_limit: int) -> int:
    """Return the delivery count from which a record is near the limit: one delivery is left, or none."""
    return max(_LEAST_LIMIT, delivery_limit - 1)


def as_it_stands(row: LiveRow, lag: int | None, head: Head | None) -> LiveRow:
    """Return a row that nothing holds, where what seems to hold it is no record for the group: a marker, an aborted record.

    Leaders archive aborted records in their memory, and write that with the next change, if there is one.
    """
    if row.held_offset is None or row.end_offset is None:
        return row
    if head is not None:
        is_held = head.offset is not None and head.offset <= row.end_offset
    else:
        # Of what was settled without a write, as much as nothing is written about.
        known = row.available + row.acknowledged + row.archiving + row.archived
        unknown = row.end_offset - row.start_offset + 1 - known
        unwritten = row.delivery_complete_count - row.acknowledged - row.archived
        is_held = bool(row.available or row.archiving) or unwritten != unknown
    if is_held and lag != 0:
        return row
    return row._replace(held_offset=None, held_state=None, held_count=None, held_since=None)


def window_of(row: LiveRow) -> int:
    """Return how many offsets are in flight, as far as something is written about them."""
    return 0 if row.end_offset is None or row.start_offset < 0 else row.end_offset - row.start_offset + 1


def health_of(seen: Seen) -> Verdict:
    """Find the word for a share partition.

    A record in a member's hands is not in the state topic: whether it makes progress shows only when its delivery ends.
    """
    if seen.row is None:
        return Verdict(Health.NO_STATE, "a member is assigned it, and the state topic has no state of it")
    row = as_it_stands(seen.row, seen.lag, seen.head)
    for health, rule in _RULES:
        if why := rule(seen, row):
            return Verdict(health, why)
    if seen.lag is None:
        return Verdict(Health.OK, "")
    if not seen.lag:
        return Verdict(Health.OK, "everything is settled")
    if _nothing_for_the_group(seen):
        return Verdict(
            Health.OK, f"no record waits: {plural(seen.lag, 'offset')} hold none for the group (markers, aborted records)"
        )
    return Verdict(Health.OK, _not_settled(seen.lag))


def _nothing_for_the_group(seen: Seen) -> bool:
    return seen.head is not None and seen.head.offset is None and seen.transaction is None


def _not_settled(lag: int) -> str:
    return "1 record is not settled" if lag == 1 else f"{lag} records are not settled"


def _locks(seen: Seen, _row: LiveRow) -> str:
    return seen.by_locks if seen.has_members is not False and seen.lag != 0 else ""


def _poison(seen: Seen, row: LiveRow) -> str:
    if seen.rates is not None and seen.rates.at_limit:
        were = "1 record was" if seen.rates.at_limit == 1 else f"{seen.rates.at_limit} records were"
        return f"{were} archived at the delivery limit in the last {seen.rates.seconds:.0f} s"
    near = near_limit(seen.delivery_limit)
    if row.held_state == RecordState.AVAILABLE and row.held_count is not None and row.held_count >= near:
        return f"{_held(row)}, and the limit is {seen.delivery_limit}"
    return ""


def _stuck(seen: Seen, row: LiveRow) -> str:
    stood = 0 if row.held_since is None else seen.now_ms - row.held_since
    return f"for {stood // 1000} s {_held(row)}" if stood >= LASTING_MS else ""


def _held(row: LiveRow) -> str:
    """Say what holds the start offset; something does."""
    offset = row.start_offset if row.held_offset is None else row.held_offset
    if row.held_state is None or row.held_count is None:
        return never_settled(offset, offset)
    return unsettled(StateBatch(offset, offset, row.held_state, row.held_count))


def _no_members(seen: Seen, row: LiveRow) -> str:
    if seen.has_members is not False or (seen.lag == 0 if seen.lag is not None else row.held_offset is None):
        return ""
    if _nothing_for_the_group(seen):
        return ""
    return "the group has no members" + ("" if seen.lag is None else f", and {_not_settled(seen.lag)}")


def _full(seen: Seen, row: LiveRow) -> str:
    window = window_of(row)
    if seen.record_locks is None or not seen.lag or row.end_offset is None or window < seen.record_locks:
        return ""
    after = 0 if seen.log_end is None else seen.log_end - row.end_offset - 1
    # Under load a window may be full at any moment, and moves on.
    has_moved = seen.rates is not None and seen.now_ms - row.start_since < seen.rates.seconds * 1000
    if after <= 0 or has_moved:
        return ""
    waits = "1 record waits" if after == 1 else f"{after} records wait"
    return f"{plural(window, 'offset')} are in flight, the limit is {seen.record_locks:,}, and {waits} after them"


def _stalled(seen: Seen, row: LiveRow) -> str:
    if not seen.has_members or not seen.lag:
        return ""
    quiet_since = row.start_since if row.newest_delivery is None else row.newest_delivery
    limit = max(LASTING_MS, 2 * (seen.lock_ms or 0))
    if seen.now_ms - quiet_since < limit:
        return ""
    quiet = f"no delivery has ended for {(seen.now_ms - quiet_since) // 1000} s"
    if seen.head is None:
        # The log may not be read: what waited the whole time, while somebody looked.
        return f"{quiet}, and {_not_settled(seen.lag)}" if seen.rates is not None and _waited(seen.rates, seen.lag) else ""
    if seen.head.offset is not None:
        waits_long = seen.head.at_ms is None or seen.now_ms - seen.head.at_ms >= limit
        return f"{quiet}, and record {seen.head.offset} waits" if waits_long else ""
    hangs = seen.transaction is not None and is_hanging(seen.transaction, seen.now_ms)
    return f"{quiet}: {waiting_behind(seen.transaction)}" if hangs and seen.transaction is not None else ""


def _waited(rates: Rates, lag: int) -> bool:
    """Return whether something was not settled already when the rates began."""
    return rates.seconds * 1000 >= _SHORTEST_LOOK_MS and rates.lag_rise is not None and lag > rates.lag_rise


#: A look at the lag over a shorter time says nothing about what waits.
_SHORTEST_LOOK_MS: Final = 30_000


def is_hanging(transaction: OpenTransaction, now_ms: int) -> bool:
    """Return whether a transaction is open for long."""
    return transaction.since_ms is not None and now_ms - transaction.since_ms >= LASTING_MS


def waiting_behind(transaction: OpenTransaction) -> str:
    """Say what waits for the end of an open transaction, and since when."""
    waiting = "1 offset waits" if transaction.waiting == 1 else f"{transaction.waiting} offsets wait"
    since = "" if transaction.since_ms is None else f" since {instant(transaction.since_ms)}"
    return f"a transaction is open{since}, and {waiting} behind its first record, {transaction.offset}"


def _expiring(seen: Seen, _row: LiveRow) -> str:
    rates = seen.rates
    if rates is None or rates.released <= rates.accepted:
        return ""
    return (
        f"{plural(rates.released, 'record')} came back in the last {rates.seconds:.0f} s, released or by locks that ran out, and "
        f"{rates.accepted} {'was' if rates.accepted == 1 else 'were'} accepted"
    )


def _slow(seen: Seen, _row: LiveRow) -> str:
    rates = seen.rates
    if rates is None or rates.lag_rise is None or rates.lag_rise < _LASTING.lag_records:
        return ""
    return f"the lag grew by {rates.lag_rise} records in the last {rates.seconds:.0f} s"


#: In order: the first that says something counts.
_RULES: Final = (
    (Health.EXPIRING, _locks),
    (Health.POISON, _poison),
    (Health.STUCK, _stuck),
    (Health.NO_MEMBERS, _no_members),
    (Health.FULL, _full),
    (Health.STALLED, _stalled),
    (Health.EXPIRING, _expiring),
    (Health.SLOW, _slow),
)
