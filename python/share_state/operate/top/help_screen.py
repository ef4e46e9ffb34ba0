"""Screens over a level: the help with keys, words and columns; and the problems in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from share_state.operate.top.advice import WORDS
from share_state.operate.top.levels import HEALTH_STYLES, SHARE_PARTITIONS
from share_state.util.printable import printable

__all__ = ["KEYS", "TextScreen", "help_text", "problems_text"]

#: As they stand in the help of the command and in docs/operate.md as well.
KEYS: Final = (
    ("Enter, click", "go into a group, or a share partition; a click moves the cursor there first"),
    ("Escape", "remove the filter, or go back"),
    ("a", "the share partitions of all groups"),
    ("1 2 3, Tab", "of a share partition: records, members, timeline"),
    ("/", "filter: only lines with all these words"),
    ("s S, header", "sort by the next, previous or clicked column"),
    ("r", "reverse the order"),
    ("← →", "scroll the columns"),
    ("↑ ↓ j k", "move; PgUp, PgDn, Home, End as well"),
    ("p, Space", "pause the screen"),
    ("!", "all problems: hidden parts, each with its reason"),
    ("?", "this help"),
    ("q, Ctrl-C", "quit"),
)
_NOT_TOLD: Final = (
    "An acquisition is not written to the state topic, so a record in a member's hands shows as its last written state, or not "
    "at all. A release and a lock that ran out look alike, and so do a rejection and a gap."
)


class TextScreen(ModalScreen[None]):
    """A text over the screen.

    Args:
        text: what is shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,exclamation_mark,enter", "dismiss", "Back", key_display="esc"),
    ]
    DEFAULT_CSS = "TextScreen { background: ansi_default; layout: vertical; VerticalScroll { height: 1fr; padding: 0 1; } }"

    def __init__(self, text: RenderableType) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Make the widgets."""
        with VerticalScroll():
            yield Static(self._text, markup=False)
        yield Footer(compact=True, show_command_palette=False)


def help_text() -> RenderableType:
    """Return the help."""
    columns = [(column.title, "bold", column.says) for column in SHARE_PARTITIONS.columns if column.says]
    return Group(
        _heading("Keys"),
        _pairs((key, "bold", says) for key, says in KEYS),
        _heading("Words, the most urgent first"),
        _pairs((health.value, HEALTH_STYLES[health], says) for health, says in WORDS.items()),
        _heading("Columns"),
        _pairs(columns),
        _heading("What the log cannot tell"),
        Text(_NOT_TOLD),
    )


def _heading(heading: str) -> Text:
    return Text(f"\n{heading}", "bold underline")


def _pairs(pairs: Iterable[tuple[str, str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, style, says in pairs:
        table.add_row(Text(name, style), Text(says))
    return table


def problems_text(problems: tuple[str, ...]) -> RenderableType:
    """Return all problems."""
    texts = [Text(printable(problem)) for problem in problems] or [Text("Everything can be seen.")]
    return Group(_heading("What cannot be seen"), *texts)
