"""Choice and order of the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from share_state.operate.top.column import Column, Table, natural_widths

__all__ = ["Arranged", "Order", "arranged"]

T = TypeVar("T")


@dataclass(frozen=True)
class Order:
    """By which column rows are sorted, and whether the other way round."""

    column: int = 0
    reverse: bool = False

    def by(self, column: int) -> Order:
        """Sort by a column; the other way round where it was that one before."""
        return Order(column, reverse=not self.reverse) if column == self.column else Order(column)

    def next(self, columns: tuple[Column[T], ...], step: int) -> Order:
        """Sort by the next column that can be sorted by, or for a step of -1 by the one before."""
        column = self.column
        while True:
            column = (column + step) % len(columns)
            if columns[column].order is not None:
                return Order(column)

    def reversed(self) -> Order:
        """Sort the other way round."""
        return replace(self, reverse=not self.reverse)


@dataclass(frozen=True)
class Arranged(Generic[T]):
    """Rows in order.

    Attributes:
        rows: those that are shown.
        widths: how wide each column is where nothing is cut.
        total: how many there are without a filter.
    """

    rows: tuple[T, ...]
    widths: tuple[int, ...]
    total: int


def arranged(
    table: Table[T], rows: Iterable[T], order: Order, *, words: str = "", searched: Callable[[T], str] | None = None
) -> Arranged[T]:
    """Filter and sort.

    Args:
        table: the kind of rows.
        rows: all of them.
        order: by what they are sorted; equal ones as the first column has it.
        words: only rows with all of these words.
        searched: where the words are looked for, in lower case; None where there is no filter.
    """
    everything = list(rows)
    wanted = words.casefold().split()
    kept = everything
    if wanted and searched is not None:
        kept = [row for row in everything if _has(searched(row), wanted)]
    first, chosen = table.columns[0].order, table.columns[order.column].order
    if first is not None and chosen is not first:
        kept = sorted(kept, key=first)
    if chosen is not None:
        kept = sorted(kept, key=chosen, reverse=order.reverse)
    return Arranged(tuple(kept), natural_widths(table.columns, kept), len(everything))


def _has(text: str, words: list[str]) -> bool:
    return all(word in text for word in words)
