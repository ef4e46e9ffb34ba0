"""docs/spark.md as a newcomer follows it: from its first line, in an environment of its own, to what its blocks print."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.kafka.home import REPOSITORY
from tests.pages.blocks import Fence, fences
from tests.spark.newcomer import Newcomer

_PAGE = REPOSITORY / "docs" / "spark.md"
_SETUP = "<!-- spark setup -->"
_OUTPUT = "<!-- spark output -->"
#: Set to write what the blocks print into the page.
_UPDATE = "UPDATE_DOCS"


@pytest.fixture(scope="module")
def page() -> list[Fence]:
    return list(fences(_PAGE.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def newcomer() -> Iterator[Newcomer]:
    somebody = Newcomer()
    yield somebody
    somebody.leaves()


def setup_of(page: list[Fence]) -> str:
    """The lines that set the environment up: the first block of the page."""
    assert page[0].mark == _SETUP
    assert [fence.mark for fence in page].count(_SETUP) == 1
    return page[0].text


@pytest.mark.timeout(1800)
def test_the_page_can_be_followed_from_its_first_line(newcomer: Newcomer, page: list[Fence]) -> None:
    blocks = [fence for fence in page if fence.language == "py"]
    ran = newcomer.types(setup_of(page) + newcomer.runs(blocks, _PAGE.name))
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-6000:]
    assert "NO  " not in ran.stdout, "the doctor found something wrong"
    printed = [shown(text) for text in newcomer.printed()]
    assert len(printed) == len(blocks) >= 10
    compared = 0
    for before, fence in zip(page, page[1:], strict=False):
        if fence.mark == _OUTPUT:
            text = printed[blocks.index(before)]
            if os.environ.get(_UPDATE):
                update(compared + 1, text)
            else:
                assert fence.text == text, f"{_PAGE.name}:{fence.line}"
            compared += 1
    assert compared >= 10


@pytest.mark.timeout(300)
def test_without_the_environment_the_source_is_not_found_and_the_page_says_what_helps(
    newcomer: Newcomer, page: list[Fence]
) -> None:
    blocks = [fence for fence in page if fence.language == "py"][:2]
    not_activated = newcomer.runs(blocks, _PAGE.name, python="spark-env/bin/python")
    failed = newcomer.types(not_activated)
    assert failed.returncode != 0
    assert "DATA_SOURCE_NOT_FOUND" in failed.stderr
    told = newcomer.types(not_activated, PYSPARK_PYTHON=str(newcomer.checkout / "spark-env" / "bin" / "python"))
    assert told.returncode == 0, told.stderr[-3000:]
    assert "orders-workers" in newcomer.printed()[-1]


def shown(text: str) -> str:
    """Output, without empty lines: Spark puts one after a table."""
    return "".join(line.rstrip() + "\n" for line in text.splitlines() if line.strip())


def update(number: int, printed: str) -> None:
    """Write what was printed into the page, as the output of that number from 1 on."""
    page = _PAGE.read_text(encoding="utf-8")
    marks = page.split(_OUTPUT + "\n```text\n")
    marks[number] = printed + marks[number][marks[number].index("```") :]
    _PAGE.write_text((_OUTPUT + "\n```text\n").join(marks), encoding="utf-8")
