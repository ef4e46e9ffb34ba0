"""What cannot be read goes to stderr, after everything readable went to stdout."""

import sys
from collections.abc import Sequence

import typer

from share_state.cli.exit_codes import ExitCode
from share_state.cli.printable import printable
from share_state.reading.plain import Finding


def report(findings: Sequence[Finding], *, anomalies: bool = False) -> None:
    """Print each finding on a line of its own and leave with the status of damage, of anomalies or of both, or return."""
    # Whoever merges the two streams sees the records first.
    sys.stdout.flush()
    for finding in findings:
        unit = "offset" if finding["kind"] == "record" else "byte"
        place = f"{finding['file']} at {unit} {finding['position']}"
        typer.echo(printable(f"{finding['kind']}: {place}: {finding['message']}"), err=True)
    if findings:
        raise typer.Exit(ExitCode.FINDINGS_AND_DAMAGE if anomalies else ExitCode.DAMAGE)
    if anomalies:
        raise typer.Exit(ExitCode.FINDINGS)
