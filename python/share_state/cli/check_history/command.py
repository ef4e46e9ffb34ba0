"""`share-state check-history`: whether the promises of share groups were kept, by what clients saw."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.json_output import compact, write_rows
from share_state.cli.shared.lines import console_of_stdout
from share_state.cli.shared.output_format import FormatOption, OutputFormat
from share_state.errors import NotAHistoryError
from share_state.operate.analysis.names import plural
from share_state.operate.histories import DELIVERY_LIMIT, SKEW_MS, WITHIN_MS, HistoryReport, Violation, check_history
from share_state.util.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

#: Bytes that are read at once, up to the end of a line.
_CHUNK = 1 << 20


def check_history_command(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Histories, each checked by itself; - is stdin.", show_default=False)
    ],
    *,
    delivery_limit: Annotated[
        int, typer.Option("--delivery-limit", min=1, help="The most deliveries of a record.")
    ] = DELIVERY_LIMIT,
    skew_ms: Annotated[int, typer.Option("--skew-ms", min=0, help="How far clocks of members may be apart.")] = SKEW_MS,
    within_ms: Annotated[
        int, typer.Option("--within-ms", min=1, help="How long an available record may wait while members poll.")
    ] = WITHIN_MS,
    output_format: FormatOption = OutputFormat.JSONL,
) -> None:
    """Check by a history of what clients saw whether the promises of share groups were kept.

    Prints one violation a line, or an array of them with --format json, with the fewest events that show it. Exit status 1 means
    that there is one, 2 that a file is no history; stderr names its line and field.

    Example: share-state check-history run.jsonl --format table
    """
    is_broken = False
    rows: list[dict[str, object]] = []
    for file in files:
        with reading(file):
            report = _checked(file, delivery_limit, skew_ms, within_ms)
            is_broken |= bool(report.violations)
            if output_format is OutputFormat.TABLE:
                _write_table(console_of_stdout(), file, report)
                continue
            rows += (_json(one, file, named=len(files) > 1) for one in report.violations)
            if output_format is OutputFormat.JSONL:
                write_rows(rows, output_format)
                rows.clear()
    if output_format is OutputFormat.JSON:
        write_rows(rows, output_format)
    raise typer.Exit(ExitCode.FINDINGS if is_broken else ExitCode.OK)


def _checked(file: str, delivery_limit: int, skew_ms: int, within_ms: int) -> HistoryReport:
    try:
        with ExitStack() as opened:
            source = sys.stdin.buffer if file == "-" else opened.enter_context(open(file, "rb"))  # noqa: PTH123  - is no path
            return check_history(_chunks(source), delivery_limit=delivery_limit, skew_ms=skew_ms, within_ms=within_ms)
    except NotAHistoryError as error:
        typer.echo(printable(f"share-state: {file}: {error}"), err=True)
        raise typer.Exit(ExitCode.USAGE) from None


def _chunks(source: BinaryIO) -> Iterator[bytes]:
    """Read whole lines, about a chunk at a time."""
    while lines := source.readlines(_CHUNK):
        yield b"".join(lines)


def _json(one: Violation, file: str, *, named: bool) -> dict[str, object]:
    row = {name: value for name, value in one._asdict().items() if value is not None}
    return {"check": row.pop("check"), **({"file": file} if named else {}), **row}


def _write_table(console: Console, file: str, report: HistoryReport) -> None:
    if report.violations:
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for name in ("CHECK", "GROUP", "TOPIC", "PARTITION", "OFFSETS", "VIOLATION", "EVENTS"):
            table.add_column(name, justify="right" if name == "PARTITION" else "left")
        for one in report.violations:
            offsets = "-" if one.first is None else f"{one.first}" if one.first == one.last else f"{one.first}-{one.last}"
            events = "\n".join(compact(event) for event in one.excerpt)
            cells = (one.check, one.group, one.topic, str(one.partition), offsets, one.text, events)
            table.add_row(*(Text(printable(cell)) for cell in cells))
        console.print(table)
    late = report.lateness
    lateness = (
        f"; {plural(late.locks, 'lock')} ran out, at most {late.longest_ms:.0f} ms before the next delivery" if late.locks else ""
    )
    console.print(
        Text(
            printable(
                f"{file}: {plural(report.events, 'event')} of {plural(report.share_partitions, 'share partition')}, "
                f"{plural(len(report.violations), 'violation')}{lateness}"
            )
        )
    )
