"""The pages of the reference: which name is told on which page; the text comes from docstrings and help texts."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import share_state
from share_state.cli.commands import COMMANDS


class NamesPage(NamedTuple):
    """A page for some of the names of `share_state` itself."""

    title: str
    text: str
    names: tuple[str, ...]


class ModulePage(NamedTuple):
    """A page for modules: all that they offer."""

    title: str
    modules: tuple[str, ...]


class UntoldNameError(Exception):
    """The table below does not fit to what the package offers."""


NAMES = {
    "engine": NamesPage(
        "The engine",
        "One share partition: who may hold which record.",
        ("SharePartition", "GroupConfig"),
    ),
    "many": NamesPage(
        "Many share partitions",
        "Columns in, columns out: one call for thousands of share partitions.",
        ("SharePartitions", "Acquired", "PendingWrites"),
    ),
    "state": NamesPage(
        "State and its log",
        "The durable log and the share coordinator.",
        (
            "open", "StateStore", "ShareCoordinator", "ReadStateResult", "WriteState", "StateSummary", "combine_state_batches",
            "coordinator_key", "parse_coordinator_key", "state_partition", "logs",
        ),
    ),
    "bytes": NamesPage(
        "Bytes",
        "Kafka's messages and the records of the state topic.",
        ("encode_message", "decode_message", "encode_record", "decode_record", "api_table"),
    ),
    "values": NamesPage(
        "Values",
        "Plain data that goes in and comes out.",
        (
            "AcknowledgeType", "AcquireMode", "AcquiredRange", "ControlType", "DeadLetter", "Decision", "FetchedBatch",
            "InFlight", "LockTime", "PendingWrite", "Record", "RecordState", "SharePartitionKey", "StateBatch", "WallTime",
        ),
    ),
}  # fmt: skip

MODULES = {
    "arguments": ModulePage("Types of arguments", ("share_state.arguments",)),
    "errors": ModulePage("Errors", ("share_state.errors",)),
    "persisters": ModulePage("Homes of the state", ("share_state.persister",)),
    "asyncio": ModulePage("On an event loop", ("share_state.async_persister", "share_state.async_store")),
    "kafka": ModulePage("A real cluster", ("share_state.kafka",)),
    "gateway": ModulePage("The gateway", ("share_state.gateway",)),
    "analysis": ModulePage("States, history, anomalies", ("share_state.operate.analysis",)),
    "live": ModulePage("The live view", ("share_state.operate.live",)),
    "payloads": ModulePage("Payloads", ("share_state.operate.payloads",)),
    "trace": ModulePage("The life of one record", ("share_state.operate.analysis.trace",)),
    "dead_letters": ModulePage("Dead letters", ("share_state.operate.dead_letters",)),
    "frames": ModulePage("Arrow record batches", ("share_state.frames",)),
    "plot": ModulePage("Pictures", ("share_state.operate.plot",)),
    "simulation": ModulePage("Simulation", ("share_state.operate.simulation",)),
    "testing": ModulePage("Share groups for tests", ("share_state.testing",)),
}
#: Modules whose names `share_state` offers as well: these are listed under their module.
_TOLD_BY_MODULE = ("share_state.errors", "share_state.persister")
#: Not told: a text.
_LEFT_OUT = frozenset({"__version__"})

_CRATES = {
    "share_state_core": "the rules: share partitions, the coordinator, groups, sessions",
    "share_state_wire": "the bytes: requests, records, record batches",
    "share_state_log": "the log on the disk",
    "share_state_analysis": "history, states, anomalies",
    "share_state_histories": "what clients saw, checked",
    "share_state_gateway": "record batches on their way to a member",
}


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its path and its text."""
    check()
    for name, page in NAMES.items():
        yield f"reference/{name}.md", f"# {page.title}\n\n{page.text}\n\n{_rst(_of_names(page.names))}"
    for name, of_modules in MODULES.items():
        yield f"reference/{name}.md", f"# {of_modules.title}\n\n{_rst(_of_modules(of_modules.modules))}"
    yield "reference/command-line.md", _command_line()
    yield "reference/rust.md", _rust()


def check() -> None:
    """Hold the tables to what the package offers."""
    told = [name for page in NAMES.values() for name in page.names]
    for module in _TOLD_BY_MODULE:
        told += [name for name in _offers(module) if name in share_state.__all__]
    for name in set(share_state.__all__) - _LEFT_OUT:
        if told.count(name) != 1:
            raise UntoldNameError(f"share_state.{name} is told on {told.count(name)} pages of the reference, expected 1")
    if unknown := set(told) - set(share_state.__all__):
        raise UntoldNameError(f"share_state has no {', '.join(sorted(unknown))}")


def _offers(module: str) -> list[str]:
    __import__(module)
    offered: list[str] = sys.modules[module].__all__
    return offered


def _of_names(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        member = getattr(share_state, name)
        kind = "class" if isinstance(member, type) else "function" if callable(member) else "module"
        members = "" if kind == "function" else "   :members:\n"
        yield f".. auto{kind}:: share_state.{name}\n{members}"


def _of_modules(modules: tuple[str, ...]) -> Iterator[str]:
    for module in modules:
        yield f".. automodule:: {module}\n   :members:\n"


def _rst(lines: Iterator[str]) -> str:
    return "```{eval-rst}\n" + "\n".join(lines) + "```\n"


def _command_line() -> str:
    parts = ["# The command line\n\nWhat `--help` prints. [The list of commands](../docs/commands.md) has the exit statuses.\n"]
    parts.extend(f"\n## {command}\n\n```text\n{_help(command)}\n```\n" for command in COMMANDS)
    return "".join(parts)


def _help(command: str) -> str:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONUTF8": "1", "TERMINAL_WIDTH": "100"}
    asked = [sys.executable, "-m", "share_state", command, "--help"]
    told = subprocess.run(asked, env=environment, capture_output=True, encoding="utf-8", check=True).stdout
    return "\n".join(line.rstrip() for line in told.strip("\n").splitlines())


def _rust() -> str:
    rows = "".join(
        f'<tr><td><a href="../crates/{crate}/index.html"><code>{crate}</code></a></td><td>{text}</td></tr>\n'
        for crate, text in _CRATES.items()
    )
    return f"# The crates\n\nTheir API as `cargo doc` shows it.\n\n<table>\n{rows}</table>\n"
