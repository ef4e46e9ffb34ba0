"""Exit statuses of the commands, and the one place where a failure becomes one."""

import errno
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

import typer

from share_state.cli.shared.output import need_stdout
from share_state.errors import ShareStateError
from share_state.util.printable import printable

#: HOST:PORT of brokers, with commas between; an IPv6 host is in brackets.
_ADDRESS = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}(?:,(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5})*", re.ASCII)

#: A host by itself; a name of a file looks like one, too.
_HOST = re.compile(r"[\w.-]+|\[[0-9A-Fa-f:.]+\]", re.ASCII)
#: Number that the extension appends to the system's message.
_NUMBER = re.compile(r" \(os error \d+\)$")


class ExitCode(IntEnum):
    """Exit status of every command."""

    OK = 0
    #: The command did what was asked, and something is wrong with what was looked at.
    FINDINGS = 1
    #: The command line itself is wrong (typer's own status for it).
    USAGE = 2
    #: PATH is missing, cannot be read, or holds no state log.
    IO = 3
    #: Part of the input could not be read or used: all else was shown, and that part stands on stderr.
    DAMAGE = 4
    #: Both: what is wrong was found in the part that could be read.
    FINDINGS_AND_DAMAGE = 5
    #: The output cannot be written to stdout: its disk is full, for instance.
    OUTPUT = 6
    #: All that is there was read and shown, and records are missing between: the state topic was compacted by mistake.
    HOLES = 7
    #: Both: what is wrong was found in a log with holes.
    FINDINGS_AND_HOLES = 8
    #: Ctrl-C (typer's own status for it, and a shell's).
    INTERRUPTED = 130


@contextmanager
def reading(path: Path | str, *, timeout: str = " (--timeout)") -> Iterator[None]:
    """Turn a failure to read `path` into one sentence on stderr and exit status 3; `timeout` names the option for the wait.

    What fails about stdout passes through, and the root of the command line decides: a reader that closes it early
    (`share-state dump … | head`) has got what it wanted, and that ends quietly with status 0.
    """
    need_stdout()
    if hasattr(sys.stdout, "reconfigure"):
        # A group id that the terminal's encoding cannot show is still shown, escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        _fail(path, _reason(path, error))
    except ShareStateError as error:
        # Imported late: help and version need none of it.
        from share_state.operate.reading.failures import NoAnswerError  # noqa: PLC0415

        _fail(path, f"{error}{timeout if isinstance(error, NoAnswerError) else ''}")


def _reason(path: Path | str, error: OSError) -> str:
    """Say what the system says, and of which file where that is another one than `path`, below it for instance."""
    reason = _NUMBER.sub("", error.strerror or str(error)).removeprefix(f"{path}: ")
    if isinstance(error.filename, str) and error.filename != str(path):
        return f"{error.filename}: {reason}"
    return reason + (_hint(str(path)) if error.errno == errno.ENOENT else "")


def _hint(path: str) -> str:
    """Say how a cluster is named where a path that is not there looks like the address of one."""
    scheme, _, place = path.rpartition("://")
    place = place.rstrip("/") if scheme else place
    if _ADDRESS.fullmatch(place):
        return f"; a running cluster is kafka://{place}"
    return "; a running cluster is kafka://HOST:PORT" if scheme or _HOST.fullmatch(place) else ""


def _fail(path: Path | str, reason: str) -> None:
    sys.stdout.flush()
    typer.echo(f"share-state: cannot read {printable(str(path))}: {printable(reason)}", err=True)
    raise typer.Exit(ExitCode.IO) from None
