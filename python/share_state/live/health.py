"""One word for how a share partition does, and why; the likeliest trouble first."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.analysis.anomaly import AnomalyConfig
from share_state.analysis.start_offset_reason import never_settled, unsettled
from share_state.types import RecordState, StateBatch

if TYPE_CHECKING:
    from share_state.live.live_row import LiveRow
    from share_state.live.rates import Rates

__all__ = ["Health", "Seen", "Verdict", "health_of", "near_limit"]

#: The least that Kafka takes.
_LEAST_LIMIT: Final = 2
#: When the search for anomalies takes a start offset for stuck, and a lag for growing.
_LASTING: Final = AnomalyConfig()


class Health(StrEnum):
    """How a share partition does. The order is that of urgency."""

    #: A record is at or one delivery before the delivery limit and holds the start offset, or was just archived at the limit.
    POISON = "POISON"
    #: The start offset stands although records after it were delivered.
    STUCK = "STUCK"
    #: There are records to deliver, and the group has no members.
    NO_MEMBERS = "NO MEMBERS"
    #: A member is assigned the share partition, and the state topic has no state of it.
    NO_STATE = "NO STATE"
    #: Deliveries end without an acceptance: released, or their locks ran out.
    EXPIRING = "EXPIRING"
    #: The lag grows.
    SLOW = "SLOW"
    OK = "OK"


class Seen(NamedTuple):
    """What is looked at."""

    row: LiveRow | None
    lag: int | None
    #: Whether the group has members; None where that is not known.
    has_members: bool | None
    #: ``share.delivery.count.limit``, as far as it is known.
    delivery_limit: int
    rates: Rates | None
    now_ms: int


class Verdict(NamedTuple):
    """A word, and a sentence for a person."""

    health: Health
    why: str


def near_limit(delivery_limit: int) -> int:
    """Return the delivery count from which a record is near the limit: one delivery is left, or none."""
    return max(_LEAST_LIMIT, delivery_limit - 1)


def health_of(seen: Seen) -> Verdict:
    """Find the word for a share partition.

    A record in a member's hands is not in the state topic: whether it makes progress shows only when its delivery ends.
    """
    if seen.row is None:
        return Verdict(Health.NO_STATE, "a member is assigned it, and the state topic has no state of it")
    for health, rule in _RULES:
        if why := rule(seen, seen.row):
            return Verdict(health, why)
    if seen.lag is None:
        return Verdict(Health.OK, "")
    return Verdict(Health.OK, f"{seen.lag} records are not settled" if seen.lag else "everything is settled")


def _poison(seen: Seen, row: LiveRow) -> str:
    if seen.rates is not None and seen.rates.at_limit:
        return f"{seen.rates.at_limit} records were archived at the delivery limit in the last {seen.rates.seconds:.0f} s"
    near = near_limit(seen.delivery_limit)
    if row.held_state == RecordState.AVAILABLE and row.held_count is not None and row.held_count >= near:
        return f"{_held(row)}, and the limit is {seen.delivery_limit}"
    return ""


def _stuck(seen: Seen, row: LiveRow) -> str:
    stood = 0 if row.held_since is None else seen.now_ms - row.held_since
    return f"for {stood // 1000} s {_held(row)}" if stood >= _LASTING.stuck_ms else ""


def _held(row: LiveRow) -> str:
    """Say what holds the start offset; something does."""
    offset = row.start_offset if row.held_offset is None else row.held_offset
    if row.held_state is None or row.held_count is None:
        return never_settled(offset, offset)
    return unsettled(StateBatch(offset, offset, row.held_state, row.held_count))


def _no_members(seen: Seen, row: LiveRow) -> str:
    if seen.has_members is not False or (seen.lag == 0 if seen.lag is not None else row.held_offset is None):
        return ""
    return "the group has no members" + ("" if seen.lag is None else f", and {seen.lag} records are not settled")


def _expiring(seen: Seen, _row: LiveRow) -> str:
    rates = seen.rates
    if rates is None or rates.released <= rates.accepted:
        return ""
    return (
        f"{rates.released} records came back in the last {rates.seconds:.0f} s, released or by locks that ran out, and "
        f"{rates.accepted} were accepted"
    )


def _slow(seen: Seen, _row: LiveRow) -> str:
    rates = seen.rates
    if rates is None or rates.lag_rise is None or rates.lag_rise < _LASTING.lag_records:
        return ""
    return f"the lag grew by {rates.lag_rise} records in the last {rates.seconds:.0f} s"


#: In order: the first that says something counts.
_RULES: Final = (
    (Health.POISON, _poison),
    (Health.STUCK, _stuck),
    (Health.NO_MEMBERS, _no_members),
    (Health.EXPIRING, _expiring),
    (Health.SLOW, _slow),
)
