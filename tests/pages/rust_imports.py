"""Imports among the files of a crate: each path of the source, followed to the file that defines what it names.

A file depends on the files that its `use` items name, on those that a path in its code names (`crate::a::f`, or `a::f` where `a`
is an imported module), and on those that a re-export leads to. A child that sees an item of its own parent is no import: in Rust
a folder module and its children belong together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from tests.pages.runner import REPOSITORY

Module = tuple[str, ...]

_USE = re.compile(r"\buse (?P<tree>(?:\w|::|[{},*\s])+);")
_PATH = re.compile(r"(?<![\w:])\w+(?:::\w+)+")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)
_TEST_FILE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);")
_COMMENT = re.compile(r"//.*")
_FROM_HERE = {"crate", "super", "self"}


class _File(NamedTuple):
    """Source of a file without its `use` items, and the path of each name that these bring in."""

    code: str
    names: dict[str, list[str]]
    globs: list[list[str]]

    def paths(self) -> list[list[str]]:
        return [*self.names.values(), *self.globs, *(path.split("::") for path in _PATH.findall(self.code))]


def home(crate: str) -> Path:
    """Folder of a crate: among those that prove the others, or beside them."""
    proof = REPOSITORY / "rust" / "proof" / crate
    return proof if proof.is_dir() else REPOSITORY / "rust" / crate


def circle(source: Path) -> list[str]:
    """Files of a crate that import each other in a circle, the first also last; none when there is no circle."""
    try:
        TopologicalSorter(imports(source)).prepare()
    except CycleError as error:
        found: list[Module] = error.args[1]
        return ["/".join(module) for module in found]
    return []


def imports(source: Path) -> dict[Module, set[Module]]:
    """Imports of each file from the others; its parents are none of them."""
    files = dict(_files(source))
    found = {}
    for module, file in files.items():
        named = {other for path in file.paths() for other in _named(files, module, path)}
        found[module] = {other for other in named if module[: len(other)] != other}
    return found


def rooms(source: Path) -> dict[str, set[str]]:
    """Modules directly below the root of a crate, each with the others that it names in an import or in a path."""
    found: dict[str, set[str]] = {}
    for module, file in _files(source):
        if module:
            starts = (_start(module, path) for path in file.paths() if path[0] in _FROM_HERE)
            found.setdefault(module[0], set()).update(*((*start, *rest)[:1] for start, rest in starts))
    return {name: known - {name} for name, known in found.items()}


def _files(source: Path) -> Iterator[tuple[Module, _File]]:
    texts = {}
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        module = () if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts
        texts[module] = _COMMENT.sub("", _TESTS.sub("", path.read_text(encoding="utf-8")))
    tests = {(*module, name) for module, text in texts.items() for name in _TEST_FILE.findall(text)}
    for module, text in texts.items():
        if not any(module[:length] in tests for length in range(1, len(module) + 1)):
            yield module, _file(text)


def _file(text: str) -> _File:
    names: dict[str, list[str]] = {}
    globs = []
    for use in _USE.finditer(text):
        for path, name in _paths(" ".join(use["tree"].split())):
            if name == "*":
                globs.append(path)
            else:
                names[name] = path
    return _File(_USE.sub("", text), names, globs)


def _named(files: Mapping[Module, _File], module: Module, path: list[str], depth: int = 0) -> Iterator[Module]:
    """Files that `path` leads to in `module`: where it names an item, and where a re-export there has it from."""
    head, *rest = path
    if head in _FROM_HERE:
        start, rest = _start(module, path)
    elif head in files[module].names and rest and depth < _DEEPEST:
        yield from _named(files, module, [*files[module].names[head], *rest], depth + 1)
        return
    elif (*module, head) in files:
        start, rest = module, path
    else:
        return
    while rest and (*start, rest[0]) in files:
        start, rest = (*start, rest[0]), rest[1:]
    if start in files:
        yield start
        if rest and rest[0] in files[start].names and depth < _DEEPEST:
            yield from _named(files, start, [*files[start].names[rest[0]], *rest[1:]], depth + 1)


#: Re-exports that are followed at most: an item may have the name of what it is made of.
_DEEPEST = 8


def _start(module: Module, path: list[str]) -> tuple[Module, list[str]]:
    if path[0] == "crate":
        return (), path[1:]
    while path and path[0] in {"super", "self"}:
        module, path = module[:-1] if path[0] == "super" else module, path[1:]
    return module, path


def _paths(tree: str) -> Iterator[tuple[list[str], str]]:
    """Paths of a `use` tree, each with the name that it brings in."""
    whole = re.fullmatch(r"((?:\w+::)*)\{(.*)\}", tree.strip())
    if whole is None:
        path, _, name = tree.strip().partition(" as ")
        parts = [part for part in path.split("::") if part != "self" or path.startswith("self")]
        yield (parts[:-1], "*") if parts[-1] == "*" else (parts, name or parts[-1])
        return
    depth, start = 0, 0
    body = f"{whole[2]},"
    for at, char in enumerate(body):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            if part := body[start:at].strip():
                yield from _paths(whole[1] + part)
            start = at + 1
