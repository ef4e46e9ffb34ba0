"""README of the core is its doctest, its examples are run, and its public modules are listed."""

import re
import tomllib

from tests.pages.runner import REPOSITORY

CORE = REPOSITORY / "rust" / "core"
_BLOCK = re.compile(r"^```rust\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[str]:
    return _BLOCK.findall((REPOSITORY / page).read_text(encoding="utf-8"))


def test_the_crate_alone_shows_rust() -> None:
    (shown,) = blocks("rust/core/README.md")
    assert len(shown.splitlines()) < 20
    assert blocks("README.md") == []


def test_the_readme_of_the_crate_is_its_documentation() -> None:
    assert '#![doc = include_str!("../README.md")]' in (CORE / "src" / "lib.rs").read_text(encoding="utf-8").splitlines()


def test_every_example_is_run_by_cargo_test() -> None:
    tested = {
        example["name"]
        for example in tomllib.loads((CORE / "Cargo.toml").read_text(encoding="utf-8"))["example"]
        if example["test"]
    }
    found = {path.stem: path.read_text(encoding="utf-8") for path in (CORE / "examples").glob("*.rs")}
    assert tested == set(found)
    assert len(found) >= 5
    named = (CORE / "README.md").read_text(encoding="utf-8")
    for name, code in found.items():
        assert "#[test]" in code, name
        assert f"`{name}`" in named, name


def public_modules() -> set[str]:
    """Every module of the core that its users see, nested ones as ``parent::child``: lib.rs names them all."""
    text = (CORE / "src" / "lib.rs").read_text(encoding="utf-8")
    found = set(re.findall(r"^pub mod (\w+)", text, re.MULTILINE))
    for names in re.findall(r"^pub use \w+::\{([^}]+)\};", text, re.MULTILINE):
        found |= set(names.replace(",", " ").split())
    for parent, body in re.findall(r"^pub mod (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        found |= {f"{parent}::{name}" for name in re.findall(r"^    pub use crate::\w+::(\w+);", body, re.MULTILINE)}
    return found


def test_each_public_module_of_the_core_is_a_decision() -> None:
    documentation = (CORE / "src" / "lib.rs").read_text(encoding="utf-8")
    named = re.findall(r"^//! \| \[`([\w:]+)`\] \| \S", documentation, re.MULTILINE)
    assert len(named) == len(set(named))
    assert public_modules() == set(named)
    assert {"share_partition", "limits::properties"} <= set(named)


def test_a_room_of_the_core_shows_all_that_it_has() -> None:
    shown = {name.rpartition("::")[2] for name in public_modules()}
    for room in (CORE / "src").glob("*/mod.rs"):
        assert set(re.findall(r"^pub mod (\w+)", room.read_text(encoding="utf-8"), re.MULTILINE)) <= shown, room
