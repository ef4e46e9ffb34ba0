"""`share-state peek`: what is in the records of a share group, beside what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from share_state.cli.peek.peeking import NOTHING, Peeking, Wanted
from share_state.cli.peek.view import Peeked, peek_json, write_block
from share_state.cli.shared import any_source, asking_brokers, findings
from share_state.cli.shared.choice import Choice, GroupArgument, PartitionOption, RecordOption, TopicArgument, bounded
from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.lines import Lines
from share_state.cli.shared.live_source import ClusterArgument
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, TimeoutOption
from share_state.cli.shared.payload_options import (
    KeyFormatOption,
    MaxBytesOption,
    RedactOption,
    RegistryOption,
    ValueFormatOption,
    showing,
)
from share_state.operate.payloads import Format
from share_state.operate.reading.cluster import is_cluster
from share_state.util.printable import printable

#: Records of one run, at most.
_MOST_RECORDS = 1000


def _limit(number: int) -> int:
    bounded("--limit", number, _MOST_RECORDS, least=1)
    return number


def peek(
    cluster: ClusterArgument,
    group: GroupArgument,
    topic: TopicArgument,
    *,
    partition: PartitionOption = None,
    offset: RecordOption = None,
    head_only: Annotated[bool, typer.Option("--head", help="The record that holds the start offset. The default.")] = False,
    poison_only: Annotated[
        bool, typer.Option("--poison", help="Records with one delivery left before the limit, or at the limit.")
    ] = False,
    archived_only: Annotated[bool, typer.Option("--archived", help="Records archived of late, the last first.")] = False,
    limit: Annotated[int, typer.Option("--limit", callback=_limit, help="Show so many records at most.")] = 10,
    key_format: KeyFormatOption = Format.AUTO,
    value_format: ValueFormatOption = Format.AUTO,
    max_bytes: MaxBytesOption = 1024,
    redact: RedactOption = None,
    registry: RegistryOption = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show what is in the records of a share group: key, value and headers, beside their state and history.

    Joins no group, acquires nothing, and changes no delivery count. Needs READ on the topic.

    Example: share-state peek kafka://localhost:9092 workers orders --poison --redact 'value:$..email'
    """
    if not is_cluster(cluster):
        text = f"{cluster} is not a cluster, kafka://HOST:PORT: a directory has the state of records, and not the records"
        raise typer.BadParameter(printable(text))
    if (offset is not None) + head_only + poison_only + archived_only > 1:
        raise typer.BadParameter("expected at most one of --offset, --head, --poison and --archived")
    wanted = Wanted.POISON if poison_only else Wanted.ARCHIVED if archived_only else Wanted.HEAD
    client = any_source.Client(command_config, timeout)
    with reading(cluster):
        shown = showing(key_format, value_format, max_bytes, redact, registry)
        known = asking_brokers.about_topic(cluster, client, group, topic)
        peeking = Peeking(cluster, client, Choice(group, known.topic.topic_id, partition), known)
        places = peeking.places(wanted, limit) if offset is None else peeking.at(offset)
        rows = peeking.records(places, shown, must_be=offset is not None)
        if output_format is OutputFormat.TABLE:
            _write(rows, wanted)
        else:
            write_rows(map(peek_json, rows), output_format)
    asking_brokers.warn(known.problems)
    findings.report(peeking.damage)
    if known.problems:
        raise typer.Exit(ExitCode.DAMAGE)


def _write(rows: Iterable[Peeked], wanted: Wanted) -> None:
    lines = Lines()
    count = 0
    for count, one in enumerate(rows, start=1):
        if count > 1:
            lines.write("")
        write_block(lines, one)
    if not count:
        lines.write(NOTHING[wanted])
