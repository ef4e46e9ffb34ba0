"""Pages keep what they say: blocks run, links lead somewhere, drawn paths and named commands exist."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import rust_imports
from tests.pages.blocks import ConsoleBlock, PythonBlock, blocks
from tests.pages.pages import Link, anchors, broken, drawn_paths, links, pages
from tests.pages.runner import REPOSITORY, make_copy, run_blocks

_MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")
_PYTEST = re.compile(r"\bpytest ((?:-m \w+ )?tests/[\w./ -]+)")
_CARGO_TEST = re.compile(r"cargo test -p (share-state-[a-z]+)(?: --test (\w+))?")


def page_id(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


def test_the_pages_for_newcomers_are_there() -> None:
    names = {page_id(page) for page in pages()}
    assert {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/glossary.md", "docs/testing.md"} <= names


def test_the_readme_fits_on_two_screens() -> None:
    before, _, rest = (REPOSITORY / "README.md").read_text(encoding="utf-8").partition("<!-- benchmarks -->\n")
    figures, _, after = rest.partition("<!-- end of benchmarks -->")
    assert len((before + after).splitlines()) <= 110
    assert len(figures.splitlines()) <= 20


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    found = blocks(page.read_text(encoding="utf-8"))
    if found:
        make_copy(tmp_path)
    ran = run_blocks(found, tmp_path)
    assert ran["python"] == sum(isinstance(block, PythonBlock) for block in found)
    assert ran["console"] == sum(isinstance(block, ConsoleBlock) for block in found)
    if page_id(page) == "README.md":
        assert ran["python"] >= 1, "README.md shows the engine in a store"
        assert ran["console"] >= 1, "README.md shows the command line"
    if page_id(page) == "docs/embed.md":
        assert ran["python"] >= 2, "docs/embed.md shows the engine by itself and many share partitions"


def test_a_type_checker_accepts_the_blocks_of_all_pages(tmp_path: Path) -> None:
    files = []
    for page in pages():
        for block in blocks(page.read_text(encoding="utf-8")):
            if isinstance(block, PythonBlock):
                files.append(tmp_path / f"{page.stem.replace('-', '_')}_{block.line}.py")
                files[-1].write_text(block.code, encoding="utf-8")
    assert len(files) >= 12
    # Pages do not annotate functions, so the checker runs in its default mode, not in the strict one of the tree.
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={tmp_path}", "--ignore-missing-imports", *files],
        env={**os.environ, "MYPYPATH": str(REPOSITORY / "python")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_links_are_found_where_they_are_links() -> None:
    page = "\n".join(
        [
            "# A `page`, with links",
            "[a](docs/a.md) and [`b`](b.md#c-d), not `[c](d)`",
            "```text",
            "[e](f)",
            "```",
            "[out](https://example.org) [here](#a-page-with-links)",
        ]
    )
    assert links(page) == [Link(2, "docs/a.md", ""), Link(2, "b.md", "c-d"), Link(6, "", "a-page-with-links")]
    assert anchors(page) == {"a-page-with-links"}


def test_a_broken_link_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](nowhere.md)\n\n[b](page.md)\n", encoding="utf-8")
    assert broken(page) == [
        "page.md:1: nowhere.md# does not exist",
        "page.md:3: page.md# leads out of the repository",
    ]


def test_commands_that_pages_name_exist() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        # Prose says "make" too: what counts stands in code.
        code = "\n".join(re.findall(r"`([^`\n]+)`", text) + re.findall(r"^\$ (.+)$", text, re.MULTILINE))
        for target in _MAKE.findall(code):
            assert target in targets, f"{page_id(page)}: make {target}"
            named += 1
        for crate, test in _CARGO_TEST.findall(code):
            tests = rust_imports.home(crate.removeprefix("share-state-")) / "tests"
            assert tests.is_dir(), f"{page_id(page)}: {crate}"
            assert not test or (tests / f"{test}.rs").is_file() or (tests / test).is_dir(), f"{page_id(page)}: {test}"
            named += 1
        for path in (path for words in _PYTEST.findall(code) for path in words.removeprefix("-m kafka ").split()):
            assert (REPOSITORY / path).exists(), f"{page_id(page)}: {path}"
            named += 1
    assert named >= 10


def test_the_tree_that_is_drawn_is_the_tree() -> None:
    drawn = drawn_paths((REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    missing = [path for path in drawn if not (REPOSITORY / path).exists()]
    assert missing == []
    assert len(drawn) >= 40


def test_every_room_of_the_house_is_drawn() -> None:
    drawn = set(drawn_paths((REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    rooms = {f"rust/{crate}/src/{room.name}" for crate in ("core", "wire", "log") for room in source_rooms(crate)}
    assert len(rooms) >= 10
    assert rooms - drawn == set()


def source_rooms(crate: str) -> list[Path]:
    return [mod.parent for mod in (REPOSITORY / "rust" / crate / "src").glob("*/mod.rs")]


def test_a_tree_is_taken_apart() -> None:
    page = "<!-- tree -->\n```text\na.toml b   words, more words\nsrc\n  x/y    a room\n    z.rs w.rs  two files\n  v\nend\n```\n"
    assert drawn_paths(page) == ["a.toml", "b", "src", "src/x/y", "src/x/y/z.rs", "src/x/y/w.rs", "src/v", "end"]
