"""`share-state spark-doctor`: whether Spark can run here, and what to do if not."""

import sys
from typing import Annotated

import typer

from share_state.cli.shared.exit_codes import ExitCode
from share_state.cli.shared.json_output import write_rows
from share_state.cli.shared.output import need_stdout
from share_state.cli.shared.output_format import FormatOption, OutputFormat
from share_state.cli.spark_doctor import checks as spark_checks
from share_state.util.printable import printable


def spark_doctor(
    *,
    job: Annotated[bool, typer.Option("--job/--no-job", help="Also start Spark and run a small job.")] = True,
    output_format: FormatOption = OutputFormat.TABLE,
) -> None:
    """Check Java and the packages that Spark needs, and run a small job.

    Exit status 0 means that Spark can run here, 1 that something is missing; its line says what to do.
    """
    need_stdout()
    well = True
    rows: list[dict[str, object]] = []
    for check in spark_checks.examine(job=job):
        well = well and check.ok
        rows.append(check._asdict())
        if output_format is OutputFormat.TABLE:
            advice = f"\n      -> {check.advice}" if check.advice else ""
            sys.stdout.write(f"{'ok  ' if check.ok else 'NO  '}  {check.name:<20}{printable(check.found)}{advice}\n")
            sys.stdout.flush()
    if output_format is not OutputFormat.TABLE:
        write_rows(rows, output_format)
    if not well:
        raise typer.Exit(ExitCode.FINDINGS)
