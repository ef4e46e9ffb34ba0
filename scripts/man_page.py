"""Writes the man page from the help of the commands: `python scripts/man_page.py` renews docs/share-state.1."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from share_state import __version__
from share_state.cli.app import app
from share_state.cli.commands import COMMANDS
from share_state.cli.exit_codes import ExitCode

PAGE = Path(__file__).resolve().parents[1] / "docs" / "share-state.1"
_STATUSES = {
    ExitCode.OK: "Everything was read.",
    ExitCode.FINDINGS: "An anomaly was found.",
    ExitCode.USAGE: "The command line is wrong.",
    ExitCode.IO: "The input cannot be read, or the directory cannot be served.",
    ExitCode.DAMAGE: "Part of the input cannot be read (a torn tail, damage); the rest was shown.",
    ExitCode.FINDINGS_AND_DAMAGE: "Both: an anomaly was found in the part that could be read.",
    ExitCode.OUTPUT: "Standard output cannot be written.",
    ExitCode.INTERRUPTED: "Ctrl-C was pressed.",
}


def page() -> str:
    """Return the whole page."""
    root = typer.main.get_command(app)
    return "\n".join(_lines(root)) + "\n"


def _lines(root: Any) -> Iterator[str]:  # noqa: ANN401  typer keeps its commands' types to itself
    yield f'.TH SHARE\\-STATE 1 "" "share\\-state {_plain(__version__)}" "User Commands"'
    yield from (".SH NAME", "share\\-state \\- look at the state of Kafka\\(aqs share groups")
    yield from (".SH SYNOPSIS", ".B share\\-state", "[OPTIONS] COMMAND [ARGS]...")
    yield from (".SH DESCRIPTION", *_text(root.help))
    yield ".SH OPTIONS"
    yield from _options(root)
    yield ".SH COMMANDS"
    for name in COMMANDS:
        command = root.get_command(None, name)
        inner = command.commands if hasattr(command, "commands") else {}
        for words, one in ((f"{name} {word}", of) for word, of in inner.items()) if inner else [(name, command)]:
            yield from _command(words, one)
    yield ".SH EXIT STATUS"
    for status, text in _STATUSES.items():
        yield from (".TP", str(int(status)), *_text(text))
    yield ".SH ENVIRONMENT"
    for variable, text in (("COLUMNS", "How wide tables may be."), ("NO_COLOR", "Where it is set, nothing is coloured.")):
        yield from (".TP", f".B {_plain(variable)}", *_text(text))


def _command(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401  as above
    context = command.make_context(f"share-state {name}", [], resilient_parsing=True)
    yield f'.SS "{_plain(" ".join([name, *command.collect_usage_pieces(context)]))}"'
    yield from _text(command.help)
    yield from _options(command, context)


def _options(command: Any, context: Any = None) -> Iterator[str]:  # noqa: ANN401  as above
    context = context or command.make_context("share-state", [], resilient_parsing=True)
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield from (".TP", f".B {_plain(record[0])}", *_text(record[1]))


def _text(text: str) -> Iterator[str]:
    """Give the paragraphs, each on a line."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        yield _plain(" ".join(paragraph.split()))


def _plain(text: str) -> str:
    """Escape what roff would read as its own."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace('"', "\\(dq")
    return f"\\&{escaped}" if escaped.startswith((".", "\\(aq")) else escaped


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
