"""Exports of the judge are what ``tests.proof.conformance`` plays, and both call the same things deliberate differences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.home import REPOSITORY
from tests.proof.conformance.__main__ import main
from tests.proof.conformance.report import FileReport
from tests.proof.conformance.runner import run_file

from .differential import Result, rules, run, write

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

SEED = 7
#: By profile. What the others export has operations of its own, which only Kafka's side plays.
SEQUENCES = {"combiner": 50, "coordinator": 200, "engine": 2_500}
#: Sequences without a difference that a run exports too.
IN_ACCORD = 5
#: Sequences of which one with each deliberate difference is played as it is.
WHOLE = 500
PAGE = REPOSITORY / "docs" / "deliberate-differences.md"


def _combiner(scenario: dict[str, Any]) -> None:
    scenario["expect"] = [[0, 0, 0, 1]]


def _coordinator(scenario: dict[str, Any]) -> None:
    answered = next(op for op in scenario["ops"] if "response" in (op.get("result") or {}))
    answered["result"]["response"] = {"results": []}


def _engine(scenario: dict[str, Any]) -> None:
    read = next(op for op in scenario["ops"] if op["op"] == "initialize")
    read["expect"]["result"] = {"error": "FencedStateEpochException"}


#: Another outcome than the recorded one, before or instead of what differs on purpose.
ANOTHER: dict[str, Callable[[dict[str, Any]], None]] = {
    "combiner": _combiner,
    "coordinator": _coordinator,
    "engine": _engine,
}

#: Entries of the page that the judge never comes across.
BEYOND_THE_JUDGE = {
    "M3": "no state of a sequence has so many batches",
    "S1": "the sequence moves both clocks, and Kafka's timers fire at their deadline",
    "S2": "what was to be written is compared folded",
    "S3": "the fetch lock is not part of a sequence",
    "S5": "no window of a sequence is so wide",
}


@pytest.fixture(scope="module", params=SEQUENCES)
def result(request: pytest.FixtureRequest) -> Result:
    """A run that exports one of each deliberate difference, and sequences in accord."""
    profile: str = request.param
    found = run(profile, SEED, SEQUENCES[profile], 60, examples=True)
    assert not found.unexplained
    return found


def played(example: dict[str, Any], directory: Path) -> FileReport:
    """Report of the runner of the conformance files on one example."""
    (path,) = write([example], directory, SEED)
    report = run_file(path)
    assert report.failure is None
    assert not report.skips
    assert report.run == 1
    return report


def test_every_export_can_be_played_and_both_see_the_same(result: Result, tmp_path: Path) -> None:
    shown = set()
    for example in result.examples:
        report = played(example, tmp_path)
        assert report.differ == 0, report.lines(3)
        met = {(each.op_index, each.rule, each.what) for outcome in report.outcomes for each in outcome.deliberate}
        assert met <= {(place, name, what) for place, name, what in example["explained"]}
        shown |= {(name, what) for _, name, what in met}
    of_profile = {(name, what) for profile, name, what in rules() if profile == result.profile}
    examples = {(e["class"], e["rule"]) for e in result.examples if "rule" in e}
    assert examples <= of_profile
    assert len(result.examples) == len(examples) + IN_ACCORD
    assert len(shown) > len(of_profile) // 3


def test_whole_sequences_with_deliberate_differences_are_played(tmp_path: Path) -> None:
    found = run("engine", SEED, WHOLE, 60, examples=True, shrink=0)
    of_rules = [example for example in found.examples if "rule" in example]
    assert len(of_rules) > 10
    shown = set()
    for example in of_rules:
        report = played(example, tmp_path)
        assert report.differ == 0, report.lines(3)
        shown |= {each.rule for outcome in report.outcomes for each in outcome.deliberate}
    assert len(shown) > 5, shown


def test_an_exported_difference_does_not_fail_the_command_but_another_one_does(
    result: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = {"combiner": "M2", "coordinator": "I1", "engine": "K6"}[result.profile]
    (example,) = (e for e in result.examples if e.get("class") == wanted)
    (path,) = write([example], tmp_path, SEED)
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert f"{path.name} run=" in out
    assert f"  deliberate {wanted} {example['scenario']['name']} op " in out
    document = json.loads(path.read_text(encoding="utf-8"))
    ANOTHER[result.profile](document["scenarios"][0])
    path.write_text(json.dumps(document), encoding="utf-8")
    assert main([str(path)]) == 1
    assert "  differs " in capsys.readouterr().out


def test_the_judge_and_the_page_name_the_same_differences() -> None:
    entries = set(re.findall(r"^## ([A-Z]\d+)\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for _, name, _ in rules()}
    assert entries - named == set(BEYOND_THE_JUDGE)
    assert named <= entries
