"""The commands by name, each imported when it is asked for: help and version need none of what commands are made of."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMMANDS", "Commands", "Place"]


class Place(NamedTuple):
    """Place of a command, and its entry in the list of commands: the first line of its docstring."""

    module: str
    attribute: str
    says: str


COMMANDS = {
    "state": Place("state.command", "state", "Show the state of every share partition, now or as of earlier."),
    "dump": Place("dump.command", "dump", "Show every record, including deletions and, on disk, records below the log start."),
    "history": Place("history.command", "history_command", "Show what happened to every record, and when."),
    "peek": Place(
        "peek.command",
        "peek",
        "Show what is in the records of a share group: key, value and headers, beside their state and history.",
    ),
    "trace": Place(
        "trace.command",
        "trace_command",
        "Show the life of one record: produced, delivered, released, accepted or archived, as far as the log tells.",
    ),
    "anomalies": Place(
        "anomalies.command",
        "anomalies_command",
        "Show what is wrong: stuck start offsets, poison records, bursts, lock-expiry loops, impossible states.",
    ),
    "diff": Place("diff.command", "diff", "Show what moved between two states: two places, or one place at two times."),
    "top": Place("top.command", "top", "Show how every share partition of a running cluster does, the ones in trouble first."),
    "doctor": Place(
        "doctor.command",
        "doctor",
        "Find why share groups of a running cluster are in trouble, and the Kafka command that mends each cause.",
    ),
    "exporter": Place(
        "exporter.command",
        "exporter",
        "Serve how the share groups of a running cluster do, as metrics for Prometheus or OpenTelemetry.",
    ),
    "check-history": Place(
        "check_history.command",
        "check_history_command",
        "Check by a history of what clients saw whether the promises of share groups were kept.",
    ),
    "dlq": Place("dlq.command", "dlq", "Show the records that a share group gave up, and send them again."),
    "web": Place("web.command", "web", "Serve how the share groups of a running cluster do, as pages for a browser."),
    "coordinator": Place("coordinator.command", "coordinator", "Serve as a share coordinator (RPCs 83 to 87), without a JVM."),
    "gateway": Place("gateway.command", "gateway", "Serve share groups over a cluster that has none (KIP-932)."),
    "plot": Place("plot.command", "plot_command", "Draw what happened to the records of one share partition."),
    "simulate": Place(
        "simulate.command", "simulate_command", "Predict what would become of a group's records under other settings."
    ),
    "spark-doctor": Place(
        "spark_doctor.command", "spark_doctor", "Check Java and the packages that Spark needs, and run a small job."
    ),
    "spark": Place("spark.command", "spark", "Make tables of share-group state with Spark."),
}


class Commands(TyperGroup):
    """The group of all commands."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  typer keeps its context's type to itself
        """Name the commands, in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any | None:  # noqa: ANN401, ARG002  as above
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        place = COMMANDS[cmd_name]
        found = getattr(importlib.import_module(f"share_state.cli.{place.module}"), place.attribute)
        return typer.main.get_command(found if isinstance(found, typer.Typer) else _alone(cmd_name, found))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  as above
        """Run a command; what it refuses is said without the words of the library in which typer checks values."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as wrong:
            wrong.message = wrong.message.removeprefix("Value error, ")
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002  as above
        """List the commands in the help, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.says) for name, place in COMMANDS.items()])


def _alone(name: str, function: Callable[..., Any]) -> typer.Typer:
    """Make an application of one command."""
    made = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP_NAMES)
    made.command(name)(function)
    return made


#: Options that ask any command for its help.
HELP_NAMES: dict[str, list[str]] = {"help_option_names": ["-h", "--help"]}
