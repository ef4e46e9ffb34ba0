"""Layers of the crates, as ARCHITECTURE.md draws them, and the part of the standard library that each may touch."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.pages import rust_imports
from tests.pages.runner import REPOSITORY

#: Crates of ours that a crate may depend on.
MAY_KNOW = {
    "core": set[str](),
    "wire": {"core"},
    "analysis": {"core", "wire"},
    "gateway": {"core", "wire"},
    "histories": set[str](),
    "drafts": {"core"},
    "log": {"core", "wire"},
    "python": {"core", "wire", "analysis", "gateway", "histories", "log"},
    "sim": {"core", "gateway", "histories", "log", "wire"},
}
#: Crates that are not published: the extension module, the forms of the state that no Kafka ever wrote, the simulated world.
_UNPUBLISHED = {"python", "drafts", "sim"}
#: Clock, files, network, threads, processes: what a pure crate has no business with.
_OUTSIDE_WORLD = re.compile(r"\bstd::(?:env|fs|net|os|process|thread|time)\b|\b(?:SystemTime|Instant)\b")


def manifest(crate: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = tomllib.loads((rust_imports.home(crate) / "Cargo.toml").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("crate", MAY_KNOW)
def test_a_crate_knows_only_what_is_below_it(crate: str) -> None:
    ours = {name.removeprefix("share-state-") for name in manifest(crate)["dependencies"] if name.startswith("share-state-")}
    assert ours == MAY_KNOW[crate]


def test_the_core_depends_on_nothing() -> None:
    assert manifest("core")["dependencies"] == {}


@pytest.mark.parametrize(
    "crate", [*map(rust_imports.home, [*MAY_KNOW, "judge"]), REPOSITORY / "benches" / "rust"], ids=lambda crate: crate.name
)
def test_no_files_of_a_crate_import_each_other_in_a_circle(crate: Path) -> None:
    source = crate / "src"
    graph = rust_imports.imports(source)
    assert sum(map(len, graph.values())) > 10
    assert rust_imports.circle(source) == []


#: Rooms of the core, with the rooms that each may use. All of them use the kernel, which uses no room.
ROOMS = {"partition": {"settings"}, "state": {"settings"}, "groups": {"settings"}, "settings": set[str]()}


def test_the_rooms_of_the_core_are_those_that_are_drawn() -> None:
    assert {path.parent.name for path in (REPOSITORY / "rust/core/src").glob("*/mod.rs")} == {*ROOMS, "util"}


def test_a_room_of_the_core_knows_only_the_kernel_and_what_is_below_it() -> None:
    known = rust_imports.rooms(REPOSITORY / "rust/core/src")
    assert len(known) > 10
    assert all(named for room, named in known.items() if room in ROOMS)
    wrong = {name: named & ROOMS.keys() - ROOMS.get(name, set()) for name, named in known.items()}
    assert {name: named for name, named in wrong.items() if named} == {}


def test_a_room_is_named_by_its_own_path() -> None:
    """Not by the public one, which lib.rs gives: it would hide the arrow."""
    source = REPOSITORY / "rust/core/src"
    there = {path.stem for path in source.iterdir()}
    assert {name: named - there for name, named in rust_imports.rooms(source).items() if named - there} == {}


def test_arrows_between_rooms_are_seen(tmp_path: Path) -> None:
    files = {
        "lib": "mod a;\nmod b;\nmod c;\npub use b::x;",
        "a/mod": "pub mod y;",
        "a/y": "use super::super::b::X;\n// crate::c\nfn f() -> crate::d::D {}\n#[cfg(test)]\nmod t {\n    use crate::e::E;\n}",
        "b/mod": "pub mod x;",
        "b/x": "use crate::{x::{A, B}, c};",
        "c": "use core::fmt;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.rs").write_text(text, encoding="utf-8")
    assert rust_imports.rooms(tmp_path) == {"a": {"b", "d"}, "b": {"x", "c"}, "c": set()}


CIRCLE = {
    "lib": "mod a;\nmod room;",
    "a": "use super::room::b::{B, self as other};\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
    "room/mod": "mod b;\nmod c;",
    "room/b": "use super::c::C;",
    "room/c": "use core::fmt;\nuse crate::{\n    a::{self, A},\n};",
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {"a", "room/b", "room/c"}),
        ({"room/c": "use super::b;"}, {"room/b", "room/c"}),
        ({"room/c": "use core::fmt;"}, set()),
        # A path in the code; one that begins with an imported module; one that only a comment or a test has.
        ({"room/c": "fn f() { crate::a::g() }"}, {"a", "room/b", "room/c"}),
        ({"room/b": "use super::c;\nfn f() { c::g() }", "room/c": "use super::b::B as D;"}, {"room/b", "room/c"}),
        ({"room/c": "/// See [`crate::a`].\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}"}, set()),
        ({"room/c": "", "room/mod": "mod b;\n#[cfg(test)]\nmod d;", "room/d": "use crate::a;", "room/b": "use super::d;"}, set()),
        # A room is what its names come from, and for its own children what it defines itself.
        ({"room/mod": "pub use c::C;", "room/b": "use super::C;", "room/c": "use super::b;"}, {"room/b", "room/c"}),
        ({"a": "use crate::room::C;", "room/mod": "pub use c::C;", "room/b": ""}, {"a", "room", "room/c"}),
        ({"room/mod": "use b::B;\nstruct R;", "room/b": "use super::R;", "room/c": ""}, set()),
    ],
)
def test_a_circle_would_be_found(tmp_path: Path, changed: dict[str, str], expected: set[str]) -> None:
    (tmp_path / "room").mkdir()
    for name, text in {**CIRCLE, **changed}.items():
        (tmp_path / f"{name}.rs").write_text(text, encoding="utf-8")
    found = rust_imports.circle(tmp_path)
    assert set(found) <= expected
    assert bool(found) == bool(expected)
    assert found[:1] == found[-1:]


@pytest.mark.parametrize("crate", ["core", "wire", "analysis", "gateway", "drafts"])
def test_a_pure_crate_touches_no_outside_world(crate: str) -> None:
    sources = sorted((rust_imports.home(crate) / "src").rglob("*.rs"))
    assert len(sources) > 10
    assert [found for path in sources for found in touches(path)] == []


def test_a_clock_would_be_found(tmp_path: Path) -> None:
    source = tmp_path / "clock.rs"
    source.write_text("use std::sync::Arc;\nlet now = std::time::Instant::now();\n", encoding="utf-8")
    assert touches(source) == [f"{source}:2: let now = std::time::Instant::now();"]


def touches(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [f"{path}:{number}: {line.strip()}" for number, line in enumerate(lines, start=1) if _OUTSIDE_WORLD.search(line)]


def test_unsafe_code_is_denied_everywhere_and_allowed_in_one_place() -> None:
    workspace = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
    assert workspace["workspace"]["lints"]["rust"]["unsafe_code"] == "deny"
    allowed = subprocess.check_output(["git", "grep", "-c", "unsafe_code", "--", "*.rs"], cwd=REPOSITORY, text=True)
    assert allowed.split() == ["rust/log/src/disk/ahead.rs:1"]
    for member in workspace["workspace"]["members"]:
        crate = tomllib.loads((REPOSITORY / member / "Cargo.toml").read_text(encoding="utf-8"))
        assert crate["lints"] == {"workspace": True}, member


def test_the_crates_that_are_published_name_one_version_and_say_what_they_are() -> None:
    workspace = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    asked = {name: told["version"] for name, told in workspace["dependencies"].items() if name.startswith("share-state-")}
    assert asked == dict.fromkeys(
        (f"share-state-{crate}" for crate in MAY_KNOW if crate not in _UNPUBLISHED), workspace["package"]["version"]
    )
    for member in workspace["members"]:
        package = tomllib.loads((REPOSITORY / member / "Cargo.toml").read_text(encoding="utf-8"))["package"]
        if package["name"] in asked:
            assert "publish" not in package, member
            assert package["description"], member
            assert (REPOSITORY / member / package["readme"]).is_file(), member
        else:
            assert package["publish"] is False, member
