"""`share-state top`: how every share partition of a running cluster does, the ones in trouble first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer
from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from share_state.cli.choice import GroupOption, listed
from share_state.cli.exit_codes import ExitCode, reading
from share_state.cli.json_output import write_rows
from share_state.cli.lines import UNBOUNDED, Lines, console_of_stdout
from share_state.cli.live_source import ClusterArgument, CopyOption, live_view
from share_state.cli.output_format import CommandConfigOption, FormatOption, OutputFormat, TimeoutOption
from share_state.live import Health, LiveView
from share_state.live.json_rows import top_json
from share_state.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from share_state.live.view import GroupView, SharePartitionView, View

_COLUMNS = (
    ("HEALTH", "left"),
    ("GROUP", "left"),
    ("TOPIC", "left"),
    ("PARTITION", "right"),
    ("LAG", "right"),
    ("START", "right"),
    ("IN-FLIGHT", "right"),
    ("MAX-COUNT", "right"),
    ("MEMBERS", "right"),
    ("WHY", "left"),
)
_STYLES = {
    Health.OK: "",
    Health.SLOW: "yellow",
    Health.EXPIRING: "yellow",
    Health.NO_STATE: "yellow",
    Health.NO_MEMBERS: "red",
    Health.STUCK: "red",
    Health.POISON: "red",
}
#: Said under every table.
_NOT_TOLD = "A record in a member's hands is not in the state topic: it shows as its last written state, or not at all."


def top(
    cluster: ClusterArgument,
    *,
    group: GroupOption = None,
    copy: CopyOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show how every share partition of a running cluster does, the ones in trouble first.

    Joins no group and changes nothing. Exit status 1 means that a share partition is in trouble, 4 that something could not be
    seen, and 5 both.

    Example: share-state top kafka://localhost:9092
    """
    with reading(cluster):
        live = live_view(cluster, command_config, copy, timeout)
        view = asyncio.run(_once(live))
        groups = [one for one in view.groups if group is None or one.group == group]
        if group is not None and not groups:
            there = listed(one.group for one in view.groups)
            raise typer.BadParameter(printable(f"--group {group} is not in the cluster, which has {there}"))
        rows = sorted(_rows(groups), key=_urgency)
        if output_format is OutputFormat.TABLE:
            _write_table(rows)
        else:
            write_rows((top_json(view, of, one) for of, one in rows), output_format)
    for problem in view.problems:
        typer.echo(printable(f"share-state: warning: {problem}"), err=True)
    raise typer.Exit(_status(view, rows))


async def _once(live: LiveView) -> View:
    async with live:
        return await live.refresh()


def _status(view: View, rows: Iterable[tuple[GroupView, SharePartitionView]]) -> ExitCode:
    in_trouble = any(one.verdict.health is not Health.OK for _, one in rows)
    if view.problems:
        return ExitCode.FINDINGS_AND_DAMAGE if in_trouble else ExitCode.DAMAGE
    return ExitCode.FINDINGS if in_trouble else ExitCode.OK


def _rows(groups: Iterable[GroupView]) -> list[tuple[GroupView, SharePartitionView]]:
    return [(group, one) for group in groups for one in group.share_partitions]


def _urgency(row: tuple[GroupView, SharePartitionView]) -> tuple[int, int, str, str, int]:
    _, one = row
    order = list(Health).index(one.verdict.health)
    return order, -(one.lag or 0), one.group, one.topic or one.topic_id, one.partition


def _write_table(rows: list[tuple[GroupView, SharePartitionView]]) -> None:
    console = console_of_stdout()
    lines = Lines()
    if not rows:
        lines.write("No share group has state here.")
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, justify in _COLUMNS:
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    for group, one in rows:
        # Text, not str: a group id is never read as rich's markup.
        table.add_row(*map(Text, _cells(group, one)), style=_STYLES[one.verdict.health])
    if Measurement.get(console, console.options.update(max_width=UNBOUNDED), table).maximum <= console.width:
        console.print(table)
    else:
        for group, one in rows:
            _write_block(lines, _cells(group, one))
    lines.write(_NOT_TOLD)


def _write_block(lines: Lines, cells: tuple[str, ...]) -> None:
    """Write one share partition where the table is too wide."""
    health, group, topic, partition, *figures, why = cells
    lines.write(f"{health}  {group}  {topic}  partition {partition}", more=2)
    names = (name.lower() for name, _ in _COLUMNS[4:-1])
    lines.write("  ".join(f"{name} {figure}" for name, figure in zip(names, figures, strict=True)), indent=2)
    if why:
        lines.write(why, indent=2)


def _cells(group: GroupView, one: SharePartitionView) -> tuple[str, ...]:
    row = one.row
    unsettled = None if row is None else row.available + row.archiving
    counts = () if row is None else row.delivery_counts
    members = f"{len(one.members)} of {len(group.members)}" if group.members is not None else "-"
    return (
        one.verdict.health.value,
        printable(one.group),
        printable(one.topic or one.topic_id),
        str(one.partition),
        _figure(one.lag),
        _figure(None if row is None or row.start_offset < 0 else row.start_offset),
        _figure(unsettled),
        _figure(max((count for count, _ in counts), default=None)),
        members,
        one.verdict.why,
    )


def _figure(figure: int | None) -> str:
    return "-" if figure is None else str(figure)
