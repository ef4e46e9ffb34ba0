"""`share-state plot`: a picture of what became of a share partition's records."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from share_state.cli.shared import any_source, findings, lag
from share_state.cli.shared.choice import Choice, GroupOption, PartitionOption, TopicIdOption
from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.output_format import CommandConfigOption, SourceArgument, TimeoutOption
from share_state.cli.shared.picture_file import FORMATS, end_offsets_of, fail, picture_file, save_picture
from share_state.operate import plot
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.reading.cluster import is_cluster
from share_state.operate.reading.plain import Finding
from share_state.util.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(StrEnum):
    """Kind of picture."""

    TIMELINE = "timeline"
    DELIVERIES = "deliveries"
    LAG = "lag"


def plot_command(
    path: SourceArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", callback=picture_file, help=f"The picture; its suffix selects the format: {FORMATS}."),
    ],
    *,
    kind: Annotated[Picture, typer.Option("--kind", help="States, delivery counts, or lag over time.")] = Picture.TIMELINE,
    group: GroupOption = None,
    topic_id: TopicIdOption = None,
    partition: PartitionOption = None,
    end_offsets: Annotated[
        Path | None,
        typer.Option("--end-offsets", help="For lag: ascending lines MS,END_OFFSET. Not needed for a running cluster."),
    ] = None,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Draw what happened to the records of one share partition.

    The options must select exactly one. Exit status 4 means that part of the log could not be read; the picture shows the rest.
    Needs the extra `plot` of the package.
    """
    if end_offsets is not None and kind is not Picture.LAG:
        raise typer.BadParameter("--end-offsets applies only to --kind lag")
    if kind is Picture.LAG and end_offsets is None and not is_cluster(path):
        raise typer.BadParameter("--kind lag needs --end-offsets, unless it reads a cluster")
    ends = [] if end_offsets is None else end_offsets_of(end_offsets)
    client = any_source.Client(command_config, timeout)
    rows, damage = _one(path, Choice(group, topic_id, partition), client)
    if kind is Picture.LAG and end_offsets is None:
        times = [row.at_timestamp for row in rows]
        _, topic, number = rows[0][:3]
        ends = lag.ends_between(path, client, (topic, number), min(times), max(times))
        if not ends:
            findings.show(damage)
            fail(ExitCode.IO, f"cannot draw the lag: where {topic} {number} ends is not known")
    save_picture(lambda: _draw(kind, rows, ends), output)
    findings.report(damage)


def _one(path: str, choice: Choice, client: any_source.Client) -> tuple[list[HistoryRow], list[Finding]]:
    """Read the rows of the one share partition that is chosen, and what cannot be read; leave where it is not one."""
    with reading(path):
        scan = any_source.history(path, choice, client)
        try:
            rows = list(choice.told(scan, lambda other: any_source.history(path, other, client)))
        except typer.BadParameter:
            findings.show(scan.findings)
            raise
    found = sorted({row[:3] for row in rows})
    if not found:
        # Nothing was chosen wrongly where nothing could be read.
        findings.report(scan.findings)
    if len(found) != 1:
        findings.show(scan.findings)
        listed = "".join(
            f"\n  --group {printable(name)} --topic-id {topic} --partition {number}" for name, topic, number in found
        )
        fail(ExitCode.USAGE, f"the choice leaves {len(found)} share partitions, not one{listed}")
    return rows, scan.findings


def _draw(kind: Picture, rows: list[HistoryRow], ends: list[tuple[int, int]]) -> Figure:
    if kind is Picture.TIMELINE:
        return plot.timeline(rows)
    return plot.deliveries(rows) if kind is Picture.DELIVERIES else plot.lag(rows, ends)
