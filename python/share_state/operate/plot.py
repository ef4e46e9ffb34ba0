"""Plots of the history of a share partition's records. Needs the extra `plot` (matplotlib).

No clock is read: times are those of the records of the state topic. An acquisition is never written, so an acquired record shows
its last written state, or does not show at all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from share_state.errors import ConfigError
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.spans import Span, spans
from share_state.operate.analysis.trace import PRODUCED, RecordTrace, TraceEvent
from share_state.types import RecordState
from share_state.util.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Span", "deliveries", "lag", "life", "spans", "timeline"]

#: Colours that colour-blind people can distinguish, and that differ in grey; legends have this order.
_LOOKS = {
    int(RecordState.AVAILABLE): ("#e69f00", "available, or in a member's hands"),
    int(RecordState.ACKNOWLEDGED): ("#009e73", "acknowledged"),
    int(RecordState.ARCHIVING): ("#cc79a7", "archiving"),
    int(RecordState.ARCHIVED): ("#56606b", "archived"),
}
_OTHER = ("#b2182b", "of a state that is not known")
_SIZE = (11.0, 5.0)
#: Cells of a heat map along each side, at most.
_CELLS = 200
#: Delivery counts up to which each has its own colour.
_COLOURS = 12
#: The last lag is drawn for so much of the time before it, or up to the last record if that is later.
_LAST_STEP = 0.05


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
    for look in (*_LOOKS.values(), _OTHER):
        if look in corners:
            colour, name = look
            axes.add_collection(PolyCollection(corners[look], facecolors=colour, edgecolors="none", label=name))
    axes.xaxis_date(tz="UTC")
    axes.autoscale_view()
    starts = [(row.at_timestamp, row.start_offset) for row in rows if row.start_offset >= 0]
    if starts:
        times, offsets = zip(*starts, strict=True)
        axes.step([_time(one) for one in times], offsets, where="post", color="black", linewidth=1.2, label="start offset")
    _name_times(axes, [row.at_timestamp for row in rows])
    if corners or starts:
        # Beside the axes: inside it would cover what they show.
        figure.legend(loc="outside lower center", ncols=len(_LOOKS) + 2, fontsize="small", frameon=False)
    return figure


def deliveries(rows: Sequence[HistoryRow]) -> Figure:
    """Draw how often records were delivered: the highest count in each cell of offsets and time."""
    import numpy as np  # noqa: PLC0415  only for pictures

    figure, axes = _figure(rows, "offset")
    from matplotlib.colors import BoundaryNorm, Normalize  # noqa: PLC0415  after we know that it is there
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  the same

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
    most = max(1, *(one.delivery_count for one in found))
    # A count is a whole number, and so is what the bar tells.
    norm = BoundaryNorm(np.arange(most + 1) + 0.5, 256) if most <= _COLOURS else Normalize(1, most)
    ticks = list(range(1, most + 1)) if most <= _COLOURS else MaxNLocator(integer=True)
    mesh = axes.pcolormesh(times, offsets, cells, cmap="viridis_r", norm=norm)
    figure.colorbar(mesh, ax=axes, label="deliveries", ticks=ticks, format="%d").minorticks_off()
    _name_times(axes, [begin, end - 1])
    return figure


def lag(rows: Sequence[HistoryRow], end_offsets: Iterable[tuple[int, int]]) -> Figure:
    """Draw the lag as Kafka counts it: end offset, less start offset, less what is settled after it.

    ``end_offsets`` are ascending pairs of a time in ms since the epoch and the end offset of the partition at that time; the
    state topic does not hold them. Each is a dot; its lag is drawn up to the next, and the last one a little further. If the
    delivery complete count is unknown, it is not subtracted.

    Raises ``ConfigError`` if the times do not ascend.
    """
    figure, axes = _figure(rows, "lag in records")
    told = [row for row in rows if row.start_offset >= 0]
    times = [row.at_timestamp for row in told]
    points: list[tuple[int, int]] = []
    before: int | None = None
    for ms, end in end_offsets:
        if before is not None and ms < before:
            raise ConfigError(f"end_offsets must ascend: {ms} follows {before}", field="end_offsets", value=ms)
        before = ms
        at = bisect_right(times, ms) - 1
        if at >= 0:
            points.append((ms, end - told[at].start_offset - max(0, told[at].delivery_complete_count)))
    if points:
        (first, _), (last, records) = points[0], points[-1]
        until = max(times[-1], last + max(1, round((last - first) * _LAST_STEP)))
        level = [*points, (until, records)]
        measured = list(range(len(points)))
        axes.step(*_columns(level), where="post", color="#0072b2", marker="o", markersize=3, markevery=measured)
    _name_times(axes, [ms for ms, _ in points])
    # The margin is of the whole height, and not of what the records differ by: else a level lag lies under the frame.
    axes.set_ylim(0, 1.05 * max((records for _, records in points), default=0) or 1)
    return figure


def life(trace: RecordTrace) -> Figure:
    """Draw the life of one record: its delivery count over time, with a mark and a word for each event."""
    figure, axes = _figure([], "delivery count")
    title = f"group {trace.group}, topic {trace.topic_id}, partition {trace.partition}, offset {trace.offset}: {trace.outcome}"
    axes.set_title(title, fontsize="medium", parse_math=False)
    heights: list[int] = []
    for event in trace.events:
        # What concerns the share partition as a whole, or ends the life in it, changes no count.
        heights.append(event.delivery_count if event.delivery_count is not None else (heights[-1] if heights else 0))
    times = [_time(event.at_ms) for event in trace.events]
    if times:
        axes.step(times, heights, where="post", color="black", linewidth=1.0)
    for place, (event, at, height) in enumerate(zip(trace.events, times, heights, strict=True)):
        axes.plot([at], [height], marker="o", markersize=8, color=_colour(event), markeredgecolor="black")
        # One above the other where many come at once.
        where = (6, 8 + 12 * (place % 3))
        axes.annotate(event.kind, (at, height), xytext=where, textcoords="offset points", fontsize="small", parse_math=False)
    axes.set_ylim(-0.5, max(heights, default=0) + 1)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.margins(x=0.12)
    _name_times(axes, [event.at_ms for event in trace.events])
    return figure


def _colour(event: TraceEvent) -> str:
    if event.state is not None:
        return _LOOKS.get(event.state, _OTHER)[0]
    return "#0072b2" if event.kind == PRODUCED else "#ffffff"


def _columns(points: list[tuple[int, int]]) -> tuple[list[datetime], list[int]]:
    return [_time(ms) for ms, _ in points], [records for _, records in points]


def _figure(rows: Sequence[HistoryRow], name: str) -> tuple[Figure, Axes]:
    require("plot", "matplotlib")
    from matplotlib.figure import Figure  # noqa: PLC0415  after we know that it is there

    # Not pyplot: no window, nothing kept alive behind the caller's back.
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    if rows:
        title = f"group {rows[0].group}, topic {rows[0].topic_id}, partition {rows[0].partition}"
        # A group may have any name, also one that looks like a formula.
        axes.set_title(title, fontsize="medium", parse_math=False)
    axes.set_ylabel(name)
    return figure, axes


def _name_times(axes: Axes, times: Sequence[int]) -> None:
    """Name the axis of time by its days: what stands at its ticks may be hours and seconds only."""
    days = [_time(ms).date().isoformat() for ms in (min(times), max(times))] if times else []
    axes.set_xlabel(", ".join(["time (UTC)", *([" to ".join(dict.fromkeys(days))] if days else [])]))


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
