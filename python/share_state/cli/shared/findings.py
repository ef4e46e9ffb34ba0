"""Findings about what cannot be read; they go to stderr, after everything readable went to stdout."""

import sys
from collections.abc import Sequence

import typer

from share_state.cli.shared.exit_codes import ExitCode
from share_state.operate.reading.plain import Finding
from share_state.util.printable import printable

_HOLE = "hole"


def report(findings: Sequence[Finding], *, anomalies: bool = False) -> None:
    """Print each finding on its own line and leave with the status of damage, of holes, of anomalies or of both, or return."""
    show(findings)
    if any(finding["kind"] != _HOLE for finding in findings):
        raise typer.Exit(ExitCode.FINDINGS_AND_DAMAGE if anomalies else ExitCode.DAMAGE)
    if findings:
        raise typer.Exit(ExitCode.FINDINGS_AND_HOLES if anomalies else ExitCode.HOLES)
    if anomalies:
        raise typer.Exit(ExitCode.FINDINGS)


def show(findings: Sequence[Finding]) -> None:
    """Print each finding on its own line."""
    # Whoever merges the two streams sees the records first.
    sys.stdout.flush()
    for finding in findings:
        # What is wrong with bytes is told with its place; what is wrong with a record only with its offset.
        place = f"{finding['file']}: " if finding["kind"] == "record" else ""
        typer.echo(printable(f"{finding['kind']}: {place}{finding['message']}"), err=True)
