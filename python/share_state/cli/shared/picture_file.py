"""Pictures as files: which formats there are, how one is saved, and the end offsets that some are drawn from."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from share_state.cli.shared.exit_codes import ExitCode
from share_state.errors import ConfigError
from share_state.util.extras import MissingPackageError
from share_state.util.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "end_offsets_of", "fail", "picture_file", "save_picture"]

#: Formats of a picture; the suffix of its file chooses one.
_SUFFIXES = (".png", ".svg", ".pdf")
FORMATS = ", ".join(_SUFFIXES)


def picture_file(output: Path | None) -> Path | None:
    """Refuse a file whose suffix names no format: without one another file than this would be written."""
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise typer.BadParameter(printable(f"{output} has an unknown suffix; expected one of {FORMATS}"))
    return output


def save_picture(draw: Callable[[], Figure], output: Path) -> None:
    """Draw and write; what fails becomes a sentence on stderr and an exit status."""
    try:
        draw().savefig(output)
    except ConfigError as error:
        fail(ExitCode.USAGE, printable(str(error)))
    except MissingPackageError as error:
        fail(ExitCode.IO, printable(str(error)))
    except (OSError, ValueError) as error:
        fail(ExitCode.IO, printable(f"cannot write {output}: {error}"))


def end_offsets_of(path: Path) -> list[tuple[int, int]]:
    """Read lines MS,END_OFFSET."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return [(int(ms), int(end)) for ms, end in csv.reader(lines)]
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{path} cannot be read as lines MS,END_OFFSET: {error}") from None


def fail(code: ExitCode, reason: str) -> NoReturn:
    """Say why the command ends, and end it."""
    typer.echo(f"share-state: {reason}", err=True)
    raise typer.Exit(code)
