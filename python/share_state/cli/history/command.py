"""`share-state history`: what became of every record, and when."""

import sys
from collections.abc import Iterable

import typer

from share_state.cli.shared import any_source, findings
from share_state.cli.shared.choice import Choice, GroupOption, OffsetOption, PartitionOption, TopicIdOption
from share_state.cli.shared.exit_codes import reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.lines import HANGING, Lines
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.json_rows import history_json
from share_state.operate.analysis.names import counted_state, instant


def history_command(
    path: SourceArgument,
    *,
    group: GroupOption = None,
    topic_id: TopicIdOption = None,
    partition: PartitionOption = None,
    offset: OffsetOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show what happened to every record, and when.

    Shows one row for each interval of offsets and each change of its state, in order of state partition and offset.

    Takes no lock and changes nothing; a writer may be active.
    """
    choice = Choice(group, topic_id, partition, offset)
    client = any_source.Client(command_config, timeout)
    with reading(path), any_source.watched(path, "reading", streams=True) as progress:
        scan = any_source.history(path, choice, client, progress)
        rows = choice.told(scan, lambda other: any_source.history(path, other, client))
        try:
            if output_format is OutputFormat.TABLE:
                if not _write_table(rows):
                    # What could not be read may hold anything.
                    where = "in what could be read" if scan.findings else "here"
                    sys.stdout.write(f"No change is {where}.\n")
            else:
                write_rows((history_json(row) for row in rows), output_format)
        except typer.BadParameter:
            findings.show(scan.findings)
            raise
        found = scan.findings
    findings.report(found)


#: Over the columns of the lines.
_HEADER = f"{'AT':>8}  {'TIME (UTC)':<24}  {'CAUSE':<10}  OFFSETS  CHANGE"


def _write_table(rows: Iterable[HistoryRow]) -> bool:
    """Write a heading where the share partition changes, and one line a row, as they come; tell whether one came."""
    heading: tuple[str, str, int] | None = None
    out = Lines()
    for row in rows:
        if heading is None:
            out.write(_HEADER, more=HANGING)
        if row[:3] != heading:
            heading = row[:3]
            place = f"{row.group}  {row.topic_id}  {row.partition}  (__share_group_state-{row.state_partition})"
            out.write(place, more=HANGING)
        out.write(_line(row), more=HANGING)
    return heading is not None


def _line(row: HistoryRow) -> str:
    head = f"{row.at_offset:>8}  {instant(row.at_timestamp)}  {row.cause:<10}"
    if row.first_offset is None:
        epochs = f"{row.snapshot_epoch}/{row.state_epoch}/{row.leader_epoch}"
        return f"{head}  epochs {epochs}  start {row.start_offset}  complete {row.delivery_complete_count}"
    span = str(row.first_offset) if row.first_offset == row.last_offset else f"{row.first_offset}-{row.last_offset}"
    return f"{head}  {span}  {_known(row.from_state, row.from_count)} -> {_known(row.to_state, row.to_count)}"


def _known(state: int | None, count: int | None) -> str:
    return "unknown" if state is None or count is None else counted_state(state, count)
