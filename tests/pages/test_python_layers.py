"""Layers of the Python package: dependencies point one way, and a new one is a decision."""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.pages import python_imports

#: Parts that all others may use: plain data, types of arguments, errors, logging, and what is shared.
_GROUND = frozenset({"__init__", "arguments", "errors", "logs", "types", "util"})
#: Parts that each knows beside the ground. The command line may know everything, and nothing may know it.
KNOWS: dict[str, set[str]] = {
    "async_persister": {"async_store", "persister"},
    "async_store": {"persister"},
    "frames": {"operate.analysis"},
    "gateway": {"kafka", "operate.monitoring"},
    "kafka": {"persister"},
    "operate.analysis": {"operate.reading"},
    "operate.dead_letters": {"kafka", "operate.analysis", "operate.payloads", "operate.reading"},
    "operate.doctor": {"kafka", "operate.analysis", "operate.live"},
    "operate.histories": set(),
    "operate.live": {"kafka", "operate.analysis", "operate.monitoring", "operate.reading"},
    "operate.monitoring": {"kafka"},
    "operate.payloads": {"kafka", "operate.reading"},
    "operate.plot": {"operate.analysis"},
    "operate.reading": {"kafka"},
    "operate.simulation": {"operate.analysis"},
    "operate.top": {"operate.analysis", "operate.live"},
    "operate.web": {
        "kafka",
        "operate.analysis",
        "operate.dead_letters",
        "operate.live",
        "operate.monitoring",
        "operate.reading",
    },
    "persister": set(),
    "spark": {"frames", "operate.analysis", "operate.reading"},
    "testing": {"gateway", "kafka"},
}
#: Rooms that each room knows; a part that is no room of its own belongs to the library.
ROOMS: dict[str, set[str]] = {
    "library": set(),
    "kafka": {"library"},
    "operate": {"kafka", "library"},
    "gateway": {"kafka", "library", "operate"},
    "frames": {"library", "operate"},
    "spark": {"frames", "library", "operate"},
    "testing": {"gateway", "kafka", "library"},
    "cli": {"gateway", "kafka", "library", "operate", "spark"},
}


#: Circles among the readers of upstream. No other may come.
CIRCLES = {
    frozenset(f"share_state.gateway.{name}" for name in ("upstream.cluster", "upstream.lives", "upstream.offsets")),
    frozenset(f"share_state.gateway.upstream.{name}" for name in ("epochs", "fetch", "lanes", "reader", "readers")),
}


def part_of(module: str) -> str:
    """The part that a module belongs to: a package or module of the root, or one of the room of operators."""
    names = module.split(".")[1:] or ["__init__"]
    return ".".join(names[:2] if names[0] == "operate" else names[:1])


def room_of(part: str) -> str:
    room = part.partition(".")[0]
    return room if room in ROOMS else "library"


@cache
def imports() -> dict[str, set[str]]:
    return python_imports.imports(python_imports.modules())


def graph() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module, names in imports().items():
        if module.partition(".")[0] == "share_state":
            part = part_of(module)
            known = {part_of(name) for name in names if name.partition(".")[0] == "share_state"}
            found.setdefault(part, set()).update(known - {part})
    return found


def test_a_part_knows_only_what_is_below_it() -> None:
    found = graph()
    free = _GROUND | {"__main__", "cli", "operate"}
    assert {part: knows - _GROUND for part, knows in found.items() if part not in free} == KNOWS
    # The ground knows nothing but itself.
    assert all(found[part] <= _GROUND for part in _GROUND)
    assert not any("cli" in knows for part, knows in found.items() if part != "__main__")


def test_a_room_knows_only_the_rooms_below_it() -> None:
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for part, knows in graph().items():
        if part != "__main__":
            room = room_of(part)
            found[room] |= {room_of(known) for known in knows} - {room}
    assert found == ROOMS
    TopologicalSorter(ROOMS).prepare()


def test_no_parts_know_each_other_in_a_circle() -> None:
    TopologicalSorter(KNOWS).prepare()


def test_no_files_import_each_other_in_a_circle() -> None:
    assert len(imports()) >= 1_000
    assert python_imports.circles(imports()) == CIRCLES


def test_an_import_for_the_type_checker_closes_a_circle(tmp_path: Path) -> None:
    texts = {
        "a/__init__": "",
        "a/b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.c import D\n",
        "a/c": "from . import e\n",
        "a/e": "def f() -> None:\n    from .b import G\n",
        "a/h": "import a.b\n",
    }
    (tmp_path / "a").mkdir()
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    found = python_imports.imports(python_imports.modules(((tmp_path, "a"),)))
    assert found == {"a": set(), "a.b": {"a.c"}, "a.c": {"a.e"}, "a.e": {"a.b"}, "a.h": {"a.b"}}
    assert python_imports.circles(found) == {frozenset({"a.b", "a.c", "a.e"})}


def test_a_command_names_an_extra_only_if_it_may_ask_for_one_of_its_packages() -> None:
    files = python_imports.modules()
    graph = python_imports.imports(files)
    named = {}
    for command in (name for name in files if re.fullmatch(r"share_state\.cli\.\w+\.command", name)):
        texts = [files[module].read_text(encoding="utf-8") for module in python_imports.reached(graph, command) | {command}]
        if extras := set(re.findall(r"extra\s+`([\w-]+)`", files[command].read_text(encoding="utf-8"))):
            named[command.split(".")[2]] = extras
            assert extras <= {extra for text in texts for extra in re.findall(r'require\("([\w-]+)"', text)}, command
    assert named == {"exporter": {"ops"}, "plot": {"plot"}, "top": {"ops"}, "web": {"ops"}}
