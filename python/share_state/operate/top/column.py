"""Columns of a table, and which of them fit into so many cells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from rich.cells import cell_len, chop_cells, set_cell_size

__all__ = ["GAP", "Column", "Fitted", "Table", "fitted", "in_cells", "natural_widths"]

T = TypeVar("T")

#: Cells between two columns; the mark of the sorting stands in the first of them.
GAP: Final = 2
#: Least width of a column of names while there is more to show, in parts of all cells.
_SHARE: Final = 5
#: Names are not looked at beyond this length.
_LONGEST: Final = 200


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column.

    Attributes:
        title: its header.
        text: what stands in a row.
        order: by what rows are sorted, the most telling first; None where they are not.
        style: how it looks, in rich's words.
        width: cells; None: as wide as its texts, as far as there is room.
        right: whether it is justified to the right.
        says: what it shows, for the help.
    """

    title: str
    text: Callable[[T], str]
    order: Callable[[T], Any] | None = None
    style: Callable[[T], str] | None = None
    width: int | None = None
    right: bool = False
    says: str = ""


@dataclass(frozen=True)
class Table(Generic[T]):
    """A kind of table.

    Attributes:
        columns: its columns.
        key: what a row is known by from one view to the next.
        fixed: so many columns stay where they are when the others move.
    """

    columns: tuple[Column[T], ...]
    key: Callable[[T], Hashable]
    fixed: int


class Fitted(NamedTuple, Generic[T]):
    """The columns that are shown, each with its width, and whether there are more on either side."""

    columns: tuple[tuple[Column[T], int], ...]
    left: bool
    right: bool


def natural_widths(columns: Iterable[Column[T]], rows: Sequence[T]) -> tuple[int, ...]:
    """Return how wide each column is where nothing is cut."""
    return tuple(
        # Each text once: of many rows most say the same.
        max(
            cell_len(column.title), max((min(_LONGEST, cell_len(text)) for text in {column.text(row) for row in rows}), default=0)
        )
        if column.width is None
        else max(column.width, cell_len(column.title))
        for column in columns
    )


def fitted(columns: Sequence[Column[T]], natural: Sequence[int], cells: int, *, fixed: int, shift: int) -> Fitted[T]:
    """Choose the columns that fit, and divide what is left among those that are cut.

    Args:
        columns: all of them.
        natural: how wide each would be.
        cells: how many there are.
        fixed: so many columns are always shown.
        shift: so many of the others are passed over.
    """
    name_share = max(6, cells // _SHARE)
    least = [min(wide, name_share) if column.width is None else wide for column, wide in zip(columns, natural, strict=True)]
    shift = max(0, min(shift, len(columns) - fixed - 1))
    chosen = list(range(min(fixed, len(columns))))
    used = sum(least[place] for place in chosen) + GAP * max(0, len(chosen) - 1)
    last = fixed + shift
    for place in range(fixed + shift, len(columns)):
        if used + GAP + least[place] > cells:
            break
        chosen.append(place)
        used += GAP + least[place]
        last = place + 1
    widths = {place: least[place] for place in chosen}
    for place in chosen:
        more = min(natural[place] - widths[place], max(0, cells - used))
        widths[place] += more
        used += more
    return Fitted(tuple((columns[place], widths[place]) for place in chosen), left=shift > 0, right=last < len(columns))


def in_cells(text: str, width: int, *, right: bool = False) -> str:
    """Return a text in exactly so many cells; one that is longer ends with an ellipsis."""
    length = cell_len(text)
    if length > width:
        text = f"{chop_cells(text, width - 1)[0]}…" if width > 1 else "…"[:width]
        return set_cell_size(text, width)
    return " " * (width - length) + text if right else text + " " * (width - length)
