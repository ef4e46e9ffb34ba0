"""Dead letters of a share group without a queue: the archived records of its history (``share-state history``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.dead_letters.dead_letter import Cause, DeadLetter
from share_state.types import RecordState

__all__ = ["archived", "became_archived"]


def archived(rows: Iterable[HistoryRow], names: Mapping[str, str], delivery_count_limit: int | None) -> Iterator[DeadLetter]:
    """Return the intervals of records that became archived, in the order of the rows.

    A log does not tell a rejection from a gap, nor a rejection of the last delivery from the limit. So records are told as at the
    limit if their delivery count has reached it, and as rejected otherwise.

    Args:
        rows: of one group.
        names: of topics by their ids, hyphenated; a topic that is gone has none.
        delivery_count_limit: ``share.delivery.count.limit`` of the group; None: not known, and so is no cause.
    """
    for row in rows:
        if not became_archived(row) or row.first_offset is None or row.last_offset is None or row.to_count is None:
            continue
        yield DeadLetter(
            group=row.group,
            topic=names.get(row.topic_id, row.topic_id),
            topic_id=row.topic_id,
            partition=row.partition,
            first_offset=row.first_offset,
            last_offset=row.last_offset,
            delivery_count=row.to_count,
            cause=_cause(row.to_count, delivery_count_limit),
            message=None,
            timestamp=row.at_timestamp,
            queue=None,
        )


def became_archived(row: HistoryRow) -> bool:
    """Return whether a row tells that records became archived."""
    return row.to_state == RecordState.ARCHIVED.value != row.from_state


def _cause(delivery_count: int, limit: int | None) -> Cause:
    if limit is None:
        return Cause.OTHER
    return Cause.DELIVERY_LIMIT if delivery_count >= limit else Cause.REJECTED
