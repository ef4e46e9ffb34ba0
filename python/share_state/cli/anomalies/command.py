"""`share-state anomalies`: what is wrong with the share partitions, as far as their history tells."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Annotated

import typer

from share_state.analysis.anomaly import AnomalyConfig
from share_state.analysis.history_row import HistoryRow
from share_state.analysis.search import find_anomalies
from share_state.cli import any_source, beside_option, findings, lag
from share_state.cli.anomalies_view import by_severity, write_anomalies
from share_state.cli.beside_option import LiveTopicsOption, LogEndOffsetsOption
from share_state.cli.choice import Choice, GroupOption, PartitionOption, TopicIdOption
from share_state.cli.deletions import Deletions
from share_state.cli.exit_codes import reading
from share_state.cli.json_output import write_rows
from share_state.cli.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.reading.topic_ends import Place

#: Thresholds that are one number; those of single groups are for callers of the library.
_THRESHOLDS = tuple(
    field.name for field in fields(AnomalyConfig) if "int" in str(field.type) and "Mapping" not in str(field.type)
)
#: A negative one is a number too, and refused as one that is too small.
_NUMBER = re.compile(r"-?\d+", re.ASCII)


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
    """Show what is wrong: stuck start offsets, poison records, bursts, lock-expiry loops, impossible states.

    Shows one finding a record, the most severe first, with evidence and advice. Exit status 0 means that nothing was found, 1
    that something was, 4 that part of the log could not be read, and 5 both.

    Takes no lock and changes nothing; a writer may be active. A running cluster needs the extra `kafka` of the package.
    """
    config = _config(threshold or [])
    measured, topics = beside_option.log_end_offsets(log_end_offsets), beside_option.live_topics(live_topics)
    choice = Choice(group, topic_id, partition)
    client = any_source.Client(command_config, timeout)
    with reading(path), any_source.watched(path, "reading", streams=True) as progress:
        ends = lag.ends_lately(path, client, choice, config.lag_ms) if measured is None else measured
        scan = any_source.history(path, choice, client, progress)
        told_of = choice.told(scan, lambda other: any_source.history(path, other, client))
        deletions = Deletions()
        places: set[Place] = set()
        try:
            found = find_anomalies(_noted(deletions.watch(told_of), places), config, log_end_offsets=ends, live_topics=topics)
        except (ValueError, OverflowError) as error:
            raise typer.BadParameter(str(error)) from None
        rows = by_severity(list(found))
        damage = scan.findings
        if output_format is OutputFormat.TABLE:
            write_anomalies(rows, deletions.after, whole=not damage)
        else:
            write_rows((row._asdict() for row in rows), output_format)
    beside_option.warn_of_unmatched(log_end_offsets, measured, places, all_are_there=choice == Choice())
    findings.report(damage, anomalies=bool(rows))


def _noted(rows: Iterable[HistoryRow], places: set[Place]) -> Iterator[HistoryRow]:
    """Pass rows on, and note the partitions that they are about."""
    for row in rows:
        places.add((row.topic_id, row.partition))
        yield row


def _config(settings: list[str]) -> AnomalyConfig:
    numbers: dict[str, int] = {}
    for setting in settings:
        name, _, number = setting.partition("=")
        if name not in _THRESHOLDS or not _NUMBER.fullmatch(number):
            raise typer.BadParameter(f"--set is {setting!r}; expected NAME=NUMBER, with NAME one of {', '.join(_THRESHOLDS)}")
        numbers[name] = int(number)
    try:
        return AnomalyConfig(**numbers)  # type: ignore[arg-type]  # the names are those of numbers
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
