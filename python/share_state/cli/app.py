"""The command line's root: options common to all commands, and how it is left."""

import os
import sys
from typing import Annotated

import typer

from share_state import __version__
from share_state.cli.commands import HELP_NAMES, Commands
from share_state.cli.shared.exit_codes import ExitCode
from share_state.cli.shared.output import OutputError, ReaderGoneError, discard_stdout, flush_stdout, watch_stdout

app = typer.Typer(
    name="share-state",
    help="Look at the state of Kafka's share groups (KIP-932), in log segments on disk or in a running cluster.",
    epilog="Exit status: 0 all was read; 1 something was found; 2 usage; 3 what was named cannot be read; 4 part of it cannot;"
    " 5: 1 and 4; 6 stdout cannot be written; 7 records are missing between others; 8: 1 and 7; 130 Ctrl-C.",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain text: rich would take `:ID:` for the name of an emoji, and cut words that do not fit.
    rich_markup_mode=None,
    context_settings=HELP_NAMES,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"share-state {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the command line; leaves through `SystemExit` with a code of `ExitCode`."""
    watch_stdout()
    try:
        try:
            app(prog_name="share-state")
        finally:
            flush_stdout()
    except ReaderGoneError:
        discard_stdout()
        sys.exit(ExitCode.OK)
    except OutputError as error:
        discard_stdout()
        typer.echo(f"share-state: cannot write to stdout: {error}", err=True)
        sys.exit(ExitCode.OUTPUT)
    except SystemExit as left:
        if left.code == ExitCode.INTERRUPTED:
            # All that was open is closed by now. Taking the interpreter apart would only keep who pressed Ctrl-C waiting.
            os._exit(ExitCode.INTERRUPTED)
        raise
