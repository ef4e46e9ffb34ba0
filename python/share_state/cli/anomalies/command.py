"""`share-state anomalies`: what is wrong with the share partitions, as far as their history tells."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Annotated

import typer

from share_state.cli.anomalies.view import by_severity, write_anomalies
from share_state.cli.shared import any_source, beside_option, findings, lag
from share_state.cli.shared.asking_brokers import about_groups
from share_state.cli.shared.beside_option import LiveTopicsOption, LogEndOffsetsOption
from share_state.cli.shared.choice import Choice, GroupOption, PartitionOption, TopicIdOption
from share_state.cli.shared.deletions import Deletions
from share_state.cli.shared.exit_codes import reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.operate.analysis.anomaly import AnomalyConfig
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.search import find_anomalies
from share_state.operate.live.group_limits import thresholds
from share_state.operate.reading.cluster import is_cluster
from share_state.operate.reading.plain import Place

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
    that something was, 4 that part of the log could not be read, 5 both, 7 that records are missing between others, and 8 both
    1 and 7. Of a running cluster, limits and lock durations are those of the groups; --set sets one number for all.

    Takes no lock and changes nothing; a writer may be active.
    """
    config = _config(threshold or [])
    measured, topics = beside_option.log_end_offsets(log_end_offsets), beside_option.live_topics(live_topics)
    choice = Choice(group, topic_id, partition)
    client = any_source.Client(command_config, timeout)
    names: dict[str, str] = {}
    with reading(path), any_source.watched(path, "reading", streams=True) as progress:
        there = lag.chosen(path, client, choice)
        ends = lag.ends_lately(path, client, [place for _, place in there], config.lag_ms) if measured is None else measured
        if there:
            told_configs, names = about_groups(path, client, {name for name, _ in there}, {place[0] for _, place in there})
            config = _with_groups(config, told_configs)
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
            write_anomalies(rows, deletions.after, names, whole=not damage)
        else:
            # A path has no names of topics.
            named = is_cluster(path)
            write_rows((row._asdict() | ({"topic": names.get(row.topic_id)} if named else {}) for row in rows), output_format)
    beside_option.warn_of_unmatched(log_end_offsets, measured, places, all_are_there=choice == Choice())
    findings.report(damage, anomalies=bool(rows))


def _noted(rows: Iterable[HistoryRow], places: set[Place]) -> Iterator[HistoryRow]:
    """Pass rows on, and note the partitions that they are about."""
    for row in rows:
        places.add((row.topic_id, row.partition))
        yield row


def _with_groups(config: AnomalyConfig, configs: Mapping[str, Mapping[str, str]]) -> AnomalyConfig:
    """Take the limits of groups from their configurations, but for those that are one number for all."""
    known = thresholds(configs)
    if config.delivery_count_limit is None:
        config = replace(config, delivery_count_limits=known.delivery_count_limits)
    if config.record_lock_duration_ms is None:
        config = replace(config, record_lock_durations_ms=known.record_lock_durations_ms)
    if config.max_record_locks is None:
        config = replace(config, max_record_locks_by_group=known.max_record_locks_by_group)
    return config


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
