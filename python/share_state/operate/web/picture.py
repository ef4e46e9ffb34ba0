"""Pictures of a history: cells of offset and time, each with one class, as paths of an SVG.

Colours are the style sheet's: an SVG of ours has classes and no styles, which the content security policy forbids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.types import RecordState

if TYPE_CHECKING:
    import numpy as np

    from share_state.operate.analysis.spans import Span

__all__ = ["DELIVERIES", "STATES", "Frame", "Layer", "Picture", "deliveries", "frame_of", "timeline"]

#: Cells along each side, at most.
_WIDTH: Final = 240
_HEIGHT: Final = 160
#: Deliveries from here on look alike; Kafka takes no higher limit.
_MOST_DELIVERIES: Final = 10
#: Ranks of states: a cell with several states has the class of the last of them here, so what is not settled is seen.
_RANKS: Final = (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED, RecordState.ARCHIVING, RecordState.AVAILABLE)
#: The classes of states by rank from 1 on, and how they are named.
STATES: Final = (
    ("acknowledged", "acknowledged"),
    ("archived", "archived"),
    ("archiving", "archiving"),
    ("available", "available, or in a member's hands"),
    ("other", "of a state that is not known"),
)
#: The classes of delivery counts, from 1 on, and how they are named.
DELIVERIES: Final = tuple(
    (f"d{count}", str(count) if count < _MOST_DELIVERIES else f"{count} or more") for count in range(1, _MOST_DELIVERIES + 1)
)


class Frame(NamedTuple):
    """Offsets and times that a picture shows; both ends are inclusive, times in ms since the epoch."""

    first_offset: int
    last_offset: int
    since: int
    until: int

    @property
    def height(self) -> int:
        """Cells from the first offset to the last."""
        return min(_HEIGHT, self.last_offset - self.first_offset + 1)

    @property
    def width(self) -> int:
        """Cells from the first time to the last."""
        return min(_WIDTH, self.until - self.since + 1)

    def row(self, offset: int) -> int:
        """Return the cell of an offset, from 0 at the first one on."""
        return (offset - self.first_offset) * self.height // (self.last_offset - self.first_offset + 1)

    def column(self, ms: int) -> int:
        """Return the cell of a time."""
        return (ms - self.since) * self.width // (self.until - self.since + 1)


class Layer(NamedTuple):
    """The cells of one class, as the path that covers them."""

    name: str
    title: str
    path: str


class Picture(NamedTuple):
    """Layers over a frame, and for the timeline the line of the start offset; the greatest offsets are at the top."""

    frame: Frame
    layers: tuple[Layer, ...]
    line: str = ""


def frame_of(spans: Sequence[Span], starts: Sequence[tuple[int, int]], since: int | None = None) -> Frame | None:
    """Find the frame around spans that end at or after a time; None where there is nothing to show."""
    shown = [one for one in spans if since is None or one.until >= since]
    if not shown:
        return None
    times = [one.since for one in shown] + [one.until for one in shown] + [ms for ms, _ in starts]
    begin = min(times) if since is None else max(since, min(times))
    return Frame(min(one.first_offset for one in shown), max(one.last_offset for one in shown), begin, max(times))


def timeline(spans: Sequence[Span], starts: Sequence[tuple[int, int]], frame: Frame) -> Picture:
    """Draw the states of records over time, and the start offset."""
    ranks = {int(state): rank for rank, state in enumerate(_RANKS, start=1)}
    cells = _cells(spans, [ranks.get(one.state, len(STATES)) for one in spans], frame)
    return Picture(frame, _layers(cells, STATES), _line(starts, frame))


def deliveries(spans: Sequence[Span], frame: Frame) -> Picture:
    """Draw how often records were delivered: the greatest count of each cell."""
    cells = _cells(spans, [min(one.delivery_count, _MOST_DELIVERIES) for one in spans], frame)
    return Picture(frame, _layers(cells, DELIVERIES))


def _cells(spans: Sequence[Span], values: Sequence[int], frame: Frame) -> np.ndarray:
    """Give each cell the greatest value of the spans in it."""
    import numpy as np  # noqa: PLC0415  only for pictures

    cells = np.zeros((frame.height, frame.width), dtype=np.int8)
    for one, value in zip(spans, values, strict=True):
        if one.until < frame.since:
            continue
        bottom, top = frame.row(one.first_offset), frame.row(one.last_offset)
        left, right = frame.column(max(one.since, frame.since)), frame.column(one.until)
        part = cells[bottom : top + 1, left : right + 1]
        np.maximum(part, value, out=part)
    return cells


def _layers(cells: np.ndarray, classes: Sequence[tuple[str, str]]) -> tuple[Layer, ...]:
    """Cover the cells with rectangles: runs of a row, and of the same place in the rows below."""
    paths: list[list[str]] = [[] for _ in classes]
    #: The row in which each run that goes on began: class, first cell and length.
    going: dict[tuple[int, int, int], int] = {}
    for y, row in enumerate([*reversed(cells.tolist()), []]):
        runs = set(_runs(row))
        for ended in sorted(going.keys() - runs):
            value, x, length = ended
            began = going.pop(ended)
            paths[value - 1].append(f"M{x} {began}h{length}v{y - began}h-{length}z")
        for run in runs - going.keys():
            going[run] = y
    return tuple(Layer(name, title, "".join(path)) for (name, title), path in zip(classes, paths, strict=True) if path)


def _runs(row: list[int]) -> Iterator[tuple[int, int, int]]:
    x = 0
    for value, run in groupby(row):
        length = sum(1 for _ in run)
        if value:
            yield value, x, length
        x += length


def _line(starts: Sequence[tuple[int, int]], frame: Frame) -> str:
    """Draw where the start offset was, by steps; it may lie outside of what was written about."""
    duration, offsets = frame.until - frame.since + 1, frame.last_offset - frame.first_offset + 1
    path: list[str] = []
    for ms, offset in starts:
        x = max(0.0, (ms - frame.since) * frame.width / duration)
        y = (1 - (offset - frame.first_offset) / offsets) * frame.height
        y = min(max(y, 0.0), float(frame.height))
        if x == 0:
            # Only the last one before the frame is seen.
            path = [f"M0 {y:.2f}"]
        else:
            path.append(f"H{x:.2f}V{y:.2f}" if path else f"M{x:.2f} {y:.2f}")
    if path:
        path.append(f"H{frame.width}")
    return "".join(path)
