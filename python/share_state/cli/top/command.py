"""`share-state top`: how every share partition of a running cluster does, as a screen that is kept up to date, or once."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from share_state.cli.shared import any_source
from share_state.cli.shared.choice import GroupOption, listed
from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.lines import UNBOUNDED, Lines, console_of_stdout
from share_state.cli.shared.live_source import REFRESH_S, ClusterArgument, CopyOption, RefreshOption, live_view
from share_state.cli.shared.output_format import CommandConfigOption, OutputFormat, TimeoutOption
from share_state.operate.live import Health, LiveView
from share_state.operate.live.json_rows import top_json
from share_state.util.extras import MissingPackageError, require
from share_state.util.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from share_state.operate.live.view import GroupView, SharePartitionView, View

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
    Health.STALLED: "red",
    Health.FULL: "red",
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
    once: Annotated[bool, typer.Option("--once", help="Look once and print, as it does where there is no terminal.")] = False,
    refresh: RefreshOption = REFRESH_S,
    output_format: Annotated[
        OutputFormat, typer.Option("--format", "-f", help="How to print; a format other than table looks once.")
    ] = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show how every share partition of a running cluster does, the ones in trouble first.

    Joins no group and changes nothing. On a terminal it is a screen, which needs the extra `ops` of the package: groups, their
    share partitions, and the records, members and timeline of one. With --once, exit status 1 means that a share partition is in
    trouble, 4 that something could not be seen, and 5 both.

    Keys: Enter opens, Escape goes back, a shows all groups; / filters, s and S sort, r reverses, Left and Right show more
    columns; 1, 2 and 3 show records, members and timeline; p pauses, ! lists problems, ? helps, q quits.

    Example: share-state top kafka://localhost:9092
    """
    if not once and output_format is OutputFormat.TABLE and _on_terminal():
        _screen(cluster, group, copy, refresh, command_config, timeout)
        return
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


def _on_terminal() -> bool:
    """Return whether there is a terminal to draw on: textual reads its keys from stdin and draws on stderr."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _screen(  # noqa: PLR0917  what the options are
    cluster: str, group: str | None, copy: Path | None, refresh: float, command_config: Path | None, timeout: float | None
) -> None:
    try:
        require("ops", "textual")
    except MissingPackageError as error:
        typer.echo(printable(f"share-state: {error}; --once needs no screen"), err=True)
        raise typer.Exit(ExitCode.IO) from None
    # Late: a look that is printed needs nothing of it.
    from share_state.operate.top.app import TopApp  # noqa: PLC0415
    from share_state.operate.top.timeline import History  # noqa: PLC0415

    with reading(cluster):
        live = live_view(cluster, command_config, copy, timeout)
        settings = any_source.client_config(cluster, command_config)
        history = History(cluster, copy, settings, timeout)
        ended_by = TopApp(live, cluster, history, refresh_seconds=refresh, group=group).run()
        if ended_by is not None:
            raise ended_by


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
