"""Where pictures go: the option that names the file, and how it is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from share_state.cli.exit_codes import ExitCode
from share_state.errors import ConfigError
from share_state.extras import MissingPackageError
from share_state.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "checked_picture", "save"]

#: What a picture can be written as; the suffix of its file says which.
_SUFFIXES = (".png", ".svg", ".pdf")
FORMATS = ", ".join(_SUFFIXES)


def checked_picture(output: Path | None) -> Path | None:
    """Refuse a file whose suffix names no format: without one another file than this would be written."""
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise typer.BadParameter(printable(f"{output} has an unknown suffix; expected one of {FORMATS}"))
    return output


def save(draw: Callable[[], Figure], output: Path) -> None:
    """Draw a picture and write it; where that fails, leave with a sentence on stderr."""
    try:
        draw().savefig(output)
    except ConfigError as error:
        _fail(ExitCode.USAGE, str(error))
    except MissingPackageError as error:
        _fail(ExitCode.IO, str(error))
    except (OSError, ValueError) as error:
        _fail(ExitCode.IO, f"cannot write {output}: {error}")


def _fail(code: ExitCode, reason: str) -> None:
    typer.echo(f"share-state: {printable(reason)}", err=True)
    raise typer.Exit(code) from None
