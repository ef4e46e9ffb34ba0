"""Writes the man page, and the tables of docs/commands.md, from the help of the commands: `python scripts/man_page.py`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from share_state import __version__
from share_state.cli.app import app
from share_state.cli.commands import COMMANDS
from share_state.cli.shared.exit_codes import ExitCode

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "share-state.1"
COMMANDS_PAGE = DOCS / "commands.md"
_STATUSES = {
    ExitCode.OK: "Everything was read.",
    ExitCode.FINDINGS: "`anomalies` or `doctor` has a finding, `check-history` a broken promise, `diff` a change, `top` trouble.",
    ExitCode.USAGE: "Wrong usage, or a group, topic, partition or offset that does not exist. The message names those that do.",
    ExitCode.IO: "The input does not exist, cannot be read or holds no state log, or the directory cannot be served.",
    ExitCode.DAMAGE: "Part of the input cannot be read (a torn tail, damage). The rest was shown. `dlq redrive` left a record.",
    ExitCode.FINDINGS_AND_DAMAGE: "Both 1 and 4.",
    ExitCode.OUTPUT: "Standard output cannot be written.",
    ExitCode.HOLES: "Records are missing between others: the topic was compacted, or a segment was left out. The rest was read.",
    ExitCode.FINDINGS_AND_HOLES: "Both 1 and 7.",
    ExitCode.INTERRUPTED: "Ctrl-C was pressed.",
}
#: The page below docs/ that describes a command.
_DESCRIBED = {
    "state": "history-and-anomalies.md#the-state-as-of-earlier",
    "dump": "kafka-cluster.md#look-into-a-running-cluster",
    "history": "history-and-anomalies.md",
    "peek": "operate.md#look-at-the-payloads-peek",
    "trace": "operate.md#the-life-of-one-record-trace",
    "anomalies": "history-and-anomalies.md#how-accurate-they-are",
    "diff": "operate.md#changes-between-two-states",
    "top": "operate.md",
    "doctor": "operate.md#find-the-causes-doctor",
    "exporter": "exporter-metrics.md",
    "check-history": "histories.md",
    "dlq": "operate.md#dead-letters-dlq",
    "web": "operate.md#pages-for-a-browser-web",
    "coordinator": "kafka-cluster.md#a-share-coordinator-without-a-jvm",
    "gateway": "gateway.md",
    "plot": "history-and-anomalies.md#pictures",
    "simulate": "operate.md#try-other-settings-simulate",
    "spark-doctor": "spark.md",
    "spark": "spark.md",
}


def page() -> str:
    """Return the whole page."""
    root = typer.main.get_command(app)
    return "\n".join(_lines(root)) + "\n"


def commands_page(text: str) -> str:
    """Return docs/commands.md with its tables renewed."""
    for mark, table in (("commands", _command_rows()), ("exit statuses", _status_rows())):
        begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        text = "".join([before, begin, *(f"{line}\n" for line in table), end, after])
    return text


def _command_rows() -> Iterator[str]:
    yield from ("| command | purpose | page |", "|---|---|---|")
    for words, command in _all_commands(typer.main.get_command(app)):
        name, page = f"share-state {words}", _DESCRIBED[words.split(" ")[0]]
        context = command.make_context(name, [], resilient_parsing=True)
        pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
        needed = (one for one in command.get_params(context) if one.required and one.param_type_name == "option")
        pieces += [_needed(one.get_help_record(context)[0]) for one in needed]
        usage = re.sub(r"[{}]", "", " ".join([name, *pieces])).replace("|", "\\|")
        purpose = " ".join(re.split(r"\n\s*\n", command.help.strip())[0].split())
        yield f"| `{usage}` | {purpose} | [{page.partition('#')[0]}]({page}) |"


def _needed(record: str) -> str:
    """Return an option with its value: without its short form, and with a word for a bare type."""
    option, _, value = record.rpartition(", ")[2].partition(" ")
    return f"{option} {option.strip('-').upper() if value.startswith('<') else value}"


def _status_rows() -> Iterator[str]:
    yield from ("| status | meaning |", "|---|---|")
    yield from (f"| {int(status)} | {text} |" for status, text in _STATUSES.items())


def _all_commands(root: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  typer keeps its commands' types to itself
    for name in COMMANDS:
        command = root.get_command(None, name)
        inner = command.commands if hasattr(command, "commands") else {}
        yield from ((f"{name} {word}", one) for word, one in inner.items()) if inner else [(name, command)]


def _lines(root: Any) -> Iterator[str]:  # noqa: ANN401  as above
    yield f'.TH SHARE\\-STATE 1 "" "share\\-state {_plain(__version__)}" "User Commands"'
    yield from (".SH NAME", "share\\-state \\- look at the state of Kafka\\(aqs share groups")
    yield from (".SH SYNOPSIS", ".B share\\-state", "[OPTIONS] COMMAND [ARGS]...")
    yield from (".SH DESCRIPTION", *_text(root.help))
    yield ".SH OPTIONS"
    yield from _options(root)
    yield ".SH COMMANDS"
    for words, command in _all_commands(root):
        yield from _command(words, command)
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
    """Write the pages."""
    PAGE.write_text(page(), encoding="utf-8")
    COMMANDS_PAGE.write_text(commands_page(COMMANDS_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
