"""The formats every command can print."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

#: The longest time to wait for an answer, in seconds.
_LONGEST = 3600


class OutputFormat(StrEnum):
    """For people, for one JSON parser, or for line-wise tools."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH|kafka://HOST:PORT[,…]",
        help="A directory with __share_group_state-N folders, one such folder, one segment file, or a running cluster.",
        show_default=False,
    ),
]
FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="How to print.")]


def _seconds(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds <= _LONGEST:
        raise typer.BadParameter(f"--timeout is {seconds:g}; expected more than 0 and at most {_LONGEST} seconds")
    return seconds


TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        callback=_seconds,
        help="For a cluster: how long to wait for an answer. Default: 10.",
        show_default=False,
    ),
]
CommandConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="For a cluster: lines NAME=VALUE with librdkafka's settings, such as security.protocol.",
        show_default=False,
    ),
]
