"""`share-state trace`: the life of one record, from its production to its end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from uuid import UUID

import typer

from share_state.cli.shared import any_source, asking_brokers, findings
from share_state.cli.shared.choice import Choice, GroupArgument, OffsetArgument, PartitionArgument, TopicArgument, listed
from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.lines import Lines
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.cli.shared.picture_file import FORMATS, picture_file, save_picture
from share_state.operate.analysis.names import instant
from share_state.operate.analysis.topic_id import hyphenated
from share_state.operate.analysis.trace import NotInLogError, RecordFacts, RecordTrace, RecordTracer
from share_state.operate.analysis.trace_json import trace_json
from share_state.operate.reading.cluster import is_cluster
from share_state.operate.reading.failures import ClusterReadError
from share_state.operate.reading.plain import Finding
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.live.about import About
    from share_state.operate.live.asked import Member

#: Words of the argument that names the record.
_NAMES = ("GROUP", "TOPIC", "PARTITION")


class _Beside(NamedTuple):
    """Facts beside the log, which a directory does not hold."""

    facts: RecordFacts = RecordFacts()
    topic: str | None = None
    members: Sequence[Member] | None = None
    problems: tuple[str, ...] = ()


def trace_command(
    path: SourceArgument,
    group: GroupArgument,
    topic: TopicArgument,
    partition: PartitionArgument,
    offset: OffsetArgument,
    *,
    output_format: FormatOption = OutputFormat.TABLE,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            callback=picture_file,
            help=f"Draw it as well; the suffix selects the format: {FORMATS}.",
            show_default=False,
        ),
    ] = None,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show the life of one record: produced, delivered, released, accepted or archived, as far as the log tells.

    A directory names topics only by their ids. A running cluster is also asked for the topic, the members and the limits of the
    group. Nothing is joined, acquired or changed.

    Example: share-state trace kafka://localhost:9092 workers orders 0 1251
    """
    client = any_source.Client(command_config, timeout)
    with reading(path):
        if is_cluster(path):
            known = asking_brokers.about_topic(path, client, group, topic)
            topic_id, beside = known.topic.topic_id, _beside(path, client, known, partition, offset)
        else:
            topic_id, beside = _id_in_directory(path, topic, client), _Beside()
        found, damage = _trace(path, client, Choice(group, topic_id, partition), offset, beside.facts)
        if output_format is OutputFormat.TABLE:
            _write(found, beside)
        else:
            write_rows([trace_json(found, beside.facts, beside.topic, beside.members)], output_format)
    if output is not None:
        # Late: most lives are not drawn.
        from share_state.operate import plot  # noqa: PLC0415

        save_picture(lambda: plot.life(found), output)
    asking_brokers.warn(beside.problems)
    findings.report(damage)
    if beside.problems:
        raise typer.Exit(ExitCode.DAMAGE)


def _beside(path: str, client: any_source.Client, known: About, partition: int, offset: int) -> _Beside:
    """Ask for what the log does not hold; where that fails, the rest is shown."""
    count = len(known.topic.leaders)
    if partition >= count:
        raise typer.BadParameter(printable(f"PARTITION {partition}: the topic {known.topic.name} has {count}, from 0"))
    problems = known.problems
    produced = None
    try:
        produced = asking_brokers.produced_ms(path, client, known.topic.name, partition, offset)
    except ClusterReadError as error:
        problems = (*problems, f"the record itself: {error}")
    facts = RecordFacts(produced, known.ends.get(partition), known.delivery_limit, known.lock_duration_ms)
    return _Beside(facts, known.topic.name, known.assigned(partition), problems)


def _trace(
    path: str, client: any_source.Client, choice: Choice, offset: int, facts: RecordFacts
) -> tuple[RecordTrace, list[Finding]]:
    tracer = RecordTracer(offset)
    with any_source.watched(path, "reading") as progress:
        scan = any_source.history(path, choice, client, progress)
        for row in scan:
            tracer.see(row)
    try:
        return tracer.trace(facts), scan.findings
    except NotInLogError as error:
        findings.show(scan.findings)
        if error.field == "partition":
            choice.check((row[:3] for row in any_source.history(path, Choice(), client)), names=_NAMES)
        raise typer.BadParameter(printable(str(error))) from None


def _id_in_directory(path: str, topic: str, client: any_source.Client) -> str:
    """Take the id of a topic; a name is refused with the ids that there are."""
    topic_id = hyphenated(topic)
    with suppress(ValueError):
        return str(UUID(topic_id))
    there = listed({row.topic_id for row in any_source.history(path, Choice(), client)})
    raise typer.BadParameter(printable(f"TOPIC {topic} is no topic id; a directory has no names, and these ids: {there}"))


def _write(trace: RecordTrace, beside: _Beside) -> None:
    lines = Lines()
    topic = trace.topic_id if beside.topic is None else f"{beside.topic} ({trace.topic_id})"
    place = f"{trace.group}  {topic}  {trace.partition}  offset {trace.offset}"
    lines.write(f"{place}  (__share_group_state-{trace.state_partition})")
    lines.write(f"{'AT':>8}  {'TIME (UTC)':<24}  {'SINCE':>9}  EVENT", indent=0)
    before: int | None = None
    for event in trace.events:
        at = "-" if event.at_offset is None else str(event.at_offset)
        since = "" if before is None else _since(event.at_ms - before)
        lines.write(f"{at:>8}  {instant(event.at_ms):<24}  {since:>9}  {event.text}", more=47)
        before = event.at_ms
    lines.write(f"At the end of the log: {trace.summary}.")
    if beside.members is not None:
        lines.write(_assigned(beside.members), more=2)
    for sentence in trace.untold:
        lines.write(sentence, more=2)


def _since(ms: int) -> str:
    """Write a time between two events; clocks of different machines may differ."""
    return f"{ms / 1000:+.3f} s" if abs(ms) < 10_000_000 else f"{ms / 3_600_000:+.1f} h"  # noqa: PLR2004  to fit its column


def _assigned(members: Sequence[Member]) -> str:
    names = ", ".join(f"{member.member_id} ({member.client_id}, {member.client_host})" for member in members)
    return f"Assigned at this moment to: {names or 'no member'}. Who was assigned it before is not known."
