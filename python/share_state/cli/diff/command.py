"""`share-state diff`: what moved between two states of share partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from share_state.cli.shared import any_source, findings
from share_state.cli.shared.as_of_option import parse_as_of
from share_state.cli.shared.choice import Choice, GroupOption, PartitionOption, TopicIdOption
from share_state.cli.shared.exit_codes import reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.lines import console_of_stdout
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.operate.analysis.state_diff import state_diffs
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.analysis.state_diff import StateDiff
    from share_state.operate.reading.plain import Finding, ShareState

_COLUMNS = (
    ("CHANGE", "left"),
    ("GROUP", "left"),
    ("TOPIC-ID", "left"),
    ("PARTITION", "right"),
    ("START", "right"),
    ("SETTLED", "right"),
    ("RETURNED", "right"),
    ("UNSETTLED", "right"),
)
_AS_OF = "as of earlier: P=OFFSET,…, a time in ISO 8601, or ms since the epoch."


def diff(
    before: SourceArgument,
    after: Annotated[
        str | None,
        typer.Argument(metavar="[PATH|kafka://HOST:PORT[,…]]", help="The other one. Default: the same.", show_default=False),
    ] = None,
    *,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="P=OFFSET,…|TIME", help=f"Take the first {_AS_OF}", show_default=False)
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="P=OFFSET,…|TIME", help=f"Take the other one {_AS_OF}", show_default=False)
    ] = None,
    group: GroupOption = None,
    topic_id: TopicIdOption = None,
    partition: PartitionOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show what moved between two states: two places, or one place at two times.

    Exit status 1 means that something moved, as that of diff(1) does.

    Example: share-state diff kafka://localhost:9092 --from 2026-11-23T08:00
    """
    if after is None and from_ is None and to is None:
        raise typer.BadParameter("name another PATH, or --from or --to a time of this one")
    choice, client = Choice(group, topic_id, partition), any_source.Client(command_config, timeout)
    found: list[Finding] = []

    def fold(source: str, as_of: str | None, option: str) -> list[ShareState]:
        with reading(source), any_source.watched(source, "folding") as progress:
            states, unreadable = any_source.fold(source, progress, client, parse_as_of(as_of, option), option)
        found.extend(unreadable)
        return states

    old, new = fold(before, from_, "--from"), fold(after or before, to, "--to")
    choice.check((state["group"], state["topic_id"], state["partition"]) for state in (*old, *new))
    rows = [one for one in state_diffs(old, new) if choice.takes((one.group, one.topic_id, one.partition))]
    with reading(before):
        if output_format is OutputFormat.TABLE:
            _write_table(rows)
        else:
            write_rows(map(_json, rows), output_format)
    findings.report(found, anomalies=bool(rows))


def _write_table(rows: list[StateDiff]) -> None:
    console = console_of_stdout()
    if not rows:
        console.print("Nothing moved.")
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, justify in _COLUMNS:
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    for one in rows:
        # Text, not str: a group id is never read as rich's markup.
        cells = (one.change.value, printable(one.group), one.topic_id, str(one.partition), _starts(one))
        table.add_row(*map(Text, (*cells, *map(_count, (one.settled, one.returned, one.unsettled)))))
    console.print(table)


def _starts(one: StateDiff) -> str:
    starts = [_start(state) for state in (one.before, one.after)]
    return starts[0] if starts[0] == starts[1] else "→".join(starts)


def _start(state: ShareState | None) -> str:
    return "-" if state is None or state["start_offset"] < 0 else str(state["start_offset"])


def _count(count: int | None) -> str:
    return "-" if count is None else str(count)


def _json(one: StateDiff) -> dict[str, object]:
    told: dict[str, object] = {
        "group": one.group,
        "topic_id": one.topic_id,
        "partition": one.partition,
        "change": one.change.value,
    }
    for name in ("start_offset", "delivery_complete_count", "state_epoch", "leader_epoch"):
        told[name] = [None if state is None else state[name] for state in (one.before, one.after)]
    return told | {"settled": one.settled, "returned": one.returned, "unsettled": one.unsettled}
