"""What README.md shows in Rust is the doctest of the core: `cargo test` runs the one, so the other is true."""

import re
import tomllib

from tests.readme.runner import REPOSITORY

CORE = REPOSITORY / "rust" / "core"
_BLOCK = re.compile(r"^```rust\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[str]:
    return _BLOCK.findall((REPOSITORY / page).read_text(encoding="utf-8"))


def test_the_lines_of_the_readme_are_those_of_the_crate() -> None:
    (shown,) = blocks("README.md")
    assert blocks("rust/core/README.md") == [shown]
    assert len(shown.splitlines()) < 20


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
    """Every module of the core that its users see, nested ones as ``parent::child``."""
    found = set()
    for path in (CORE / "src").rglob("*.rs"):
        parents = [part for part in path.relative_to(CORE / "src").with_suffix("").parts if part not in ("lib", "mod")]
        names = re.findall(r"^ *pub mod (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        found |= {"::".join([*parents, name]) for name in names}
    return found


def test_each_public_module_of_the_core_is_a_decision() -> None:
    documentation = (CORE / "src" / "lib.rs").read_text(encoding="utf-8")
    named = re.findall(r"^//! \| \[`([\w:]+)`\] \| \S", documentation, re.MULTILINE)
    assert len(named) == len(set(named))
    assert public_modules() == set(named)
    assert {"share_partition", "limits::properties"} <= set(named)
