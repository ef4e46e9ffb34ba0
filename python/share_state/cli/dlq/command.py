"""`share-state dlq`: the records that a share group gave up, with their payloads, and how they are sent again."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from share_state.cli.commands import HELP_NAMES
from share_state.cli.dlq.options import (
    CauseOption,
    HistoryOption,
    OffsetsOption,
    QueueOption,
    SinceOption,
    TopicOption,
    UntilOption,
    asked_filter,
    cluster_of,
    explained,
    letters_of,
)
from share_state.cli.dlq.payload import show_json, write_payloads
from share_state.cli.dlq.redrive import RedriveOrder, run_redrive
from share_state.cli.dlq.view import write_letters
from share_state.cli.shared import any_source, findings
from share_state.cli.shared.choice import GroupArgument, PartitionOption
from share_state.cli.shared.json_output import write_rows
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
from share_state.operate.dead_letters import SETTLE_S, Asking, Doubt, payloads_of
from share_state.operate.dead_letters.json_rows import letter_json
from share_state.operate.payloads import Format, PayloadReader
from share_state.util.printable import printable

if TYPE_CHECKING:
    pass

#: The longest wait of --settle, in seconds.
_LONGEST_SETTLE = 3600.0

dlq = typer.Typer(
    help="Show the records that a share group gave up, and send them again.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=HELP_NAMES,
)


@dlq.command("list")
def list_letters(
    cluster: ClusterArgument,
    group: GroupArgument,
    *,
    cause: CauseOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    topic: TopicOption = None,
    partition: PartitionOption = None,
    offset: OffsetsOption = None,
    queue: QueueOption = None,
    from_history: HistoryOption = False,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """List the dead-lettered records of a share group.

    Says which, why and when. They come from the dead-letter queue of the group (Kafka 4.4). Without a queue they are the
    archived records of the share state's history, as far as that goes back. Nothing is changed.

    Example: share-state dlq list kafka://localhost:9092 workers --cause delivery_limit
    """
    wanted = asked_filter(causes=cause, since=since, until=until, topic=topic, partition=partition, offsets=offset)
    with explained(cluster), any_source.watched(cluster, "reading", streams=True) as progress:
        place = cluster_of(cluster, any_source.Client(command_config, timeout))
        source, letters = letters_of(place, Asking(*place), group, queue, progress, from_history=from_history)
        chosen = wanted.chosen(letters)
        if output_format is OutputFormat.TABLE:
            write_letters(chosen, printable(f"No dead letter of group {group} is in {source.words}."))
        else:
            write_rows(map(letter_json, chosen), output_format)
    findings.report(letters.findings)


@dlq.command()
def show(
    cluster: ClusterArgument,
    group: GroupArgument,
    *,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Show no more than so many records.")] = 20,
    key_format: KeyFormatOption = Format.AUTO,
    value_format: ValueFormatOption = Format.AUTO,
    max_bytes: MaxBytesOption = 1024,
    redact: RedactOption = None,
    registry: RegistryOption = None,
    cause: CauseOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    topic: TopicOption = None,
    partition: PartitionOption = None,
    offset: OffsetsOption = None,
    queue: QueueOption = None,
    from_history: HistoryOption = False,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show dead-lettered records with key, value and headers.

    Each is read from its source by its offset, which joins no group and acquires nothing. A record that is gone there is shown
    as the queue has copied it, if it has.

    Example: share-state dlq show kafka://localhost:9092 workers --topic orders --offset 17
    """
    wanted = asked_filter(causes=cause, since=since, until=until, topic=topic, partition=partition, offsets=offset)
    if limit < 1:
        raise typer.BadParameter(f"--limit is {limit}; expected at least 1")
    with explained(cluster), any_source.watched(cluster, "reading", streams=True) as progress:
        place = cluster_of(cluster, any_source.Client(command_config, timeout))
        shown = showing(key_format, value_format, max_bytes, redact, registry)
        source, letters = letters_of(place, Asking(*place), group, queue, progress, from_history=from_history)
        with PayloadReader(place.address, client_config=place.settings, timeout=place.timeout) as payloads:
            records = islice((one for letter in wanted.chosen(letters) for one in payloads_of(letter, payloads)), limit)
            if output_format is OutputFormat.TABLE:
                write_payloads(records, shown, printable(f"No dead letter of group {group} is in {source.words}."))
            else:
                write_rows((show_json(one, shown) for one in records), output_format)
    findings.report(letters.findings)


@dlq.command()
def redrive(
    cluster: ClusterArgument,
    group: GroupArgument,
    *,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="TOPIC", help="Send them to this topic. Default: where they came from.", show_default=False),
    ] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Send them. Without it nothing is sent.")] = False,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal",
            metavar="FILE",
            help="Keeps what was sent, for the next run. Default: a file here, named after the group and the target.",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="RECORDS_PER_SECOND", help="Send no more than so many a second.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="Send no more than so many in this run.", show_default=False)
    ] = None,
    settle: Annotated[
        float,
        typer.Option(
            "--settle",
            metavar="SECONDS",
            help="After a kill: how long to wait for what was under way, before the target is asked what was sent.",
        ),
    ] = SETTLE_S,
    in_doubt: Annotated[
        Doubt | None,
        typer.Option(
            "--in-doubt",
            help="After a kill, of records that the target cannot tell of any more: send them, or skip them.",
            show_default=False,
        ),
    ] = None,
    cause: CauseOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    topic: TopicOption = None,
    partition: PartitionOption = None,
    offset: OffsetsOption = None,
    queue: QueueOption = None,
    from_history: HistoryOption = False,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Send the dead-lettered records of a share group again, each once.

    Each record is read from its source and sent with its key, value, time and headers, and the header redriven-from. One whose
    payload is gone is reported and not sent. A run that was interrupted, even by a kill, goes on with the same journal and
    sends nothing twice.

    Exit status 4 means that a record could not be sent.

    Example: share-state dlq redrive kafka://localhost:9092 workers --to orders-retry --execute
    """
    wanted = asked_filter(causes=cause, since=since, until=until, topic=topic, partition=partition, offsets=offset)
    if rate is not None and not 0 < rate < float("inf"):
        raise typer.BadParameter(f"--rate is {rate:g}; expected more than 0")
    if limit is not None and limit < 1:
        raise typer.BadParameter(f"--limit is {limit}; expected at least 1")
    if not 0 <= settle <= _LONGEST_SETTLE:
        raise typer.BadParameter(f"--settle is {settle:g}; expected 0 to {_LONGEST_SETTLE:g} seconds")
    order = RedriveOrder(
        group=group,
        target=to,
        wanted=wanted,
        journal=journal,
        execute=execute,
        rate=rate,
        limit=limit,
        settle_s=settle,
        doubt=in_doubt,
    )
    with explained(cluster):
        place = cluster_of(cluster, any_source.Client(command_config, timeout))
        asking = Asking(*place)
        with any_source.watched(cluster, "reading") as progress:
            source, letters = letters_of(place, asking, group, queue, progress, from_history=from_history)
            order = order.with_letters(letters)
        run_redrive(place, asking, order, source, output_format)
    findings.report(letters.findings)
