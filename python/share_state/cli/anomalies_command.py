"""`share-state anomalies`: what is wrong with the share partitions, as far as their history tells."""

import sys
from collections.abc import Iterable
from dataclasses import fields
from typing import Annotated

import typer

from share_state.analysis.anomaly import Anomaly, AnomalyConfig
from share_state.analysis.search import find_anomalies
from share_state.cli import any_source, beside_option, findings, lag
from share_state.cli.beside_option import LiveTopicsOption, LogEndOffsetsOption
from share_state.cli.choice import Choice, GroupOption, PartitionOption, TopicIdOption
from share_state.cli.exit_codes import ExitCode, reading
from share_state.cli.json_output import write_rows
from share_state.cli.names import instant
from share_state.cli.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.cli.printable import printable

#: Thresholds that are one number; those of single groups are for callers of the library.
_THRESHOLDS = tuple(
    field.name for field in fields(AnomalyConfig) if "int" in str(field.type) and "Mapping" not in str(field.type)
)


def anomalies_command(
    path: SourceArgument,
    *,
    group: GroupOption = None,
    topic_id: TopicIdOption = None,
    partition: PartitionOption = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=NUMBER", help=f"A threshold: {', '.join(_THRESHOLDS)}.", show_default=False),
    ] = None,
    log_end_offsets: LogEndOffsetsOption = None,
    live_topics: LiveTopicsOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show what is wrong: stuck start offsets, poison records, bursts, lock-expiry loops, and what cannot be.

    Each with evidence and advice. Exit status 0 says that nothing was found, 1 that something was.

    Nothing is locked or changed; a writer may be at work meanwhile. A running cluster needs the extra `kafka` of the package.
    """
    config = _config(threshold or [])
    ends, topics = beside_option.log_end_offsets(log_end_offsets), beside_option.live_topics(live_topics)
    choice = Choice(group, topic_id, partition)
    told = 0

    def count(rows: Iterable[Anomaly]) -> Iterable[Anomaly]:
        nonlocal told
        for row in rows:
            told += 1
            yield row

    client = any_source.Client(command_config, timeout)
    with reading(path), any_source.watched(path, "reading", streams=True) as progress:
        ends = lag.ends_lately(path, client, choice, config.lag_ms) if ends is None else ends
        scan = any_source.history(path, choice, client, progress)
        told_of = choice.told(scan, lambda other: any_source.history(path, other, client))
        try:
            rows = count(find_anomalies(told_of, config, log_end_offsets=ends, live_topics=topics))
        except (ValueError, OverflowError) as error:
            raise typer.BadParameter(str(error)) from None
        if output_format is OutputFormat.TABLE:
            _write_table(rows)
        else:
            write_rows((row._asdict() for row in rows), output_format)
        found = scan.findings
    findings.report(found)
    if told:
        raise typer.Exit(ExitCode.FINDINGS)


def _config(settings: list[str]) -> AnomalyConfig:
    numbers: dict[str, int] = {}
    for setting in settings:
        name, _, number = setting.partition("=")
        if name not in _THRESHOLDS or not (number.isascii() and number.isdigit()):
            raise typer.BadParameter(f"{setting!r} is not NAME=NUMBER, with one of {', '.join(_THRESHOLDS)}")
        numbers[name] = int(number)
    try:
        return AnomalyConfig(**numbers)  # type: ignore[arg-type]  # the names are those of numbers
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _write_table(rows: Iterable[Anomaly]) -> None:
    """Write a block an anomaly, as they come."""
    nothing = True
    for row in rows:
        nothing = False
        offsets = _offsets(row)
        until = "lasting" if row.until_timestamp is None else f"until {instant(row.until_timestamp)}"
        since = f"since {instant(row.since_timestamp)} (__share_group_state-{row.state_partition} at {row.since_offset})"
        head = f"{row.severity.upper()}  {row.kind}  {row.group}  {row.topic_id}  {row.partition}{offsets}"
        for line in (head, f"  {since}, {until}", f"  {row.evidence}", f"  -> {row.advice}"):
            sys.stdout.write(printable(line) + "\n")
    if nothing:
        sys.stdout.write("Nothing is wrong, as far as the log tells.\n")


def _offsets(row: Anomaly) -> str:
    if row.first_offset is None:
        return ""
    single = row.first_offset == row.last_offset
    return f"  offset {row.first_offset}" if single else f"  offsets {row.first_offset}-{row.last_offset}"
