"""The list of mutants that live and may: known.toml, which names each by its function and the change."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from scripts.mutants_python.results import LIVES, UNTESTED, Mutant

LIST: Final = Path(__file__).with_name("known.toml")
_FIELDS: Final = {"function", "was", "now", "why"}


class Change(NamedTuple):
    """Name of a mutant that holds for longer than mutmut's number."""

    function: str
    was: str
    now: str


def listed(path: Path = LIST) -> dict[Change, str]:
    """Read the list: why each of them may live.

    Raises:
        ValueError: an entry has other fields than those, an empty one, or is there twice.
    """
    found: dict[Change, str] = {}
    for number, entry in enumerate(tomllib.loads(path.read_text()).get("mutant", []), 1):
        if set(entry) != _FIELDS or not all(isinstance(text, str) for text in entry.values()) or not entry["why"].strip():
            raise ValueError(f"{path.name}: entry {number} has {sorted(entry)}; each has {sorted(_FIELDS)}")
        change = Change(entry["function"], entry["was"].strip(), entry["now"].strip())
        if change in found:
            raise ValueError(f"{path.name}: entry {number} is there twice: {change}")
        found[change] = entry["why"]
    return found


def change_of(mutant: Mutant) -> Change:
    """Name a mutant as the list does."""
    return Change(mutant.function, mutant.was, mutant.now)


def complaints(tried: Iterable[Mutant], made: Iterable[Mutant], known: dict[Change, str]) -> list[str]:
    """Name what lives and is not listed, and what is listed and is no mutant of a module that was broken, or died."""
    tried = list(tried)
    there: dict[Change, set[str]] = {}
    for mutant in tried:
        there.setdefault(change_of(mutant), set()).add(mutant.verdict)
    unlisted = [
        f"{mutant.verdict}: {mutant.name}\n  - {mutant.was}\n  + {mutant.now}"
        for mutant in tried
        if (mutant.verdict in {LIVES, UNTESTED} or mutant.verdict.startswith("status")) and change_of(mutant) not in known
    ]
    changes, modules = set(), set()
    for mutant in made:
        changes.add(change_of(mutant))
        modules.add(mutant.name.partition(".x")[0])
    stale = [
        f"listed, and there is no such mutant: {change}"
        for change in known
        if change not in changes and any(change.function.startswith(f"{module}.") for module in modules)
    ]
    died = [
        f"listed as living, and it is {', '.join(sorted(there[change]))}: {change}"
        for change in known
        if change in there and not there[change] & {LIVES, UNTESTED}
    ]
    return [*unlisted, *stale, *died]
