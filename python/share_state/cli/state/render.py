"""The state table for people: columns where they fit, one block a share partition where they do not."""

import textwrap
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from share_state.cli.shared.lines import UNBOUNDED, console_of_stdout
from share_state.cli.state.summary import Summary
from share_state.util.printable import printable

#: Said under every view, because the state on disk invites the opposite reading.
NOT_PERSISTED = "An acquisition is never written: an acquired record shows its last written state, or does not show at all."
#: Said of a directory.
LAG_UNTOLD = "The lag is unknown: a log does not hold the ends of topics. Pass --log-end-offsets FILE."

_COLUMNS = (
    ("GROUP", "left"),
    ("TOPIC-ID", "left"),
    ("PARTITION", "right"),
    ("EPOCHS", "right"),
    ("START", "right"),
    ("END", "right"),
    ("AVAILABLE", "right"),
    ("ACKNOWLEDGED", "right"),
    ("ARCHIVING", "right"),
    ("ARCHIVED", "right"),
    ("MAX-COUNT", "right"),
    ("OLDEST", "right"),
    ("LAG", "right"),
    ("WHAT HOLDS THE START OFFSET", "left"),
)
#: Shown where it is known of a share partition.
_LAG_COLUMN = 12
#: The two lines of figures of a block: epochs, window and what stands out; records by state.
_PLACE_COLUMNS = (3, 4, 5, 11, 10, _LAG_COLUMN)
_COUNT_COLUMNS = (6, 7, 8, 9)
#: Indent of the lines below the title of a block.
_INDENT = "  "
#: A blank at which no line is wrapped; what is printable has none of it.
_KEPT = "\0"


def write_states(summaries: Sequence[Summary], as_of: str = "", *, whole: bool = True, lag_untold: bool = False) -> None:
    """Print summaries to stdout, escaped.

    `as_of` says of which log, where it is an earlier one; `whole` whether all of it could be read; `lag_untold` whether nobody
    said where the topics end.
    """
    console = console_of_stdout()
    if not summaries:
        # What could not be read may hold anything.
        place = "here" if whole else "in what could be read"
        console.print(Text(printable(f"No share partition has state {place}{as_of}.")))
        return
    table = _table(summaries)
    unbounded = console.options.update(max_width=UNBOUNDED)
    legend = "EPOCHS are snapshot/state/leader; OLDEST is the oldest unsettled offset."
    if Measurement.get(console, unbounded, table).maximum <= console.width:
        console.print(table)
    else:
        # The figures of a block have their names in lower case.
        legend = legend.replace("EPOCHS", "epochs").replace("OLDEST", "oldest")
        for summary in summaries:
            console.print(_block(summary, console.width))
    for line in (legend, NOT_PERSISTED, *([LAG_UNTOLD] if lag_untold else [])):
        console.print(Text(_wrapped(line, console.width, later=""), style="dim"))


def _cells(summary: Summary) -> tuple[str, ...]:
    return (
        printable(summary.group),
        summary.topic_id,
        str(summary.partition),
        f"{summary.snapshot_epoch}/{summary.state_epoch}/{summary.leader_epoch}",
        _offset(summary.start_offset),
        _offset(summary.window_end),
        str(summary.available),
        str(summary.acknowledged),
        str(summary.archiving),
        str(summary.archived),
        str(summary.highest_delivery_count),
        _offset(summary.oldest_unsettled),
        _offset(summary.lag),
        summary.reason,
    )


def _offset(offset: int | None) -> str:
    return "-" if offset is None else str(offset)


def _row_style(summary: Summary) -> str:
    """Make what holds the start offset back stand out."""
    return "" if summary.oldest_unsettled is None else "yellow"


def _table(summaries: Sequence[Summary]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    lag_known = any(summary.lag is not None for summary in summaries)
    shown = [column for column in range(len(_COLUMNS)) if lag_known or column != _LAG_COLUMN]
    for name, justify in (_COLUMNS[column] for column in shown):
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    for summary in summaries:
        cells = _cells(summary)
        # Text, not str: a group id is never read as rich's markup.
        table.add_row(*(Text(cells[column]) for column in shown), style=_row_style(summary))
    return table


def _block(summary: Summary, width: int) -> Text:
    cells = _cells(summary)
    title = _figures((cells[0], cells[1], f"partition {cells[2]}"), width)
    block = Text(f"{title}\n", style="bold")
    for columns in (_PLACE_COLUMNS, _COUNT_COLUMNS):
        known = (column for column in columns if column != _LAG_COLUMN or summary.lag is not None)
        shown = _figures((f"{_COLUMNS[column][0].lower()} {cells[column]}" for column in known), width, _INDENT)
        block.append(f"{shown}\n", style="not bold")
    block.append(f"{_wrapped(summary.reason, width, _INDENT)}\n", style=f"not bold {_row_style(summary)}")
    return block


def _figures(pieces: Iterable[str], width: int, first: str = "") -> str:
    """Set pieces side by side, and wrap between them."""
    return _wrapped("  ".join(piece.replace(" ", _KEPT) for piece in pieces), width, first).replace(_KEPT, " ")


def _wrapped(text: str, width: int, first: str = "", later: str = _INDENT) -> str:
    """Wrap at blanks; no line ends with blanks, as rich leaves them."""
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )
