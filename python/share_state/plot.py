"""Pictures of what became of a share partition's records, from the rows of a history. Needs the extra `plot` (matplotlib).

Nothing here reads a clock: times are those of the records of the state topic. A record in a member's hands is never written, so
it shows as it was written last, or not at all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from share_state.analysis.history_row import HistoryCause, HistoryRow
from share_state.extras import require
from share_state.types import RecordState

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Span", "deliveries", "lag", "spans", "timeline"]

#: Colours that stay apart for people who see few, and in grey.
_LOOKS = {
    int(RecordState.AVAILABLE): ("#e69f00", "available"),
    int(RecordState.ACKNOWLEDGED): ("#009e73", "acknowledged"),
    int(RecordState.ARCHIVING): ("#cc79a7", "archiving"),
    int(RecordState.ARCHIVED): ("#56606b", "archived"),
}
_OTHER = ("#b2182b", "of a state that is not known")
_ENDS = frozenset({HistoryCause.DELETED, HistoryCause.INITIALISED})
_SIZE = (11.0, 5.0)
#: Cells of a heat map along each side, at most.
_CELLS = 200


class Span(NamedTuple):
    """Offsets of which the same was known for a time."""

    first_offset: int
    last_offset: int
    state: int
    delivery_count: int
    #: ms since the epoch.
    since: int
    until: int


class _Known(NamedTuple):
    first: int
    last: int
    state: int
    delivered: int
    since: int


def spans(rows: Iterable[HistoryRow]) -> Iterator[Span]:
    """Tell what was known of which offsets, and from when until when, by the rows of one share partition in their order.

    What is known at the end of the rows lasts until the last of them.
    """
    known: list[_Known] = []
    now = 0
    for row in rows:
        now = max(now, row.at_timestamp)
        if row.cause in _ENDS:
            yield from (_span(one, now) for one in known)
            known = []
        elif row.first_offset is not None and row.last_offset is not None:
            yield from _cut(known, row.first_offset, row.last_offset, now)
            if row.to_state is not None and row.to_count is not None:
                run = _Known(row.first_offset, row.last_offset, row.to_state, row.to_count, now)
                known.insert(bisect_right(known, run), run)
    yield from (_span(one, now) for one in known)


def _cut(known: list[_Known], first: int, last: int, now: int) -> Iterator[Span]:
    """End what is known of an interval; what lies outside of it goes on."""
    begin = max(0, bisect_right([one.first for one in known], first) - 1)
    end = bisect_right([one.first for one in known], last)
    kept: list[_Known] = []
    for one in known[begin:end]:
        if one.last < first:
            kept.append(one)
            continue
        yield _span(one._replace(first=max(one.first, first), last=min(one.last, last)), now)
        if one.first < first:
            kept.append(one._replace(last=first - 1))
        if one.last > last:
            kept.append(one._replace(first=last + 1))
    known[begin:end] = kept


def _span(one: _Known, until: int) -> Span:
    return Span(one.first, one.last, one.state, one.delivered, one.since, until)


def timeline(rows: Sequence[HistoryRow]) -> Figure:
    """Draw the states of one share partition's records over offset and time, and its start offset."""
    figure, axes = _figure(rows, "offset")
    from matplotlib.collections import PolyCollection  # noqa: PLC0415  after we know that it is there
    from matplotlib.dates import date2num  # noqa: PLC0415  the same

    corners: dict[tuple[str, str], list[list[tuple[float, float]]]] = {}
    for span in spans(rows):
        left, right = (float(date2num(_time(ms))) for ms in (span.since, max(span.until, span.since + 1)))
        bottom, top = span.first_offset - 0.5, span.last_offset + 0.5
        look = _LOOKS.get(span.state, _OTHER)
        corners.setdefault(look, []).append([(left, bottom), (right, bottom), (right, top), (left, top)])
    for (colour, name), of_state in corners.items():
        axes.add_collection(PolyCollection(of_state, facecolors=colour, edgecolors="none", label=name))
    axes.xaxis_date(tz="UTC")
    axes.autoscale_view()
    starts = [(row.at_timestamp, row.start_offset) for row in rows if row.start_offset >= 0]
    if starts:
        times, offsets = zip(*starts, strict=True)
        axes.step([_time(one) for one in times], offsets, where="post", color="black", linewidth=1.2, label="start offset")
    if corners or starts:
        axes.legend(loc="lower right", fontsize="small")
    return figure


def deliveries(rows: Sequence[HistoryRow]) -> Figure:
    """Draw how often records were delivered: the highest count in each cell of offsets and time."""
    import numpy as np  # noqa: PLC0415  only for pictures

    figure, axes = _figure(rows, "offset")
    found = list(spans(rows))
    if not found:
        return figure
    low, high = min(one.first_offset for one in found), max(one.last_offset for one in found) + 1
    begin, end = min(one.since for one in found), max(one.until for one in found) + 1
    height, width = min(_CELLS, high - low), min(_CELLS, end - begin)
    cells = np.zeros((height, width))
    for one in found:
        bottom, top = ((offset - low) * height // (high - low) for offset in (one.first_offset, one.last_offset))
        left, right = ((ms - begin) * width // (end - begin) for ms in (one.since, one.until))
        part = cells[bottom : top + 1, left : right + 1]
        np.maximum(part, one.delivery_count, out=part)
    cells[cells == 0] = np.nan
    times = np.array([begin + (end - begin) * n // width for n in range(width + 1)], dtype="datetime64[ms]")
    offsets = [low + (high - low) * n / height - 0.5 for n in range(height + 1)]
    mesh = axes.pcolormesh(times, offsets, cells, cmap="viridis_r")
    figure.colorbar(mesh, ax=axes, label="deliveries")
    return figure


def lag(rows: Sequence[HistoryRow], end_offsets: Iterable[tuple[int, int]]) -> Figure:
    """Draw the lag as Kafka counts it: end offset, less start offset, less what is settled behind it.

    ``end_offsets`` are times in ms since the epoch and the topic partition's end offset then, ascending: the state topic does not
    tell them. Where the delivery complete count is not known nothing is subtracted for it.
    """
    figure, axes = _figure(rows, "lag in records")
    told = [row for row in rows if row.start_offset >= 0]
    times = [row.at_timestamp for row in told]
    points = []
    for ms, end in end_offsets:
        at = bisect_right(times, ms) - 1
        if at >= 0:
            points.append((_time(ms), end - told[at].start_offset - max(0, told[at].delivery_complete_count)))
    axes.step([time for time, _ in points], [records for _, records in points], where="post", color="#0072b2")
    axes.set_ylim(bottom=0)
    return figure


def _figure(rows: Sequence[HistoryRow], name: str) -> tuple[Figure, Axes]:
    require("plot", "matplotlib")
    from matplotlib.figure import Figure  # noqa: PLC0415  after we know that it is there

    # Not pyplot: no window, nothing kept alive behind the caller's back.
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    if rows:
        axes.set_title(f"{rows[0].group}  {rows[0].topic_id}  {rows[0].partition}", fontsize="medium")
    axes.set_xlabel("time (UTC)")
    axes.set_ylabel(name)
    return figure, axes


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
