"""The check of file sizes finds what it must, in both directions; each file of tests says its subject."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import check_tree, list_tests

#: The wings of the house; `make check PART=...` and docs/testing.md name them too.
WINGS = {"partition", "state", "groups", "kafka", "gateway", "operate", "spark", "pages", "proof"}


def test_a_file_of_odd_size_needs_a_reason_and_no_other_has_one() -> None:
    lines = {"a.rs": 331, "b.py": 39, "c.rs": 330, "d.py": 40, "mod.rs": 3, "tests/t.py": 3, "page.md": 900}
    found = check_tree.odd_sizes(lines, {})
    assert [one.split(":")[0] for one in found] == ["a.rs", "b.py"]
    listed = {"long": {"a.rs": "a reason", "c.rs": "none is needed"}, "short": {"b.py": " "}}
    assert check_tree.odd_sizes(lines, listed) == ["file_sizes.toml: c.rs is not too long", "file_sizes.toml: b.py has no reason"]


def test_the_tree_is_as_its_check_wants_it() -> None:
    assert len(check_tree.sources()) > 1_000
    assert check_tree.main() == 0


def test_each_file_of_tests_says_its_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert [name for name, subject in list_tests.rows() if not subject] == []
    assert list_tests.main(["file sizes", "TEST_TREE.py"]) == 0
    # The time of its last run follows, where there is one.
    assert capsys.readouterr().out.split()[0] == "tests/pages/test_tree.py"
    assert list_tests.main(["no such word as this one", "nor this"]) == 1


def test_the_subject_is_the_first_paragraph() -> None:
    assert list_tests.subject('"""A subject\nof two lines.\n\nMore.\n"""\n', is_rust=False) == "A subject of two lines."
    assert list_tests.subject("//! A subject\n//! of two lines.\n\nuse a;\n", is_rust=True) == "A subject of two lines."
    assert list_tests.subject("use a;\n//! None.\n", is_rust=True) == ""


def test_each_test_stands_in_the_folder_of_a_wing() -> None:
    tests = [Path(name) for name, _ in list_tests.rows() if name.startswith("tests/")]
    assert {path.parts[1] for path in tests} == WINGS


def test_the_slowest_tests_are_those_of_the_last_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = '<testcase classname="{}" name="{}" time="{}"/>'
    cases = [
        ("tests.state.test_rounds", "test_a", 0.5),
        ("tests.pages.test_tree", "test_b[1]", 2.25),
        ("tests.pages.test_tree.TestKind", "test_c", 1),
    ]
    for number, told in enumerate(cases):
        (tmp_path / f"{number}.xml").write_text(f"<testsuites><testsuite>{case.format(*told)}</testsuite></testsuites>")
    monkeypatch.setattr(list_tests, "TIMES", tmp_path)
    assert list_tests.main(["--slowest", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "    2.2 s  tests/pages/test_tree.py::test_b[1]",
        "    1.0 s  tests/pages/test_tree.py::test_c",
    ]
    assert list_tests.main(["test_tree.py"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "tests/pages/test_tree.py  (3.2 s)"
    monkeypatch.setattr(list_tests, "TIMES", tmp_path / "none")
    assert list_tests.main(["--slowest", "2"]) == 1


def test_a_check_of_a_wing_names_what_there_is() -> None:
    makefile = (list_tests.REPOSITORY / "Makefile").read_text(encoding="utf-8")
    crates = list(list_tests.REPOSITORY.glob("rust/*/Cargo.toml"))
    named = {kind: dict(re.findall(rf"^{kind}_(\w+) := (.+)$", makefile, re.MULTILINE)) for kind in ("CRATE", "RUST", "PYTHON")}
    (parts,) = re.findall(r"^PARTS := (.+)$", makefile, re.MULTILINE)
    assert named["PYTHON"].keys() == set(parts.split()) >= WINGS - {"pages", "proof"}
    for part, words in named["PYTHON"].items():
        assert all((list_tests.REPOSITORY / word).exists() for word in words.split() if word.startswith("tests/")), part
    for part, crate in named["CRATE"].items():
        (home,) = (path.parent for path in crates if f'name = "{crate}"' in path.read_text(encoding="utf-8"))
        for pattern in re.findall(r"--test '?([\w*!\[\]]+)", named["RUST"].get(part, "")):
            assert list((home / "tests").glob(f"{pattern}.rs")) + list((home / "tests").glob(f"{pattern}/main.rs")), (
                part,
                pattern,
            )
