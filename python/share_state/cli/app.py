"""The command line's root: options common to all commands, and the list of commands."""

import os
from importlib.metadata import version
from typing import Annotated

import typer

from share_state.cli.anomalies_command import anomalies_command
from share_state.cli.coordinator_command import coordinator
from share_state.cli.dump_command import dump
from share_state.cli.exit_codes import ExitCode
from share_state.cli.gateway_command import gateway
from share_state.cli.history_command import history_command
from share_state.cli.plot_command import plot_command
from share_state.cli.spark_command import spark
from share_state.cli.spark_doctor_command import spark_doctor
from share_state.cli.state_command import state

app = typer.Typer(
    name="share-state",
    help="Look at the state of Kafka's share groups (KIP-932), in log segments on disk or in a running cluster.",
    epilog="Exit status: 0 all was read; 1 findings (torn tail, damage, anomalies); 2 usage; 3 what was named cannot be read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(state)
app.command()(dump)
app.command("history")(history_command)
app.command("anomalies")(anomalies_command)
app.command()(coordinator)
app.command()(gateway)
app.command("plot")(plot_command)
app.command("spark-doctor")(spark_doctor)
app.add_typer(spark, name="spark")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"share-state {version('share-state')}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the command line; leaves through `SystemExit` with a code of `ExitCode`."""
    try:
        app(prog_name="share-state")
    except SystemExit as left:
        if left.code == ExitCode.INTERRUPTED:
            # All that was open is closed by now. Taking the interpreter apart would only keep who pressed Ctrl-C waiting.
            os._exit(ExitCode.INTERRUPTED)
        raise
