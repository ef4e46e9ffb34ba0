"""`share-state simulate`: what would have become of a group's records under other settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from share_state.cli.shared import any_source, findings, lag
from share_state.cli.shared.choice import Choice, PartitionOption, TopicIdOption
from share_state.cli.shared.exit_codes import reading
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.output_format import CommandConfigOption, FormatOption, OutputFormat, SourceArgument, TimeoutOption
from share_state.cli.shared.picture_file import end_offsets_of, picture_file, save_picture
from share_state.cli.shared.progress import record_progress
from share_state.cli.simulate.options import (
    DeliveryLimitOption,
    LockDurationOption,
    MaxPollRecordsOption,
    MaxRecordLocksOption,
    MembersOption,
    ModeOption,
    TodayOption,
    TryOption,
    changed,
    of_cluster,
    within,
)
from share_state.cli.simulate.output import recorded_row, rows_json, simulated_row, write_table
from share_state.errors import ConfigError
from share_state.operate.reading.cluster import is_cluster
from share_state.operate.reading.plain import Finding
from share_state.operate.simulation import (
    Arrivals,
    Prediction,
    Processing,
    Recorded,
    Settings,
    fit,
    parse_processing_time,
    predict,
)
from share_state.operate.simulation.picture import draw
from share_state.operate.simulation.recorded import Place
from share_state.operate.simulation.simulate import usual_poll
from share_state.util.printable import printable

#: Greatest seed, and most records of a log batch.
_MOST = 2**31 - 1


def _processing(text: str | None) -> Processing | None:
    try:
        return None if text is None else parse_processing_time(text)
    except ConfigError as error:
        raise typer.BadParameter(printable(f"--processing-time: {error}")) from None


def simulate_command(
    path: SourceArgument,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The share group.", show_default=False)],
    *,
    topic_id: TopicIdOption = None,
    partition: PartitionOption = None,
    today: TodayOption = None,
    tries: TryOption = None,
    lock_duration: LockDurationOption = None,
    delivery_limit: DeliveryLimitOption = None,
    max_record_locks: MaxRecordLocksOption = None,
    members: MembersOption = None,
    mode: ModeOption = None,
    max_poll_records: MaxPollRecordsOption = None,
    processing_time: Annotated[
        str | None,
        typer.Option(
            "--processing-time",
            metavar="200ms|p50=…,p99=…",
            help="How long a member works on a record. Default: as the log shows.",
            show_default=False,
        ),
    ] = None,
    log_batch: Annotated[
        int,
        typer.Option(
            "--log-batch",
            metavar="N",
            callback=within("--log-batch", 1, _MOST),
            help="Neighbouring records that the producer writes as one batch.",
        ),
    ] = 1,
    end_offsets: Annotated[
        Path | None,
        typer.Option("--end-offsets", help="When records came: ascending lines MS,END_OFFSET. Not needed for a running cluster."),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", callback=within("--runs", 1, 1000), help="Runs of each simulation.")
    ] = 20,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", metavar="N", callback=within("--seed", 0, _MOST), help="Of the first run; each further one adds 1."
        ),
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Draw it as well; the suffix selects the format.", show_default=False),
    ] = None,
    output_format: FormatOption = OutputFormat.TABLE,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Predict what would become of a group's records under other settings.

    The recorded deliveries are reduced to a model: when records came, how long members work, how often they stall, and which
    records fail. Members then work by that model, in virtual time, on the share partitions of the engine.

    Assumed: members fetch again as soon as they have answered, and answer for all records of a fetch at once. Their number does
    not change. A delivery that lasted as long as the lock, and of which every record returned, is one whose lock expired. A
    record that was never accepted is poison with a probability that its releases give. Without end offsets, all records are there
    from the beginning. The log shows no acquisition: what is inferred depends on --today. Where every delivery ran into its lock,
    the log does not tell how long a record takes: --processing-time is needed.

    Example: share-state simulate kafka://localhost:9092 workers --try lock-duration=60s --try members=4,delivery-limit=10
    """
    if output is not None:
        picture_file(output)
    choice, client = Choice(group, topic_id, partition), any_source.Client(command_config, timeout)
    processing = _processing(processing_time)
    # What is wrong with them is known without reading anything.
    alone = {
        "lock-duration": lock_duration,
        "delivery-limit": delivery_limit,
        "max-record-locks": max_record_locks,
        "members": members,
        "mode": mode,
        "max-poll-records": max_poll_records,
    }
    wanted = [("--try", text) for text in tries or ()]
    if together := ",".join(f"{name}={value}" for name, value in alone.items() if value is not None):
        wanted.insert(0, ("settings to try", together))
    for option, text in [("--today", today), *wanted]:
        if text is not None:
            changed(Settings(), text, option)
    recorded, damage = _recorded(path, choice, client)
    settings = _today(path, group, client, recorded, today)
    compared = [settings, *(changed(settings, text, option) for option, text in wanted)]
    arrivals = _arrivals(path, client, recorded, end_offsets)
    model, figures = fit(recorded, settings, arrivals=arrivals, processing=processing, log_batch=log_batch)
    if model.unknown_work:
        findings.show(damage)
        raise typer.BadParameter(
            f"{model.unknown_work}, so how long a record takes is not known; give --processing-time, such as 200ms"
        )
    predictions: list[Prediction] = []
    with record_progress("simulating") as progress:
        for number, one in enumerate(compared):
            done = None if progress is None else lambda ran, _, at=number: progress(at * runs + ran, runs * len(compared))
            predictions.append(predict(model, one, runs=runs, seed=seed, progress=done))
    rows = [recorded_row(figures, settings), *(simulated_row(one, settings) for one in predictions)]
    missed = predictions[0].misses(figures)
    with reading(path):
        if output_format is OutputFormat.TABLE:
            write_table(rows, model, missed)
        else:
            write_rows(rows_json(rows, model, seed, missed), output_format)
    if output is not None:
        save_picture(lambda: draw(recorded, model.begin_ms, predictions), output)
    findings.report(damage)


def _recorded(path: str, choice: Choice, client: any_source.Client) -> tuple[Recorded, list[Finding]]:
    """Read the deliveries of the group, and what cannot be read; leave where there are none."""
    with reading(path), any_source.watched(path, "reading") as progress:
        scan = any_source.history(path, choice, client, progress)
        try:
            return Recorded(choice.told(scan, lambda other: any_source.history(path, other, client))), scan.findings
        except typer.BadParameter:
            findings.show(scan.findings)
            raise
        except ConfigError as error:
            findings.show(scan.findings)
            raise typer.BadParameter(printable(f"GROUP {choice.group}: {error}")) from None


def _today(path: str, group: str, client: any_source.Client, recorded: Recorded, text: str | None) -> Settings:
    """Return today's settings: what is told, else what the cluster says, else what the log shows, else Kafka's defaults."""
    known = Settings()
    limit = recorded.delivery_limit()
    if limit is not None and not is_cluster(path):
        known = known.with_limit(limit)
    known = of_cluster(path, group, client, known)
    settings = known if text is None else changed(known, text, "--today")
    if recorded.highest_count() > settings.delivery_limit:
        told = f"delivery-limit is {settings.delivery_limit}, and a record was delivered {recorded.highest_count()} times"
        raise typer.BadParameter(f"--today: {told}")
    if text is None or "max-poll-records" not in text:
        return replace(settings, max_poll_records=usual_poll(recorded, settings))
    return settings


def _arrivals(path: str, client: any_source.Client, recorded: Recorded, end_offsets: Path | None) -> dict[Place, Arrivals]:
    places = recorded.places()
    try:
        if end_offsets is not None:
            if len(places) > 1:
                raise typer.BadParameter("--end-offsets is for one share partition: choose it by --topic-id and --partition")
            return {places[0]: Arrivals(end_offsets_of(end_offsets))}
        if not is_cluster(path):
            return {}
        first, last = recorded.writes[0].at_ms, recorded.writes[-1].at_ms
        # Records that were taken at once came earlier than what was written about them first.
        since = first - (last - first)
        return {place: Arrivals(lag.ends_between(path, client, place, since, last)) for place in places}
    except ConfigError as error:
        raise typer.BadParameter(printable(f"end offsets: {error}")) from None
