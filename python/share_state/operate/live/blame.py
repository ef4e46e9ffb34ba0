"""The blame for deliveries without an acceptance: locks that run out, or single records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import AnomalyKind
from share_state.operate.analysis.names import plural
from share_state.operate.live.group_limits import LOCK_DURATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from share_state.operate.analysis.anomaly import Anomaly
    from share_state.operate.live.live_row import LiveRow

__all__ = ["BLAMING", "FEWEST", "ONE_IN", "by_locks", "given_up_of", "is_by_locks", "is_loop", "is_loss", "records_of"]

#: The kinds that may blame locks.
BLAMING: Final = frozenset({AnomalyKind.LOCK_EXPIRY_LOOP, AnomalyKind.LATE_OR_POISON, AnomalyKind.ARCHIVE_BURST})
#: Up to so many records, and up to one in so many of those that were accepted, are few.
FEWEST: Final = 10
ONE_IN: Final = 100


def is_by_locks(found: Anomaly) -> bool:
    """Return whether an anomaly has locks that ran out for its cause, or may have: its advice says so."""
    return found.kind in BLAMING and LOCK_DURATION[0] in found.advice


def is_loop(found: Anomaly) -> bool:
    """Return whether locks were seen to run out again and again; of records that were given up, that is told beside."""
    return AnomalyKind.LOCK_EXPIRY_LOOP in {found.kind, *found.evidence.replace(":", "").split()}


def records_of(found: Iterable[Anomaly]) -> int:
    """Return how many records anomalies are about, at most."""
    return sum(
        one.last_offset - one.first_offset + 1 for one in found if one.first_offset is not None and one.last_offset is not None
    )


def by_locks(found: Sequence[Anomaly], row: LiveRow | None) -> str:
    """Say why records of a share partition come back, where it is that their locks run out; otherwise nothing.

    Few records whose locks run out while others are accepted are bad ones, at which members stop.
    """
    blamed = [one for one in found if is_by_locks(one)]
    if not blamed or row is None:
        return ""
    records = records_of(blamed)
    since = min(one.since_timestamp for one in blamed)
    others_go = row.newest_acceptance is not None and row.newest_acceptance >= since
    if others_go and records <= max(FEWEST, row.accepted_total // ONE_IN):
        return ""
    came = "came" if any(is_loop(one) for one in blamed) else "may have come"
    return f"{plural(records, 'record')} {came} back because locks ran out"


def given_up_of(row: LiveRow, limit: int) -> int:
    """Return how many records of a share partition were archived at the delivery limit."""
    return sum(records for count, records in row.archived_totals if count >= limit)


def is_loss(given_up: int, settled: int) -> bool:
    """Return whether a group loses most of what it settles."""
    return given_up >= FEWEST and given_up * 2 >= settled
