"""What the judge exports is what ``python -m tests.conformance`` plays, and both call the same things deliberate differences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.__main__ import main
from tests.conformance.deliberate import RECOGNISED
from tests.conformance.report import Difference
from tests.conformance.runner import run_file

from .differential import Result, rules, run, write
from .home import REPOSITORY

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

SEED = 7
#: By profile. What the others export has operations of its own, which only Kafka's side plays.
SEQUENCES = {"combiner": 50, "coordinator": 200, "engine": 2_500}
#: Sequences without a difference that a run exports too.
IN_ACCORD = 5
PAGE = REPOSITORY / "docs" / "deliberate-differences.md"

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


def played(example: dict[str, Any], directory: Path) -> list[Difference]:
    """What the runner of the conformance files has to say of one example."""
    (path,) = write([example], directory, SEED)
    report = run_file(path, ["leaves", "twin"])
    assert report.failure is None
    assert not report.skips
    assert report.run == (4 if example["file"] == "share_partition" else 1)
    return [difference for outcome in report.outcomes for difference in outcome.differences]


def test_every_export_can_be_played_and_both_see_the_same(result: Result, tmp_path: Path) -> None:
    shown = set()
    for example in result.examples:
        differences = played(example, tmp_path)
        explained = {place: (name, what) for place, name, what in example["explained"]}
        # After the first the runner may see what follows from it.
        if differences:
            assert differences[0].op_index in explained, differences[0]
            assert explained[differences[0].op_index] not in RECOGNISED, differences[0]
            shown.add(example["rule"])
    of_profile = {(name, what) for profile, name, what in rules() if profile == result.profile}
    examples = {(e["class"], e["rule"]) for e in result.examples if "rule" in e}
    assert examples <= of_profile
    assert len(result.examples) == len(examples) + IN_ACCORD
    # Most show as differences to a runner that knows of no deliberate ones, which is how it would show an unexplained one.
    assert len(shown) > len(of_profile) // 3


def test_an_exported_difference_fails_the_command(result: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {"combiner": "M2", "coordinator": "I1", "engine": "K6"}[result.profile]
    (example,) = (e for e in result.examples if e.get("class") == wanted)
    (path,) = write([example], tmp_path, SEED)
    assert main([str(path), "--store", "both"]) == 1
    assert f"{path.name} run=" in capsys.readouterr().out


def test_the_judge_and_the_page_name_the_same_differences() -> None:
    entries = set(re.findall(r"^## ([A-Z]\d+)\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for _, name, _ in rules()}
    assert entries - named == set(BEYOND_THE_JUDGE)
    assert named <= entries


def test_what_the_runner_recognises_is_what_the_judge_recognises() -> None:
    of_engine = {(name, what) for profile, name, what in rules() if profile == "engine"}
    assert not RECOGNISED - of_engine
