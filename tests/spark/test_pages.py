"""docs/spark.md: its blocks run one after the other in one session, and show what the page says."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.kafka.home import REPOSITORY
from tests.readme.blocks import fences

_PAGE = REPOSITORY / "docs" / "spark.md"
_OUTPUT = "<!-- spark output -->"
#: Set to write what the blocks print into the page.
_UPDATE = "UPDATE_DOCS"


def test_the_blocks_of_the_page_run(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    names: dict[str, Any] = {"spark": spark, "scratch": str(tmp_path)}
    page = _PAGE.read_text(encoding="utf-8")
    ran = compared = 0
    printed = ""
    for fence in list(fences(page)):
        if fence.language == "py":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(fence.text, f"{_PAGE}:{fence.line}", "exec"), names)  # noqa: S102  our own page
            printed = shown(out.getvalue())
            ran += 1
        elif fence.mark == _OUTPUT:
            if os.environ.get(_UPDATE):
                update(compared + 1, printed)
            else:
                assert fence.text == printed, f"{_PAGE.name}:{fence.line}"
            compared += 1
    assert ran >= 4
    assert compared >= 4


def shown(text: str) -> str:
    """What was printed, without empty lines: Spark puts one behind a table."""
    return "".join(line.rstrip() + "\n" for line in text.splitlines() if line.strip())


def update(number: int, printed: str) -> None:
    """Write what was printed into the page, as the output of that number from 1 on."""
    page = _PAGE.read_text(encoding="utf-8")
    marks = page.split(_OUTPUT + "\n```text\n")
    marks[number] = printed + marks[number][marks[number].index("```") :]
    _PAGE.write_text((_OUTPUT + "\n```text\n").join(marks), encoding="utf-8")
