"""Mutants as cargo-mutants lists them, and the list of those that live: rust/mutants.toml."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

REPOSITORY: Final = Path(__file__).resolve().parents[2]
LIST: Final = REPOSITORY / "rust/mutants.toml"

CAUGHT: Final = "caught"
TIMED_OUT: Final = "timed out"
UNVIABLE: Final = "unviable"
SURVIVED: Final = "survived"


class Change(NamedTuple):
    """Name of a mutant without its place, which every edit above it moves. Several of one function may have one name."""

    file: str
    change: str

    def __str__(self) -> str:
        return f"{self.file}: {self.change}"


class Mutant(NamedTuple):
    """A stretch of a file, from one line and column to another, both from 1, and what comes in its place."""

    crate: str
    name: str
    change: Change
    begins: tuple[int, int]
    ends: tuple[int, int]
    replacement: str

    def applied(self, text: str) -> str:
        """Give the text of its file with the change in it."""
        lines = text.split("\n")
        begin, end = (
            sum(len(before) + 1 for before in lines[: line - 1]) + column - 1 for line, column in (self.begins, self.ends)
        )
        # A space on both sides: where an operator goes, its neighbours must not become another one.
        return f"{text[:begin]} {self.replacement} {text[end:]}"


class Crate(NamedTuple):
    """The tests that run against the mutants of a crate."""

    name: str
    #: Tests that `cargo test` builds first, because they take little and catch much. None: all at once.
    first: tuple[str, ...]
    #: Tests that it builds for each mutant that is not caught yet.
    targets: tuple[str, ...]
    #: Parts of the names of tests that look at nothing which is mutated.
    never: tuple[str, ...]
    #: And of tests that take long: only a mutant that lives meets them.
    late: tuple[str, ...]
    #: Tests that are built for such a mutant only.
    late_targets: tuple[str, ...]


def crates(path: Path = LIST) -> list[Crate]:
    """Read which tests of each crate run."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["tests"]
    return [Crate(table["crate"], *(tuple(table.get(field, [])) for field in Crate._fields[1:])) for table in tables]


def listed(path: Path = LIST) -> dict[Change, str]:
    """Read which mutants live, and why each of them may.

    Raises:
        ValueError: an entry has other fields than those, an empty one, or is there twice.
    """
    found: dict[Change, str] = {}
    for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("lives", []), 1):
        if set(entry) != {*Change._fields, "reason"} or not all(
            isinstance(text, str) and text.strip() for text in entry.values()
        ):
            raise ValueError(f"{path.name}: entry {number} has {sorted(entry)}; each has file, change and reason")
        change = Change(entry["file"], entry["change"])
        if change in found:
            raise ValueError(f"{path.name}: entry {number} is there twice: {change}")
        found[change] = entry["reason"]
    return found


def made_in(tree: Path, tool: Path) -> list[Mutant]:
    """Ask cargo-mutants for every mutant of the crates in a copy of the repository."""
    command = [str(tool.resolve()), "mutants", "--dir", str(tree), "--list", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tree)
    return [read(entry) for entry in json.loads(done.stdout)]


def read(entry: dict[str, Any]) -> Mutant:
    """Read one entry of that list."""
    file, name = str(entry["file"]), str(entry["name"])
    begins, ends = ((entry["span"][which]["line"], entry["span"][which]["column"]) for which in ("start", "end"))
    change = Change(file, name.removeprefix(f"{file}:").split(": ", 1)[1])
    return Mutant(entry["package"], name, change, begins, ends, entry["replacement"])


def complaints(tried: Iterable[tuple[Mutant, str]], made: Iterable[Mutant], known: dict[Change, str]) -> list[str]:
    """Name what lives and is not listed, and what is listed and is no mutant, or does not live."""
    outcomes: dict[Change, list[str]] = {}
    lives = []
    for mutant, outcome in tried:
        outcomes.setdefault(mutant.change, []).append(outcome)
        if outcome == SURVIVED and mutant.change not in known:
            lives.append(f"survives: {mutant.name}")
    number: dict[Change, int] = {}
    for mutant in made:
        number[mutant.change] = number.get(mutant.change, 0) + 1
    absent = [f"listed, and there is no such mutant: {change}" for change in known if change not in number]
    # A function may hold several mutants of one name: an entry stands for all, and one of them has to live.
    dead = [
        f"listed, and it is {' and '.join(sorted(set(of)))}: {change}"
        for change, of in outcomes.items()
        if change in known and len(of) == number.get(change) and SURVIVED not in of
    ]
    return [*lives, *absent, *dead]
