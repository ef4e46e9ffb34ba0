"""Which part of the Python package knows which: dependencies point one way, and a new one is a decision."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.readme.runner import REPOSITORY

_ROOT = REPOSITORY / "python" / "share_state"
#: What everybody may know: plain data, errors, the extension, what is logged, how tasks end, how a missing extra is told.
_GROUND = frozenset({"_core", "__version__", "closing", "encode_record", "errors", "extras", "logs", "printable", "types"})
#: What a package or module knows beside the ground. The command line may know everything, and nothing may know it.
KNOWS: dict[str, set[str]] = {
    "analysis": {"reading"},
    "async_persister": {"async_store", "persister"},
    "async_store": {"home_loop", "persister", "rounds"},
    "dead_letters": {"analysis", "payloads", "reading"},
    "doctor": {"analysis", "live"},
    "frames": set(),
    "gateway": {"kafka", "monitoring", "rounds", "tidying"},
    "histories": set(),
    "home_loop": set(),
    "kafka": {"home_loop", "persister"},
    "live": {"analysis", "kafka", "monitoring", "reading"},
    "monitoring": {"kafka"},
    "payloads": {"reading"},
    "persister": set(),
    "plot": {"analysis"},
    "reading": {"kafka"},
    "rounds": set(),
    "simulation": {"analysis"},
    "spark": {"analysis", "frames", "reading"},
    "testing": {"gateway", "kafka"},
    "tidying": set(),
    "web": {"analysis", "dead_letters", "kafka", "live", "monitoring", "reading"},
}


def part_of(path: Path) -> str:
    """The package or module below the root that a file belongs to."""
    return path.relative_to(_ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """The parts that a file imports when it runs; what only a type checker sees is no dependency."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("share_state."))


def graph() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted(_ROOT.rglob("*.py")):
        part = part_of(path)
        found.setdefault(part, set()).update(set(imported(path)) - {part})
    return found


def test_a_part_knows_only_what_is_below_it() -> None:
    found = graph()
    free = _GROUND | {"__init__", "__main__", "cli"}
    assert {part: knows - _GROUND for part, knows in found.items() if part not in free} == KNOWS
    # The ground knows nothing but itself.
    assert all(found[part] <= _GROUND for part in _GROUND if part in found)
    assert not any("cli" in knows for part, knows in found.items() if part != "__main__")


def test_no_parts_know_each_other_in_a_circle() -> None:
    below: set[str] = set()
    left = dict(KNOWS)
    while left:
        ready = {part for part, knows in left.items() if knows <= below}
        assert ready, f"a circle among {sorted(left)}"
        below |= ready
        left = {part: knows for part, knows in left.items() if part not in ready}
    assert below == set(KNOWS)
