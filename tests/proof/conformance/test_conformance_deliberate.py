"""The runner of recordings names deliberate differences, skips what nobody can play, and takes recordings with fewer fields."""

from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
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
    report = run_file(DELIBERATE, ["twin", "leaves"])
    assert (report.run, report.differ, report.skips) == (4 * len(scenarios(DELIBERATE)), 0, [])
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
    tried = found = 0
    for recorded in scenarios(DELIBERATE):
        for index, op in enumerate(recorded["ops"]):
            altered = copy.deepcopy(recorded)
            if op["op"] == "create" or not another_answer(altered["ops"][index]):
                continue
            # What follows in that state may well be what is compared no more.
            altered["ops"] = altered["ops"][: index + 1]
            tried += 1
            path = written(tmp_path, f"share_partition_{tried}.json", [altered])
            report = run_file(path, ["leaves"], forms=["queued"])
            found += report.differ
    # Where the state has come apart on purpose before, nothing is compared.
    assert tried > 50
    assert found > tried * 3 // 4, (found, tried)


def without_settings(listed: list[Json]) -> list[Json]:
    """As a release without these fields would have recorded it, wherever the settings are those of the beginning."""
    kept = []
    for scenario in copy.deepcopy(listed):
        configs = [op["config"] for op in scenario["ops"] if op["op"] == "create"]
        changes = False
        for op in scenario["ops"]:
            told: Json = op.pop("group_config", {})
            of = configs[0]
            # A renewal is allowed or not; its answer shows which.
            told.pop("isRenewAcknowledgeEnabled", None)
            told = {name: value for name, value in told.items() if name != "errorsDLQTopicName" or value != "Optional.empty"}
            changes |= told.pop("partitionMaxRecordLocksOrDefault", of["max_in_flight"]) != of["max_in_flight"]
            changes |= told.pop("deliveryCountLimitOrDefault", of["max_delivery_count"]) != of["max_delivery_count"]
            changes |= told.pop("recordLockDurationMsOrDefault", of["record_lock_ms"]) != of["record_lock_ms"]
            changes |= bool(told)
        for config in configs:
            del config["dlq_enabled"]
        if not changes:
            kept.append(scenario)
    return kept


def test_fields_that_an_earlier_release_does_not_have_may_be_absent(tmp_path: Path) -> None:
    kept = without_settings(scenarios(COPIES / "share_partition_trunk.json.gz"))
    assert len(kept) > 100
    report = run_file(written(tmp_path, "share_partition_4.2.json", kept), ["twin", "leaves"])
    assert report.differ == 0, report.lines(2)
    assert report.run == 4 * (len(kept) - len(report.skips))
    assert len(report.skips) <= 1


#: A recording of each suite that has operations, and how many ways a scenario is run.
SUITES = {
    "share_partition_trunk": 4,
    "offsets_manager_trunk": 1,
    "record_serde_trunk": 1,
    "simple_assignor_trunk": 1,
    "share_session_trunk": 1,
    "share_coordinator_shard_trunk": 1,
}


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
    ran = SUITES[suite]
    assert out.splitlines()[0] == f"{suite}.json run={ran} agree={ran} differ=0 skipped=1"
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


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("change", [_no_name, _unknown_field, _nothing])
def test_what_is_not_of_the_format_is_a_difference(suite: str, change: Callable[[list[Json]], None], tmp_path: Path) -> None:
    listed = scenarios(COPIES / f"{suite}.json.gz")[:1]
    change(listed[0]["ops"])
    report = run_file(written(tmp_path, f"{suite}.json", listed), ["leaves"], forms=["queued"])
    assert (report.run, report.differ, report.skips, report.failure) == (1, 1, [], None)


@pytest.mark.parametrize("limit", [1, 3, 10_000])
def test_other_limits_are_differences_where_the_recording_shows_them(limit: int, tmp_path: Path) -> None:
    listed = scenarios(COPIES / "share_partition_trunk.json.gz")
    for scenario in listed:
        for op in scenario["ops"]:
            if op["op"] == "create":
                op["config"]["max_in_flight"] = limit
            if "partitionMaxRecordLocksOrDefault" in op.get("group_config", {}):
                op["group_config"]["partitionMaxRecordLocksOrDefault"] = limit
    report = run_file(written(tmp_path, "share_partition_limits.json", listed), ["twin"], forms=["queued"])
    assert report.failure is None
    assert report.run > 150
    shown = Counter(difference.what for outcome in report.outcomes for difference in outcome.differences)
    assert not any("format" in what or "panicked" in what or "invariant" in what for what in shown), shown
    assert (report.differ > 20) is (limit < 10)
