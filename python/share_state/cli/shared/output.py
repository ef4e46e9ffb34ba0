"""Stdout as the commands write to it: a write that fails says so by its own error.

An error of the system does not tell which file it is about: what cannot be written would be taken for what cannot be read.
"""

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["OutputError", "ReaderGoneError", "discard_stdout", "flush_stdout", "need_stdout", "watch_stdout"]


class OutputError(Exception):
    """Stdout takes no more; the text says why. It is no `OSError`, so that nobody takes it for one of a file that is read."""


class ReaderGoneError(Exception):
    """Raised when the reader of stdout has left early, as `head` does, and has got what it wanted.

    It is no `BrokenPipeError`: rich and typer end the process with status 1 at one.
    """


class _NoStdout(io.StringIO):
    """Stands where the process was started with stdout closed."""

    def write(self, text: str, /) -> int:
        if text:
            raise OutputError("it is closed")
        return 0


class _Stdout(io.FileIO):
    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGoneError from None
        except OSError as error:
            raise OutputError(error.strerror or str(error)) from None


def watch_stdout() -> None:
    """Have failed writes to stdout raise `OutputError` or `ReaderGoneError` from now on."""
    now = sys.stdout
    if not isinstance(now, io.TextIOWrapper):
        # There is none, or somebody has put another in its place.
        return
    now.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Stdout(now.fileno(), "wb", closefd=False)),
        encoding=now.encoding,
        errors=now.errors,
        line_buffering=now.line_buffering,
        write_through=now.write_through,
    )


def need_stdout() -> None:
    """Make each write raise `OutputError` where there is no stdout."""
    if sys.stdout is None:
        sys.stdout = _NoStdout()


def flush_stdout() -> None:
    """Write what is held back."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()


def discard_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not fail in its turn."""
    if isinstance(sys.stdout, _NoStdout):
        return
    with open(os.devnull, "w", encoding="ascii") as nothing:  # noqa: PTH123 - a device, not a path of ours
        os.dup2(nothing.fileno(), sys.stdout.fileno())
