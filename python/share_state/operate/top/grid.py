"""A table of any length: only the rows in sight are made into text, whenever they are drawn."""

from __future__ import annotations

from textwrap import wrap
from typing import Any, ClassVar, Final, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from share_state.operate.top.arrange import Arranged, Order
from share_state.operate.top.column import GAP, Fitted, Table, fitted, in_cells

__all__ = ["Grid"]

T = TypeVar("T")

_HEADER: Final = Style.parse("bold underline")
_CURSOR: Final = Style.parse("reverse")
_PLAIN: Final = Style.null()


class Grid(ScrollView, Generic[T], can_focus=True):
    """A table with a header that stays, and a cursor that stays on its row when rows move.

    Args:
        table: the kind of rows.
        empty: stands where there is no row.
        opens: whether a row can be gone into.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "Grid { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open"),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "end(-1)", show=False),
        Binding("end,G", "end(1)", show=False),
        Binding("left", "shift(-1)", show=False),
        Binding("right", "shift(1)", show=False),
    ]

    class Chosen(Message):
        """A row was chosen, by Enter or by a click where the cursor was."""

        def __init__(self, row: Any) -> None:  # noqa: ANN401  a message is of no type of rows
            super().__init__()
            self.row = row

    class Moved(Message):
        """The cursor is on another row, or there is no row."""

    class HeaderClicked(Message):
        """The header of a column was clicked."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def __init__(self, table: Table[T], *, empty: str = "", opens: bool = True, id: str | None = None) -> None:  # noqa: A002  textual's name
        super().__init__(id=id)
        self._table = table
        self._empty = empty
        self._opens = opens
        self._arranged: Arranged[T] = Arranged((), tuple(len(column.title) for column in table.columns), 0)
        self._order = Order()
        self._cursor = 0
        self._shift = 0

    @property
    def rows(self) -> tuple[T, ...]:
        """The rows, in order."""
        return self._arranged.rows

    @property
    def row(self) -> T | None:
        """The row under the cursor; None where there is no row."""
        return self.rows[self._cursor] if self._cursor < len(self.rows) else None

    def show(self, arranged: Arranged[T], order: Order, *, table: Table[T] | None = None, empty: str | None = None) -> None:
        """Show other rows. The cursor follows its row; where that is gone it stays at its place.

        Args:
            arranged: the rows.
            order: by what they are sorted; the header says so.
            table: another kind of rows than before; the cursor is on the first.
            empty: stands where there is no row.
        """
        before, seen = self.row, self._is_in_sight()
        if table is not None and table is not self._table:
            self._table, self._cursor, self._shift, before = table, 0, 0, None
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self._arranged, self._order = arranged, order
        self._empty = self._empty if empty is None else empty
        if before is not None:
            key = self._table.key(before)
            self._cursor = next((place for place, row in enumerate(self.rows) if self._table.key(row) == key), self._cursor)
        self._cursor = max(0, min(self._cursor, len(self.rows) - 1))
        self.virtual_size = Size(self._cells, len(self.rows) + 1)
        if seen:
            # Somebody who has scrolled elsewhere stays there.
            self._into_sight()
        self.refresh()
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.virtual_size = Size(self._cells, len(self.rows) + 1)
        self._into_sight()
        self.refresh()

    def _is_in_sight(self) -> bool:
        return 0 <= self._cursor - round(self.scroll_offset.y) < max(1, self.size.height - 1)

    def _into_sight(self) -> None:
        height = max(1, self.size.height - 1)
        top = round(self.scroll_offset.y)
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True, immediate=True)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False, force=True, immediate=True)

    @property
    def _cells(self) -> int:
        """Number of cells that a line has beside the scroll bar."""
        return self.scrollable_content_region.width

    def _fitted(self) -> Fitted[T]:
        # One cell is for the mark in the header that there is more.
        return fitted(
            self._table.columns, self._arranged.widths, max(1, self._cells - 1), fixed=self._table.fixed, shift=self._shift
        )

    def render_line(self, y: int) -> Strip:
        """Draw one line of what is in sight."""
        shown = self._fitted()
        if y == 0:
            segments = self._header(shown)
        else:
            place = round(self.scroll_offset.y) + y - 1
            if place < len(self.rows):
                segments = self._line(self.rows[place], shown, at_cursor=place == self._cursor)
            else:
                lines = [] if self.rows else wrap(self._empty, max(1, self._cells))
                segments = [Segment(lines[y - 1] if y <= len(lines) else "", _PLAIN)]
        return Strip(segments).adjust_cell_length(self._cells, _PLAIN)

    def _header(self, shown: Fitted[T]) -> list[Segment]:
        segments, used = [], 0
        sorted_by = self._table.columns[self._order.column]
        for place, (column, width) in enumerate(shown.columns):
            mark = " "
            if column is sorted_by and column.order is not None:
                mark = "▲" if self._order.reverse else "▼"
            segments.append(Segment(in_cells(column.title, width, right=column.right), _HEADER))
            last = place == len(shown.columns) - 1
            more = "→" if last and shown.right else "←" if shown.left and place == self._table.fixed - 1 else " "
            used += width + GAP
            # That there is more is told in any case.
            segments.append(Segment(more if used > self._cells and more != " " else f"{mark}{more}", _HEADER))
        return segments

    def _line(self, row: T, shown: Fitted[T], *, at_cursor: bool) -> list[Segment]:
        base = _CURSOR if at_cursor and self.has_focus else _PLAIN
        segments, used = [], 0
        for column, width in shown.columns:
            used += width + GAP
            style = Style.parse(column.style(row)) if column.style is not None else _PLAIN
            if style.bgcolor is None:
                # On the cursor a colour would be that of the ground.
                style = base if at_cursor else style
            segments += [
                Segment(in_cells(column.text(row), width, right=column.right), style),
                Segment(" " * GAP, base),
            ]
        return [*segments, Segment(" " * max(0, self._cells - used), base)]

    def _column_at(self, x: int) -> int | None:
        left = 0
        for column, width in self._fitted().columns:
            if left <= x < left + width + GAP:
                return self._table.columns.index(column)
            left += width + GAP
        return None

    def on_click(self, event: events.Click) -> None:
        """Sort by the header, move the cursor to the row, or choose the row where the cursor is there already."""
        event.stop()
        if event.y == 0:
            if (column := self._column_at(event.x)) is not None:
                self.post_message(self.HeaderClicked(column))
            return
        place = round(self.scroll_offset.y) + event.y - 1
        if place >= len(self.rows):
            return
        if place == self._cursor:
            self.action_choose()
        else:
            self._to(place)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to open only what can be."""
        return self._opens if action == "choose" else super().check_action(action, parameters)

    def on_focus(self) -> None:
        """Draw the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw no cursor."""
        self.refresh()

    def _to(self, place: int) -> None:
        self._cursor = max(0, min(place, len(self.rows) - 1))
        self._into_sight()
        self.refresh()
        self.post_message(self.Moved())

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        if self._opens and (row := self.row) is not None:
            self.post_message(self.Chosen(row))

    def action_move(self, step: int) -> None:
        """Move the cursor by rows."""
        self._to(self._cursor + step)

    def action_page(self, step: int) -> None:
        """Move the cursor by pages."""
        self._to(self._cursor + step * max(1, self.size.height - 1))

    def action_end(self, step: int) -> None:
        """Move the cursor to the first or the last row."""
        self._to(0 if step < 0 else len(self.rows) - 1)

    def action_shift(self, step: int) -> None:
        """Show the columns farther left or right."""
        shown = self._fitted()
        if shown.right if step > 0 else shown.left:
            self._shift += step
            self.refresh()
