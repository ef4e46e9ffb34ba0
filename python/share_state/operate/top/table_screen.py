"""A level: a table with a title above it, and below it the reason of a line, the filter, problems, and the keys."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from share_state.operate.top.arrange import Arranged, Order, arranged
from share_state.operate.top.column import Table, in_cells
from share_state.operate.top.grid import Grid
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.live import View
    from share_state.operate.top.host import Host

__all__ = ["NOT_TOLD", "TableScreen"]

T = TypeVar("T")

#: Said on every level, in at most 80 cells.
NOT_TOLD: Final = "A record in a member's hands shows as its last written state, or not at all."


class TableScreen(Screen[None], Generic[T]):
    """A table of what a view has.

    Args:
        top: the program.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "sort(1)", "Sort"),
        Binding("S", "sort(-1)", show=False),
        Binding("r", "reverse", "Reverse"),
    ]
    DEFAULT_CSS = """
    TableScreen {
        layout: vertical;
        .line { height: 1; width: 100%; text-wrap: nowrap; text-overflow: ellipsis; }
        #title { text-style: reverse; }
        #problem { color: ansi_red; }
        #note { text-style: dim; }
        #slash { width: 2; text-style: bold; }
        Input { width: 1fr; height: 1; border: none; padding: 0; background: ansi_default; color: ansi_default; }
    }
    """

    #: True if a row can be opened.
    opens: ClassVar[bool] = True

    def __init__(self, top: Host) -> None:
        super().__init__()
        self.top = top
        self._order = Order()
        self._table: Table[T] = self.kind()
        self._said = ""
        self._renewing = self._stale = False
        # Held, not looked up: a view may come while the screen is taken down.
        self._title = Static(id="title", classes="line", markup=False)
        self.grid: Grid[T] = Grid(self._table, opens=self.opens, id="grid")
        self._below = Static(id="below", classes="line", markup=False)
        self._words = Input(placeholder="words that a line must have", compact=True)
        self._filter = Horizontal(Static("/ ", id="slash"), self._words, id="filter", classes="line")
        self._problem = Static(id="problem", classes="line", markup=False)

    def kind(self) -> Table[T]:
        """Return the kind of the rows."""
        raise NotImplementedError

    def rows(self, view: View) -> Iterable[T]:
        """Return all rows of a view. It is called in a thread, and so is :meth:`title_of`."""
        raise NotImplementedError

    def searched(self) -> Callable[[T], str] | None:
        """Return what a filter looks at; None where there is no filter."""
        return None

    def title_of(self, view: View) -> str:
        """Say what is shown."""
        raise NotImplementedError

    def below(self) -> Text:
        """Return what stands under the table: of the line under the cursor."""
        return Text()

    def empty(self, view: View) -> str:  # noqa: ARG002  not every level needs it
        """Say why there is no row."""
        return "No line has the words of the filter." if self.words else "Nothing is here."

    def above_table(self) -> ComposeResult:
        """Make what stands between the title and the table."""
        return ()

    def compose(self) -> ComposeResult:
        """Make the widgets."""
        yield self._title
        yield from self.above_table()
        yield self.grid
        yield self._below
        yield self._filter
        yield self._problem
        yield Static(NOT_TOLD, id="note", classes="line", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Hide what has nothing to say."""
        self._filter.display = False
        self._problem.display = False
        self.grid.focus()

    def on_screen_resume(self) -> None:
        """Show what was seen meanwhile."""
        self.renew()

    def on_resize(self) -> None:
        """Write the title again: it is as wide as the screen."""
        self._write_title()

    @property
    def words(self) -> str:
        """The words of the filter."""
        return self._words.value

    def renew(self) -> None:
        """Show the view of the program again: it is another one, or it is looked at in another way."""
        if not self.is_running:
            return
        self._write_title()
        # One at a time: of a large view this takes longer than a key is pressed, or even until the next view comes.
        self._stale = True
        if not self._renewing:
            self._renewing = True
            # Not called here: where the program ends first, the coroutine would never be awaited.
            self.run_worker(self._renew_until_fresh, group="renew")  # type: ignore[arg-type]  # it has no result

    async def _renew_until_fresh(self) -> None:
        try:
            while self._stale:
                self._stale = False
                if self.top.view is not None:
                    await self._renew(self.top.view)
        finally:
            self._renewing = False

    async def _renew(self, view: View) -> None:
        order = self._order
        found, self._said = await asyncio.to_thread(self._arranged, view, order, self.words)
        self.grid.show(found, order, table=self._table, empty=self.empty(view))
        self.shown(view)

    def _arranged(self, view: View, order: Order, words: str) -> tuple[Arranged[T], str]:
        """Do what takes long where there are many lines, in a thread."""
        found = arranged(self._table, self.rows(view), order, words=words, searched=self.searched())
        return found, self.title_of(view)

    def shown(self, view: View) -> None:
        """Do what is to be done when a view was shown."""
        self._write_title()
        self._write_problem(view)

    def _write_title(self) -> None:
        view = self.top.view
        left = self.top.waiting if view is None else self._said
        clock = "" if view is None else time.strftime("%H:%M:%SZ", time.gmtime(view.at_ms / 1000))
        right = f" {'PAUSED ' if self.top.paused else ''}{clock}"
        width = self.size.width
        self._title.update(Text(in_cells(left, max(0, width - len(right))) + right[-width:], no_wrap=True))

    def _write_problem(self, view: View) -> None:
        texts = list(view.problems)
        if view.behind:
            are = "1 offset of the state topic is" if view.behind == 1 else f"{view.behind} offsets of the state topic are"
            texts.append(f"{are} not read yet")
        self._problem.display = bool(texts)
        more = f"  +{len(texts) - 1} more: !" if len(texts) > 1 else ""
        room = max(1, self.size.width - len(more))
        self._problem.update(Text(in_cells(f"! {printable(texts[0])}", room) + more if texts else "", no_wrap=True))

    def on_grid_moved(self) -> None:
        """Say of the line under the cursor what does not fit into it."""
        self._below.update(self.below())

    def on_grid_header_clicked(self, message: Grid.HeaderClicked) -> None:
        """Sort by a column."""
        if self._table.columns[message.column].order is not None:
            self._sort(self._order.by(message.column))

    def action_sort(self, step: int) -> None:
        """Sort by the next column."""
        self._sort(self._order.next(self._table.columns, step))

    def action_reverse(self) -> None:
        """Sort the other way round."""
        self._sort(self._order.reversed())

    def _sort(self, order: Order) -> None:
        self._order = order
        self.renew()

    def action_filter(self) -> None:
        """Ask for the words of the filter."""
        if self.searched() is not None:
            self._filter.display = True
            self._words.focus()
            self.refresh_bindings()

    def on_input_changed(self) -> None:
        """Filter while the words are written."""
        self.renew()

    def on_input_submitted(self) -> None:
        """Keep the filter."""
        self._filter.display = bool(self.words)
        self.grid.focus()

    def action_back(self) -> None:
        """Take the filter away; where there is none, go back to the level above."""
        if self._filter.display:
            self._words.value = ""
            self._filter.display = False
            self.grid.focus()
            self.refresh_bindings()
        elif not self._is_lowest():
            self.dismiss()

    def _is_lowest(self) -> bool:
        return self.top.is_lowest(self)

    def check_action(self, action: str, parameters: tuple[Any, ...]) -> bool | None:
        """Offer only what there is."""
        if action == "back" and self._is_lowest():
            return self._filter.display
        if action == "filter":
            return self.searched() is not None
        return super().check_action(action, parameters)
