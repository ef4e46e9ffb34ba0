"""A page says when its figures are not of one clean commit, and published results are not taken from another state."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from benches import environment, headline, measure, provenance, report, run
from benches.programs import TREE


def results(*commits: str) -> dict[str, dict[str, Any]]:
    about = {"measured": "2026-01-02T03:04:05+00:00", "load": 0.5, "cpus": 2, "cpu": "", "kafka": "", "rust": "", "python": ""}
    rows = ("W1-500", "W3-10000", "W9-1000000")
    timed = {"ns": 1.0, "spread": 0.1, "rounds_ns": [1, 2], "processes": [{"rounds_ns": [1, 2]}], "writes": 1, "bytes": 72}
    return {
        row: {
            "row": row,
            "workload": row[:2],
            "size": int(row[3:]),
            "command": "",
            "engines": {TREE: timed},
            "environment": about | {"commit": commit},
        }
        for row, commit in zip(rows, commits, strict=False)
    }


def test_one_clean_commit_needs_no_notice() -> None:
    clean = results("abc", "abc")
    assert provenance.notice(clean) == []
    assert "- Commit: abc." in report.lines(clean, [])
    assert not any("clean commit" in line for line in [*report.lines(clean, []), *headline.lines(clean)])


@pytest.mark.parametrize("commits", [("abc", "abd"), ("abc-dirty", "abc-dirty"), ("abc", "abc-dirty"), ("", "")])
def test_other_results_are_marked_on_both_pages(commits: tuple[str, ...]) -> None:
    mixed = results(*commits)
    for page in (report.lines(mixed, []), headline.lines(mixed)):
        assert any(line.startswith("**These figures are not of one clean commit.**") for line in page)


def test_each_commit_is_named_with_its_rows() -> None:
    found = results("abc", "abd-dirty", "abc")
    assert provenance.commits(found) == "abc (2 rows), abd-dirty (1 row)"
    assert "- Commit: abc (2 rows), abd-dirty (1 row)." in report.lines(found, [])


def test_published_results_are_not_taken_from_a_changed_tree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> list[str]:
        raise AssertionError("measured")

    monkeypatch.setattr(environment, "changes", lambda: "M rust/core/src/lib.rs")
    monkeypatch.setattr(measure, "measure", refuse)
    monkeypatch.setattr(sys, "argv", ["measure", "--only", "W1"])
    assert measure.main() == 1
    assert "M rust/core/src/lib.rs" in capsys.readouterr().err
    assert run.RESULTS == report.REPOSITORY / "benches" / "results"


def test_the_published_page_has_the_notice_that_its_results_call_for() -> None:
    notice = provenance.notice(report.read(run.RESULTS))
    page = report.PAGE.read_text(encoding="utf-8")
    assert ("not of one clean commit" in page) == bool(notice)
    assert "\n".join(notice) in page
