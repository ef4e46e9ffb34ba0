"""The records of a share partition: the ranges of its state batches, and the offsets about which nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.operate.analysis.names import state_name
from share_state.operate.analysis.start_offset_reason import TERMINAL
from share_state.operate.top.column import Column, Table
from share_state.operate.top.figures import short
from share_state.types import RecordState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from share_state.types import StateBatch

__all__ = ["RECORDS", "RecordRange", "record_ranges"]

_STYLES: Final[dict[int | None, str]] = {
    RecordState.AVAILABLE: "magenta",
    RecordState.ARCHIVING: "magenta",
    RecordState.ACKNOWLEDGED: "green",
    RecordState.ARCHIVED: "red",
}
_REMARKS: Final[dict[int | None, str]] = {
    RecordState.AVAILABLE: "waits, or is with a member",
    RecordState.ARCHIVING: "dead-letter write under way",
    RecordState.ACKNOWLEDGED: "accepted",
    RecordState.ARCHIVED: "rejected, at the limit, or gap",
    None: "new, or is with a member",
}


class RecordRange(NamedTuple):
    """A range of offsets with one state.

    Attributes:
        first, last: the range, inclusive.
        state, deliveries: delivery state and count; None where nothing is written.
        holds: whether the start offset stands because of it.
    """

    first: int
    last: int
    state: int | None
    deliveries: int | None
    holds: bool


def record_ranges(start_offset: int, end: int | None, batches: Iterable[StateBatch]) -> list[RecordRange]:
    """Return all offsets from the start offset to the log end offset, in order.

    Args:
        start_offset: -1 while it is not resolved.
        end: the log end offset; None where it is not known, and then the last batch is the end.
        batches: sorted and disjoint.
    """
    if start_offset < 0:
        return []
    ranges, held = [], False
    for first, last, state, count in _ranges(start_offset, end, batches):
        holds = not held and state not in TERMINAL
        held = held or holds
        ranges.append(RecordRange(first, last, state, count, holds))
    return ranges


def _ranges(
    start_offset: int, end: int | None, batches: Iterable[StateBatch]
) -> Iterator[tuple[int, int, int | None, int | None]]:
    position = start_offset
    for batch in batches:
        if batch.last_offset < position:
            continue
        first = max(position, batch.first_offset)
        if first > position:
            yield position, first - 1, None, None
        yield first, batch.last_offset, batch.delivery_state, batch.delivery_count
        position = batch.last_offset + 1
    if end is not None and position < end:
        yield position, end - 1, None, None


RECORDS: Final = Table[RecordRange](
    (
        Column("FIRST", lambda row: str(row.first), lambda row: row.first, right=True),
        Column("LAST", lambda row: str(row.last), lambda row: row.last, right=True),
        Column("RECORDS", lambda row: short(row.last - row.first + 1), lambda row: row.first - row.last, width=7, right=True),
        Column(
            "STATE",
            lambda row: "unwritten" if row.state is None else state_name(row.state),
            lambda row: -1 if row.state is None else row.state,
            lambda row: _STYLES.get(row.state, ""),
            width=12,
        ),
        Column(
            "COUNT",
            lambda row: "-" if row.deliveries is None else str(row.deliveries),
            lambda row: -(row.deliveries or 0),
            width=5,
            right=True,
            says="deliveries",
        ),
        Column("HEAD", lambda row: "◀" if row.holds else "", style=lambda _: "bold", says="it holds the start offset"),
        Column("REMARK", lambda row: _REMARKS.get(row.state, "")),
    ),
    lambda row: row.first,
    fixed=1,
)
