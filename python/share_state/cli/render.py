"""The state table for people: columns where they fit, one block a share partition where they do not."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from share_state.cli.lines import UNBOUNDED, console_of_stdout
from share_state.cli.printable import printable
from share_state.cli.summary import Summary

#: Said under every view, because the state on disk invites the opposite reading.
NOT_PERSISTED = "A record in a consumer's hands (acquired) is never written: it shows as its last written state, or not at all."
#: Said of a directory.
LAG_UNTOLD = "The lag is not known: a log does not tell where topics end, --log-end-offsets FILE does."

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
    ("WHY THE START OFFSET STANDS THERE", "left"),
)
#: Shown where it is known of a share partition.
_LAG_COLUMN = 12
#: The two lines of figures of a block: epochs, window and what stands out; records by state.
_PLACE_COLUMNS = (3, 4, 5, 11, 10, _LAG_COLUMN)
_COUNT_COLUMNS = (6, 7, 8, 9)


def write_states(summaries: Sequence[Summary], *, whole: bool = True, lag_untold: bool = False) -> None:
    """Print summaries to stdout, escaped.

    `whole` tells whether all of the log could be read, `lag_untold` whether nobody said where the topics end.
    """
    console = console_of_stdout()
    if not summaries:
        # What could not be read may hold anything.
        console.print(Text(f"No share partition has state {'here' if whole else 'in what could be read'}."))
        return
    table = _table(summaries)
    unbounded = console.options.update(max_width=UNBOUNDED)
    if Measurement.get(console, unbounded, table).maximum <= console.width:
        console.print(table)
    else:
        for summary in summaries:
            console.print(_block(summary))
    console.print(Text("EPOCHS are snapshot/state/leader; OLDEST is the oldest unsettled offset.", style="dim"))
    console.print(Text(NOT_PERSISTED, style="dim"))
    if lag_untold:
        console.print(Text(LAG_UNTOLD, style="dim"))


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


def _block(summary: Summary) -> Text:
    cells = _cells(summary)
    block = Text(f"{cells[0]}  {cells[1]}  {cells[2]}\n", style="bold")
    for columns in (_PLACE_COLUMNS, _COUNT_COLUMNS):
        known = (column for column in columns if column != _LAG_COLUMN or summary.lag is not None)
        shown = "  ".join(f"{_COLUMNS[column][0].lower()} {cells[column]}" for column in known)
        block.append(f"  {shown}\n", style="not bold")
    block.append(f"  {summary.reason}\n", style=f"not bold {_row_style(summary)}")
    return block
