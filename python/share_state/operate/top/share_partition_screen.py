"""The lowest level: one share partition, its reasons, its records, its members, and its timeline."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from share_state.operate.analysis.start_offset_reason import explain_start_offset
from share_state.operate.top.arrange import Order, arranged
from share_state.operate.top.column import Table
from share_state.operate.top.described import MEMBERS, described, members_of
from share_state.operate.top.lines import Key, Line, key_of, lines, topic_of
from share_state.operate.top.records import RECORDS, record_ranges
from share_state.operate.top.table_screen import TableScreen
from share_state.operate.top.timeline import TIMELINE, Timeline
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.live import View
    from share_state.operate.top.host import Host

__all__ = ["SharePartitionScreen"]

_PANELS: Final = ("Records", "Members", "Timeline")
_TABLES: Final[tuple[Table[Any], ...]] = (RECORDS, MEMBERS, TIMELINE)
_RECORDS, _MEMBERS, _TIMELINE = range(3)
#: Before anything is sorted by, rows stand in their own order: by offset, or the newest first.
_NONE: Final = Order()


class SharePartitionScreen(TableScreen[Any]):
    """Screen of a share partition.

    Args:
        top: the program.
        key: its key.
        line: how it was when it was chosen; it stays when the share partition goes away.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "panel(0)", show=False),
        Binding("2", "panel(1)", show=False),
        Binding("3", "panel(2)", show=False),
        Binding("tab", "next_panel", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    SharePartitionScreen {
        #head { height: auto; max-height: 55%; scrollbar-size-vertical: 1; }
        #described { height: auto; }
        #panels {
            margin-top: 1; link-style: none; link-color: ansi_default; link-background: ansi_default;
            link-style-hover: underline; link-color-hover: ansi_default; link-background-hover: ansi_default;
        }
    }
    """

    opens: ClassVar[bool] = False

    class Told(Message):
        """The timeline was read, or a part of it. A message holds up neither thread, even while the program ends."""

        def __init__(self, timeline: Timeline) -> None:
            super().__init__()
            self.timeline = timeline

    def __init__(self, top: Host, key: Key, line: Line) -> None:
        super().__init__(top)
        self._key = key
        self._line = line
        self._gone = False
        self._panel = _RECORDS
        self._orders = [_NONE, _NONE, _NONE]
        self._timeline = Timeline((), "")
        self._described = Static(id="described", markup=False)
        self._panels = Static(id="panels", classes="line")

    def kind(self) -> Table[Any]:
        """See above."""
        return RECORDS

    def title_of(self, view: View) -> str:  # noqa: ARG002  it is the same in every view
        """See above."""
        one = self._line.one
        gone = "  IS GONE: as it was seen last" if self._gone else ""
        return f"group {printable(one.group)}  topic {topic_of(one)}  partition {one.partition}{gone}"

    def above_table(self) -> ComposeResult:
        """Make the head."""
        with VerticalScroll(id="head", can_focus=False):
            yield self._described
        yield self._panels

    async def _renew(self, view: View) -> None:
        found = next((line for line in lines(view, self._key[0]) if key_of(line.one) == self._key), None)
        self._gone = found is None
        self._line = found or self._line
        line, row = self._line, self._line.one.row
        batches = await asyncio.to_thread(self.top.live.state_batches, *self._key)
        reason = "" if row is None or batches is None else explain_start_offset(row.start_offset, batches).text
        self._described.update(described(line, self.top.lags(self._key), reason))
        rows: list[Any]
        if self._panel == _RECORDS:
            start = -1 if row is None else row.start_offset
            rows = record_ranges(start, line.one.log_end_offset, batches or ())
            empty = "No start offset is known, so no record." if start < 0 else "Everything is settled."
        elif self._panel == _MEMBERS:
            rows = members_of(line)
            known = line.group.members is not None
            empty = "No member of the group is assigned it." if known else "The members are not known: see the problems (!)."
        else:
            rows = list(self._timeline.rows)
            empty = self._timeline.about
        table, order = _TABLES[self._panel], self._orders[self._panel]
        found_rows = await asyncio.to_thread(arranged, table, rows, order)
        self._table = table
        self._said = self.title_of(view)
        self.grid.show(found_rows, order, table=table, empty=empty)
        self._write_panels()
        self.shown(view)

    def _write_panels(self) -> None:
        text = "  ".join(
            f"[{'reverse' if place == self._panel else 'bold'} @click=screen.panel({place})] {place + 1} {name} [/]"
            for place, name in enumerate(_PANELS)
        )
        self._panels.update(text)

    def below(self) -> Text:
        """See above."""
        return Text(printable(self._timeline.about) if self._panel == _TIMELINE and self._timeline.rows else "", no_wrap=True)

    def _sort(self, order: Order) -> None:
        self._orders[self._panel] = order
        self._order = order
        self.renew()

    def action_panel(self, panel: int) -> None:
        """Show the records, the members or the timeline; the timeline is read again."""
        self._panel = panel
        self._table, self._order = _TABLES[panel], self._orders[panel]
        if panel == _TIMELINE:
            self._read()
        self.renew()

    def action_next_panel(self) -> None:
        """Show what comes next."""
        self.action_panel((self._panel + 1) % len(_PANELS))

    def _read(self) -> None:
        if self._line.one.row is None:
            self._timeline = Timeline((), "The state topic has no state of it, so there is no timeline.")
            return
        self._timeline = self._timeline._replace(about="Reading the state topic …")
        self._read_timeline(self._line.one.row.state_partition)

    @work(thread=True, exclusive=True, group="timeline")
    def _read_timeline(self, state_partition: int) -> None:
        worker = get_current_worker()

        def watched(done: int, total: int) -> bool:
            if total and not worker.is_cancelled:
                about = f"Reading the state topic: {done:,} of {total:,} records …"
                self.post_message(self.Told(self._timeline._replace(about=about)))
            return not worker.is_cancelled

        timeline = self.top.history.read(self._key, state_partition, watched)
        if not worker.is_cancelled:
            self.post_message(self.Told(timeline))

    def on_share_partition_screen_told(self, message: Told) -> None:
        """Take what was read of the timeline, or how far it is."""
        self._timeline = message.timeline
        if self._panel == _TIMELINE:
            self.renew()
