"""The runner names deliberate differences, skips what nobody can play, and agrees with nothing that it does not know."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.proof.conformance.__main__ import main
from tests.proof.conformance.runner import run_file
from tests.recordings import REPOSITORY

COPIES = REPOSITORY / "tests" / "data" / "conformance"
#: Answers of Kafka 4.4.0 in random sequences: one of each difference that was met, made small.
DELIBERATE = REPOSITORY / "tests" / "data" / "deliberate" / "share_partition_4.4.0.json.gz"

Json = dict[str, Any]


def scenarios(path: Path) -> list[Json]:
    document: Json = json.loads(gzip.decompress(path.read_bytes()))
    listed: list[Json] = document["scenarios"]
    return listed


def written(directory: Path, name: str, listed: list[Json]) -> Path:
    path = directory / name
    path.write_text(json.dumps({"meta": {}, "scenarios": listed}), encoding="utf-8")
    return path


def test_each_deliberate_difference_is_named_and_none_is_left_over() -> None:
    report = run_file(DELIBERATE)
    assert (report.run, report.differ, report.skips) == (len(scenarios(DELIBERATE)), 0, [])
    shown = [line for line in report.lines(2) if line.startswith("  deliberate ")]
    met = {(outcome.scenario, each.op_index, each.rule, each.what) for outcome in report.outcomes for each in outcome.deliberate}
    assert len(shown) == len(met) >= 14
    rules = {rule for _, _, rule, _ in met}
    assert {"F1", "K2", "K3", "K4", "K6", "K7", "N1", "S4", "S7", "V1", "V2", "V3", "V4", "V5"} <= rules


def another_answer(op: Json) -> bool:
    """Give an operation an outcome that Kafka never gave; whether it has one to change."""
    expect = op.get("expect", {})
    if "acquired" in expect:
        op["expect"] = {"acquired": [[900_000, 900_001, 1]], "count": 2}
    elif op["op"] == "next_fetch_offset":
        expect["result"] = 900_000
    elif isinstance(expect.get("result"), bool):
        expect["result"] = not expect["result"]
    elif "state" in op and op["state"]["status"] == "ACTIVE":
        op["state"]["state_epoch"] += 7
    else:
        return False
    return True


def test_what_kafka_never_gave_is_no_deliberate_difference(tmp_path: Path) -> None:
    listed = []
    for recorded in scenarios(DELIBERATE):
        for index, op in enumerate(recorded["ops"]):
            altered = copy.deepcopy(recorded)
            if op["op"] == "create" or not another_answer(altered["ops"][index]):
                continue
            # What follows in that state may well be what is compared no more.
            altered["ops"] = altered["ops"][: index + 1]
            listed.append(altered)
    report = run_file(written(tmp_path, "share_partition_altered.json", listed))
    # Where the state has come apart on purpose before, nothing is compared.
    assert report.run == len(listed) > 50
    assert report.differ > report.run * 3 // 4, (report.differ, report.run)


#: A recording of each suite that has operations.
SUITES = (
    "offsets_manager_trunk",
    "record_serde_trunk",
    "simple_assignor_trunk",
    "share_session_trunk",
    "share_coordinator_shard_trunk",
)


@pytest.mark.parametrize("suite", SUITES)
def test_an_operation_that_nobody_can_play_is_a_skip_by_name(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = scenarios(COPIES / f"{suite}.json.gz")[:2]
    place = len(second["ops"]) - 1
    second["ops"][place]["op"] = "mystery"
    path = written(tmp_path, f"{suite}.json", [first, second])
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == f"{suite}.json run=1 agree=1 differ=0 skipped=1"
    assert f"  skipped {second['name']}: operation {place} (mystery) cannot be played" in out


def test_too_many_skips_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = scenarios(COPIES / "record_serde_trunk.json.gz")[:6]
    for scenario in listed[:5]:
        scenario["ops"][0]["op"] = "mystery"
    assert main([str(written(tmp_path, "record_serde_x.json", listed))]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("record_serde_x.json run=1 agree=1 differ=0 skipped=5\n")
    assert "5 of 6 skipped" in shown.err


def _no_name(ops: list[Json]) -> None:
    del ops[0]["op"]


def _unknown_field(ops: list[Json]) -> None:
    ops[0]["mystery"] = 1


def _nothing(ops: list[Json]) -> None:
    ops.clear()


@pytest.mark.parametrize("suite", [*SUITES, "share_partition_trunk"])
@pytest.mark.parametrize("change", [_no_name, _unknown_field, _nothing])
def test_what_is_not_of_the_format_is_a_difference(suite: str, change: Callable[[list[Json]], None], tmp_path: Path) -> None:
    listed = scenarios(COPIES / f"{suite}.json.gz")[:1]
    change(listed[0]["ops"])
    report = run_file(written(tmp_path, f"{suite}.json", listed))
    assert (report.run, report.differ, report.skips, report.failure) == (1, 1, [], None)
