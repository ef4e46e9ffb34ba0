"""Who may know whom, as ARCHITECTURE.md says: crates, and what of the standard library each may touch."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.readme import rust_imports
from tests.readme.runner import REPOSITORY

#: What a crate may depend on, of ours.
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
    found: dict[str, dict[str, object]] = tomllib.loads((REPOSITORY / "rust" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("crate", MAY_KNOW)
def test_a_crate_knows_only_what_is_below_it(crate: str) -> None:
    ours = {name.removeprefix("share-state-") for name in manifest(crate)["dependencies"] if name.startswith("share-state-")}
    assert ours == MAY_KNOW[crate]


def test_the_core_depends_on_nothing() -> None:
    assert manifest("core")["dependencies"] == {}


@pytest.mark.parametrize("crate", MAY_KNOW)
def test_no_files_of_a_crate_import_each_other_in_a_circle(crate: str) -> None:
    source = REPOSITORY / "rust" / crate / "src"
    graph = rust_imports.imports(source)
    assert sum(map(len, graph.values())) > 10
    assert rust_imports.circle(source) == []


def test_a_circle_would_be_found(tmp_path: Path) -> None:
    files = {
        "lib": "mod a;\nmod room;",
        "a": "use super::room::b::{B, self as other};\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
        "room/mod": "mod b;\nmod c;",
        "room/b": "use super::c::C;",
        "room/c": "use core::fmt;\nuse crate::{\n    a::{self, A},\n};",
    }
    (tmp_path / "room").mkdir()
    for name, text in files.items():
        (tmp_path / f"{name}.rs").write_text(text, encoding="utf-8")
    found = rust_imports.circle(tmp_path)
    assert found[0] == found[-1]
    assert set(found) == {"a", "room/b", "room/c"}
    (tmp_path / "room" / "c.rs").write_text("use super::b;", encoding="utf-8")
    assert set(rust_imports.circle(tmp_path)) == {"room/b", "room/c"}
    (tmp_path / "room" / "c.rs").write_text("use core::fmt;", encoding="utf-8")
    assert rust_imports.circle(tmp_path) == []


@pytest.mark.parametrize("crate", ["core", "wire", "analysis", "gateway", "drafts"])
def test_a_pure_crate_touches_no_outside_world(crate: str) -> None:
    sources = sorted((REPOSITORY / "rust" / crate / "src").rglob("*.rs"))
    assert len(sources) > 10
    assert [found for path in sources for found in touches(path)] == []


def test_a_clock_would_be_found(tmp_path: Path) -> None:
    source = tmp_path / "clock.rs"
    source.write_text("use std::sync::Arc;\nlet now = std::time::Instant::now();\n", encoding="utf-8")
    assert touches(source) == [f"{source}:2: let now = std::time::Instant::now();"]


def touches(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [f"{path}:{number}: {line.strip()}" for number, line in enumerate(lines, start=1) if _OUTSIDE_WORLD.search(line)]


def test_unsafe_code_is_forbidden_everywhere() -> None:
    workspace = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
    assert workspace["workspace"]["lints"]["rust"]["unsafe_code"] == "forbid"
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
