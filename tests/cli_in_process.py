"""Runs the command line in this process, where many short runs would each start an interpreter."""

from __future__ import annotations

from typing import NamedTuple

from typer.testing import CliRunner

from share_state.cli.app import app


class Ran(NamedTuple):
    """Result of a run."""

    returncode: int
    stdout: str
    stderr: str


def run_here(*arguments: object, columns: int = 400) -> Ran:
    """Run with both outputs captured apart; a failure of the command itself is raised."""
    ran = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": str(columns)})
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return Ran(ran.exit_code, ran.stdout, ran.stderr)
