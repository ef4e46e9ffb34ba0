"""Report of a suite, and what of it is worse than on a broker."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.gateway.suites import EXPECTED, Case, Outcome, cases, judge, run

OF = 'classname="tests.integration.share_consumer.test_ack"'
REPORT = f"""<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase {OF} name="test_passes[a-b]" time="1.5"/>
<testcase {OF} name="test_fails" time="0.1"><failure message="assert 1 == 2&#10;more">x</failure></testcase>
<testcase {OF} name="test_breaks" time="0.1"><error message="no broker"/></testcase>
<testcase {OF} name="test_skips" time="0.0"><skipped message="needs a quota"/></testcase>
</testsuite></testsuites>
"""


def test_a_report_is_read(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    assert cases(report) == {
        "test_ack::test_passes[a-b]": Case("passed", 1.5),
        "test_ack::test_fails": Case("failed", 0.1, "assert 1 == 2"),
        "test_ack::test_breaks": Case("failed", 0.1, "no broker"),
        "test_ack::test_skips": Case("skipped", 0.0, "needs a quota"),
    }


def outcomes(**found: Outcome) -> dict[str, Outcome]:
    return found


def test_what_passes_on_a_broker_has_to_pass() -> None:
    expected = outcomes(a="passed", b="failed", c="skipped", d="passed")
    same = {name: Case(outcome, 0.0) for name, outcome in expected.items()}
    assert judge(same, expected)
    assert judge(same, expected).worse == []
    for name, outcome in (("a", "failed"), ("a", "skipped"), ("c", "failed")):
        changed = {**same, name: Case(outcome, 0.0)}  # type: ignore[arg-type]
        assert judge(changed, expected).worse == [name]
        assert not judge(changed, expected)
    better = judge({**same, "b": Case("passed", 0.0)}, expected)
    assert (better.better, bool(better)) == (["b"], True)
    assert judge({name: same[name] for name in ("a", "b", "c")}, expected).missing == ["d"]
    assert judge({**same, "e": Case("passed", 0.0)}, expected).unknown == ["e"]


def test_what_is_expected_is_what_a_broker_has_done() -> None:
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert Counter(expected.values()) == {"passed": 97, "failed": 7}


def test_a_suite_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.gateway.suites.INTERPRETER", tmp_path / "none")
    with pytest.raises(RuntimeError, match="make gateway-suite"):
        run(tmp_path, "127.0.0.1:1")
