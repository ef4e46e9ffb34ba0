"""Imports among the Python files of the tree, and the circles that they close.

An import that only a type checker sees counts, and so does one inside a function: a reader follows all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.pages.runner import REPOSITORY

#: Folders that names of modules begin in, and the folders below them with files of ours.
_SOURCES: Final = ((REPOSITORY / "python", "."), *((REPOSITORY, name) for name in ("benches", "examples", "scripts", "tests")))

Imports = Mapping[str, set[str]]


def modules(sources: tuple[tuple[Path, str], ...] = _SOURCES) -> dict[str, Path]:
    """Every module by its name; a package is its ``__init__``."""
    found = {}
    for base, below in sources:
        for path in sorted((base / below).rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Modules that each module imports."""
    return {module: {name for name in _imported(module, path, files) if name != module} for module, path in files.items()}


def circles(graph: Imports) -> set[frozenset[str]]:
    """Largest sets of modules that each import one another, directly or through others."""
    reaches = {module: reached(graph, module) for module in graph}
    return {
        frozenset(other for other in beyond if module in reaches[other]) for module, beyond in reaches.items() if module in beyond
    }


def reached(graph: Imports, module: str) -> set[str]:
    """Modules that a module imports, directly or through others."""
    found: set[str] = set()
    left = [module]
    while left:
        new = graph[left.pop()] - found
        found |= new
        left += new
    return found


def _imported(module: str, path: Path, files: Mapping[str, Path]) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
            yield from (name if name in files else base for name in names if name in files or base in files)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
