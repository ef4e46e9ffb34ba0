"""The formats every command can print."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class OutputFormat(StrEnum):
    """For people, for one JSON parser, or for line-wise tools."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


PathArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help="A directory with __share_group_state-N folders, one such folder, or one segment file.",
        show_default=False,
    ),
]
FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="How to print.")]
