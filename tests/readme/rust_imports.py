"""Which file of a crate imports which: `use` of a sibling, followed to the file that it names.

A folder module and its children belong together, as in Rust a child sees its parent's items; so files with children are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Module = tuple[str, ...]

_USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)


def circle(source: Path) -> list[str]:
    """Files of a crate that import each other in a circle, the first also last; none when there is no circle."""
    try:
        TopologicalSorter(imports(source)).prepare()
    except CycleError as error:
        found: list[Module] = error.args[1]
        return ["/".join(module) for module in found]
    return []


def imports(source: Path) -> dict[Module, set[Module]]:
    """What each file without children imports of the others."""
    files = dict(_modules(source))
    parents = {module[:-1] for module in files}
    leaves = {module: text for module, text in files.items() if module not in parents}
    return {
        module: {named for named in _named(module, text, files) if named in leaves} - {module} for module, text in leaves.items()
    }


def _modules(source: Path) -> Iterator[tuple[Module, str]]:
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        if "tests" not in parts and parts != ("lib",):
            yield parts[:-1] if parts[-1] == "mod" else parts, _TESTS.sub("", path.read_text(encoding="utf-8"))


def _named(module: Module, text: str, files: Mapping[Module, str]) -> Iterator[Module]:
    for use in _USE.findall(text):
        for path in _paths(" ".join(use.split())):
            if (full := _absolute(module, path.split("::"))) is not None:
                prefixes = (full[:length] for length in range(len(full), 0, -1))
                yield from [next((prefix for prefix in prefixes if prefix in files), ())]


def _absolute(module: Module, path: list[str]) -> Module | None:
    if path[0] == "crate":
        return tuple(path[1:])
    if path[0] not in {"super", "self"}:
        return None
    base = module
    while path[0] == "super":
        base, path = base[:-1], path[1:]
    return (*base, *(part for part in path if part != "self"))


def _paths(tree: str) -> list[str]:
    """A use tree as its paths."""
    whole = re.fullmatch(r"((?:\w+::)*)\{(.*)\}", tree.strip(), re.DOTALL)
    if whole is None:
        return [tree.split(" as ", maxsplit=1)[0].strip()]
    parts, depth, start = [], 0, 0
    body = f"{whole[2]},"
    for at, char in enumerate(body):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(body[start:at].strip())
            start = at + 1
    return [whole[1] + path for part in parts if part for path in _paths(part)]
