"""`share-state spark run`: tables of share-group state, made by Spark and written where the next job finds them."""

from __future__ import annotations

import importlib
import os
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from share_state.cli.commands import HELP_NAMES
from share_state.cli.shared import any_source, beside_option
from share_state.cli.shared.beside_option import LiveTopicsOption, LogEndOffsetsOption
from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.lines import console_of_stdout
from share_state.cli.shared.output_format import CommandConfigOption
from share_state.cli.shared.progress import record_progress
from share_state.cli.spark import output as spark_output
from share_state.errors import ConfigError
from share_state.operate.reading.cluster import ClusterReadError
from share_state.util.extras import MissingPackageError
from share_state.util.printable import printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from share_state.spark.run import Written

#: Options of the data source that this command gives by options of its own.
_OWN_OPTIONS = {"path": "--input", "kafka.bootstrap.servers": "--input", "table": "--table", "onerror": "--on-error"}
#: Tables that are never empty where there is a record.
_OF_RECORDS = frozenset({"records", "state", "history"})

spark = typer.Typer(
    help="Make tables of share-group state with Spark.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=HELP_NAMES,
)


class SparkTable(StrEnum):
    """Table to make."""

    RECORDS = "records"
    STATE = "state"
    HISTORY = "history"
    ANOMALIES = "anomalies"


class StorageFormat(StrEnum):
    """Format in which a table is stored."""

    PARQUET = "parquet"
    DELTA = "delta"


class SaveMode(StrEnum):
    """Treatment of a table that is there already."""

    ERROR = "error"
    OVERWRITE = "overwrite"
    APPEND = "append"


class OnErrorChoice(StrEnum):
    """Treatment of records that cannot be read."""

    FAIL = "fail"
    QUARANTINE = "quarantine"


@spark.callback()
def _group() -> None:
    """Keep `run` its own command, also while it is the only one."""


@spark.command()
def run(
    *,
    source: Annotated[
        str,
        typer.Option("--input", metavar="PATH|kafka://HOST:PORT[,…]", help="Log directory, store, object storage, or cluster."),
    ],
    output: Annotated[str, typer.Option("--output", metavar="PATH", help="Each table goes into a directory of its name here.")],
    table: Annotated[list[SparkTable] | None, typer.Option("--table", help="May be given several times. Default: state.")] = None,
    storage: Annotated[StorageFormat, typer.Option("--format", help="delta needs a session with Delta.")] = StorageFormat.PARQUET,
    mode: Annotated[
        SaveMode, typer.Option("--mode", help="What to do with an existing table; error writes nothing.")
    ] = SaveMode.ERROR,
    on_error: Annotated[OnErrorChoice, typer.Option("--on-error", help="Records that cannot be read.")] = OnErrorChoice.FAIL,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="An option of the data source, such as group or asOfTimestamp."),
    ] = None,
    log_end_offsets: LogEndOffsetsOption = None,
    live_topics: LiveTopicsOption = None,
    command_config: CommandConfigOption = None,
    master: Annotated[str | None, typer.Option("--master", help="Spark's master. Default: Spark's configuration.")] = None,
    conf: Annotated[
        list[str] | None, typer.Option("--conf", metavar="NAME=VALUE", help="A setting of the Spark session.")
    ] = None,
) -> None:
    """Read share-group state with Spark and write tables of it.

    records and history are partitioned by day. Exit status 3 means that the input cannot be read or the output cannot be written.
    """
    settings, options = _pairs("--conf", conf), _options(option)
    beside = beside_option.source_options(log_end_offsets, live_topics)
    if beside and SparkTable.ANOMALIES not in (table or []):
        raise typer.BadParameter(f"{min(beside)} applies only to --table anomalies")
    for name, text in (beside | _client_options(source, command_config)).items():
        if name.lower() in map(str.lower, options):
            raise typer.BadParameter(f"{name} is given twice, by a file and by --option")
        options[name] = text
    try:
        job_module = importlib.import_module("share_state.spark.run")
    except MissingPackageError as error:
        _fail(ExitCode.IO, str(error))
    tables = tuple(dict.fromkeys(one.value for one in table or [SparkTable.STATE]))
    job = job_module.Job(source, output, tables, storage.value, mode.value, on_error.value, options)
    try:
        parsed = importlib.import_module("share_state.spark.options").parse(job_module.source_options(job))
    except ConfigError as error:
        _fail(ExitCode.USAGE, str(error))
    if refused := spark_output.refusal(output, job_module.written_tables(job), storage.value, mode.value, settings):
        _fail(ExitCode.IO, refused)
    with reading(source, timeout=""):
        importlib.import_module("share_state.spark.reading").pieces(parsed)
    session = _session(master, settings)
    try:
        with record_progress("tasks") as progress:
            written = list(job_module.run(session, job, progress))
    except Exception as error:  # noqa: BLE001  whatever Spark raises is said in one sentence
        _fail(ExitCode.IO, _reason(error))
    finally:
        session.stop()
    _write_summary(written)
    chosen = [f"{name} {printable(str(value))}" for name, value in parsed.choice.chosen()]
    if chosen and any(one.table in _OF_RECORDS for one in written) and not any(one.rows for one in written):
        typer.echo(f"share-state: warning: {printable(source)}: nothing of {' and '.join(chosen)}", err=True)
    if any(one.table == "errors" and one.rows for one in written):
        raise typer.Exit(ExitCode.DAMAGE)


def _pairs(name: str, given: list[str] | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{name} is {text!r}; expected NAME=VALUE")
        pairs[key] = value
    return pairs


def _options(given: list[str] | None) -> dict[str, str]:
    options = _pairs("--option", given)
    for name in options:
        if name.lower() in _OWN_OPTIONS:
            raise typer.BadParameter(f"--option {name} cannot be set: use {_OWN_OPTIONS[name.lower()]}")
    return options


def _client_options(source: str, command_config: Path | None) -> dict[str, str]:
    """Read the settings of a cluster's client as options of the data source."""
    try:
        settings = any_source.client_config(source, command_config) or {}
    except ClusterReadError as error:
        _fail(ExitCode.IO, str(error))
    return {f"kafka.{name}": str(value) for name, value in settings.items()}


def _session(master: str | None, settings: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415  after we know that it is there

    # Workers on this machine run this Python, unless they are told otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("share-state").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001  whatever keeps Spark from starting is said in one sentence
        _fail(ExitCode.IO, f"Spark does not start ({_reason(error)}): `share-state spark-doctor` says what is missing")
    if "spark.log.level" not in settings:
        # What goes wrong is said by us, once.
        session.sparkContext.setLogLevel("OFF")
    return session


def _reason(error: Exception) -> str:
    """Return the last sentence of a worker's own error, if there is one, or the first of Spark's that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if there := re.search(r"\[(?:DELTA_)?PATH(?:_ALREADY)?_EXISTS\] (?:Path (\S+) already exists)?", str(error)):
        return f"{there[1] or 'the output'} is there already: {spark_output.MODES}"
    # Of an error of the JVM the first line names a call of PySpark's, and the next the error.
    lines = [line[2:] for line in lines if line.startswith(": ")] or lines
    ours = [line for line in lines if line.startswith(("share_state.", "FileNotFoundError", "PermissionError", "ValueError"))]
    return ours[-1].partition(": ")[2] if ours else (lines or [type(error).__name__])[0]


def _fail(code: ExitCode, reason: str) -> NoReturn:
    typer.echo(f"share-state: {printable(reason)}", err=True)
    raise typer.Exit(code)


def _write_summary(written: list[Written]) -> None:
    summary = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, justify in (("TABLE", "left"), ("ROWS", "right"), ("SECONDS", "right"), ("PLACE", "left")):
        summary.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    for one in written:
        summary.add_row(one.table, str(one.rows), f"{one.seconds:.1f}", printable(one.place))
    console_of_stdout().print(summary)
