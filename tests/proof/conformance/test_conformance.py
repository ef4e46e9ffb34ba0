"""Kafka's recorded results hold on both stores: of our copies always, and of all recordings where they are."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.proof.conformance.__main__ import main
from tests.proof.conformance.partition import Answered, PartitionUnderTest
from tests.proof.conformance.skips import too_many
from tests.recordings import OUTSIDE, REPOSITORY, SWITCH, shared_is_required

COPIES = REPOSITORY / "tests" / "data" / "conformance"
RECORDINGS = OUTSIDE / "conformance"

#: File → scenarios run, counted once a store and form of the calls, and skipped.
IN_COPIES = {
    "combiner_fuzz.json.gz": (503, 0),
    "combiner_table.json.gz": (30, 0),
    "misc_facts.json.gz": (18, 0),
    "offsets_manager_trunk.json.gz": (12, 0),
    "probes_reference_quirks.json.gz": (168, 0),
    "record_serde_4.2.json.gz": (13, 0),
    "record_serde_trunk.json.gz": (13, 0),
    "share_coordinator_shard_4.2.json.gz": (20, 1),
    "share_coordinator_shard_trunk.json.gz": (30, 0),
    "share_partition_fuzz_trunk.json.gz": (216, 0),
    "share_partition_trunk.json.gz": (752, 1),
    "share_session_trunk.json.gz": (20, 0),
    "simple_assignor_trunk.json.gz": (11, 0),
}
IN_RECORDINGS = {
    "combiner_fuzz.json.gz": (2513, 0),
    "combiner_table.json": (30, 0),
    "misc_facts.json": (18, 0),
    "offsets_manager_trunk.json": (12, 0),
    "probes_reference_quirks.json": (168, 0),
    "record_serde_4.2.json": (13, 0),
    "record_serde_trunk.json": (13, 0),
    "share_coordinator_shard_4.2.json": (20, 1),
    "share_coordinator_shard_trunk.json": (30, 0),
    "share_partition_fuzz_trunk.json.gz": (1544, 0),
    "share_partition_trunk.json": (752, 1),
    "share_session_trunk.json": (20, 0),
    "simple_assignor_trunk.json": (11, 0),
}
#: Played where there is a cluster: tests/proof/judge/test_share_consumer_facts.py.
ON_A_CLUSTER = "share_consumer_e2e.json.gz"
DEFERRED = ("share_consumer_e2e.json",)


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the runner."""
    code = main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def summary(name: str, ran: int, skipped: int) -> str:
    return f"{name} run={ran} agree={ran} differ=0 skipped={skipped}\n"


def test_our_copies_agree(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, COPIES)
    assert (code, err) == (0, ""), out
    assert [line.split()[0] for line in out.splitlines() if " run=" in line] == sorted([*IN_COPIES, ON_A_CLUSTER])
    assert f"{ON_A_CLUSTER} run=0 agree=0 differ=0 skipped=0 deferred: needs a cluster" in out
    for name, (ran, skipped) in IN_COPIES.items():
        assert summary(name, ran, skipped) in out


@pytest.mark.parametrize("name", IN_COPIES)
def test_each_copy_passes_by_itself(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = run(capsys, COPIES / name)
    assert (code, err) == (0, ""), out
    assert out.startswith(summary(name, *IN_COPIES[name]))


def test_all_recordings_agree(capsys: pytest.CaptureFixture[str]) -> None:
    if not RECORDINGS.is_dir():
        # The gate names their folder; elsewhere the copies above are what there is.
        assert not shared_is_required(), f"no {RECORDINGS}"
        return
    code, out, err = run(capsys, RECORDINGS)
    assert (code, err) == (0, ""), out
    for name, (ran, skipped) in IN_RECORDINGS.items():
        assert summary(name, ran, skipped) in out
    for name in DEFERRED:
        assert f"{name} run=0 agree=0 differ=0 skipped=0 deferred: " in out


@pytest.mark.parametrize(
    ("store", "form", "ran"), [("twin", "queued", 188), ("leaves", "inline", 188), ("both", "queued", 376), ("twin", "both", 376)]
)
def test_the_store_and_the_form_can_be_chosen(capsys: pytest.CaptureFixture[str], store: str, form: str, ran: int) -> None:
    code, out, _ = run(capsys, COPIES / "share_partition_trunk.json.gz", "--store", store, "--form", form)
    assert code == 0
    assert out.startswith(f"share_partition_trunk.json.gz run={ran} agree={ran} differ=0 ")


def test_a_persister_answers_within_the_call_where_kafkas_did(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered_within = PartitionUnderTest.answered_within
    codes: Counter[int] = Counter()

    def counted(under_test: PartitionUnderTest, call: Callable[[], object], error_code: int) -> Answered:
        answered = answered_within(under_test, call, error_code)
        codes[error_code] += bool(answered.states)
        return answered

    monkeypatch.setattr(PartitionUnderTest, "answered_within", counted)
    code, _, _ = run(capsys, COPIES, "--store", "leaves", "--form", "inline")
    assert (code, codes) == (0, {0: 330, 15: 21, -1: 19, 69: 2})


def test_an_answer_that_the_member_does_not_see_is_a_difference(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered_within = PartitionUnderTest.answered_within
    monkeypatch.setattr(PartitionUnderTest, "answered_within", lambda under_test, call, _: answered_within(under_test, call, 0))
    code, out, _ = run(capsys, COPIES / "share_partition_trunk.json.gz", "--form", "inline")
    assert code == 1
    assert "answer to the member" in out
    assert "in-flight state" in out


def test_several_paths_are_run_once_each(capsys: pytest.CaptureFixture[str]) -> None:
    table, serde = COPIES / "combiner_table.json.gz", COPIES / "record_serde_trunk.json.gz"
    code, out, _ = run(capsys, table, serde, table)
    assert (code, out) == (0, summary(table.name, 30, 0) + summary(serde.name, 13, 0))


def test_a_path_that_is_not_there_is_a_usage_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as exit_status:
        run(capsys, tmp_path / "nothing")
    assert exit_status.value.code == 2
    assert "no such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("mystery.json", b'{"scenarios": [{"name": "a"}]}', "unknown prefix"),
        ("share_partition_cut.json", b'{"scenarios": [', "unreadable: "),
        ("share_partition_text.json", b"\xff\xfe\x00", "unreadable: "),
        ("share_partition_plain.json.gz", b"{}", "unreadable: "),
        ("share_partition_cut.json.gz", gzip.compress(b'{"scenarios": []}')[:-9], "unreadable: "),
        ("record_serde_list.json", b"[]", "not a recording: no list of scenarios"),
        ("record_serde_numbers.json", b'{"scenarios": [1]}', "not a recording: no list of scenarios"),
        ("combiner_empty.json", b'{"scenarios": []}', "ran nothing"),
        ("share_partition_no_ops.json", b'{"scenarios": [{"name": "a"}]}', "1 of 1 differ"),
        ("share_coordinator_shard_x.json", b'{"scenarios": [{"ops": [{"op": "create"}]}]}', "1 of 1 differ"),
        ("offsets_manager_x.json", b'{"scenarios": [{"ops": [{}]}]}', "1 of 1 differ"),
    ],
)
def test_a_file_that_is_no_recording_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: bytes, complaint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    code, out, err = run(capsys, tmp_path)
    assert code == 1
    assert out.startswith(f"{name} run=")
    assert err.startswith(f"{name}: {complaint}")


def test_a_directory_without_recordings_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, tmp_path) == (1, "", "no recording found\n")


def test_a_recording_that_does_not_hold_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = json.loads(gzip.decompress((COPIES / "share_partition_trunk.json.gz").read_bytes()))
    scenario = next(s for s in document["scenarios"] if any(op["op"] == "acquire" for op in s["ops"]))
    place, op = next((i, op) for i, op in enumerate(scenario["ops"]) if op["op"] == "acquire")
    op["expect"] = {"acquired": [[1000, 1000, 1]], "count": 1}
    (tmp_path / "share_partition_changed.json").write_text(json.dumps({"scenarios": [scenario]}), encoding="utf-8")
    code, out, err = run(capsys, tmp_path, "--store", "leaves", "--form", "queued")
    assert code == 1
    assert out.startswith("share_partition_changed.json run=1 agree=0 differ=1 skipped=0\n")
    assert f"differs [leaves queued] {scenario['name']} op {place}: acquire: acquired ranges" in out
    assert err == "share_partition_changed.json: 1 of 1 differ\n"


@pytest.mark.parametrize(("skipped", "scenarios", "wanted"), [(4, 5, False), (5, 100, True), (5, 101, False), (60, 1000, True)])
def test_fewer_than_five_in_a_hundred_may_be_skipped(skipped: int, scenarios: int, wanted: bool) -> None:
    assert too_many(skipped, scenarios) is wanted


def sequence(config: dict[str, int], *ops: dict[str, Any]) -> dict[str, Any]:
    """A sequence made by hand from the rules of §1, for what no recording at hand shows."""
    create = {"leader_epoch": 0, "record_lock_ms": 100, "initial_status": "ACTIVE", "dlq_enabled": False, **config}
    return {"name": "by hand", "ops": [{"op": "create", "config": create}, *ops]}


def acquire(member: str, first: int, last: int, count: int = 1) -> dict[str, Any]:
    return {
        "op": "acquire",
        "member": member,
        "mode": "batch_optimized",
        "batch_size": 500,
        "max_fetch_records": 500,
        "fetch_offset": first,
        "isolation": "HIGH_WATERMARK",
        "fetched_batches": [[first, last]],
        "expect": {"acquired": [[first, last, count]], "count": last - first + 1},
    }


def state(start: int, end: int, complete: int, *batches: object) -> dict[str, Any]:
    return {
        "state": {
            "status": "ACTIVE",
            "start_offset": start,
            "end_offset": end,
            "state_epoch": 0,
            "delivery_complete_count": complete,
            "batches": list(batches),
        }
    }


def write(complete: int, *batches: list[int], **answer: object) -> dict[str, Any]:
    payload = {"leader_epoch": 0, "state_epoch": 0, "start_offset": 0, "delivery_complete_count": complete}
    return {**payload, "batches": list(batches), "result": "error_code 0", **answer}


def agrees(capsys: pytest.CaptureFixture[str], directory: Path, scenario: dict[str, Any]) -> bool:
    path = directory / "share_partition_by_hand.json"
    path.write_text(json.dumps({"scenarios": [scenario]}), encoding="utf-8")
    code, out, err = run(capsys, path)
    assert "run=4" in out, out + err
    assert "format" not in out, out
    return code == 0


def refused_renewal(fired: list[dict[str, Any]], *held: list[Any]) -> dict[str, Any]:
    """A renewal in a request whose next range is not held; then the old deadline passes, and not the new one."""
    return sequence(
        {"max_in_flight": 50, "max_delivery_count": 5},
        acquire("m1", 0, 4) | state(0, 4, 0, [0, 4, "ACQUIRED", 1, "m1", True, False]),
        acquire("m2", 5, 9) | state(0, 9, 0, [0, 4, "ACQUIRED", 1, "m1", True, False], [5, 9, "ACQUIRED", 1, "m2", True, False]),
        {"op": "advance_clock", "ms": 60},
        {
            "op": "acknowledge",
            "member": "m1",
            "batches": [[0, 4, [4]], [5, 9, [1]]],
            "group_config": {"isRenewAcknowledgeEnabled": True},
            "expect": {"result": {"error": "InvalidRecordStateException"}},
        },
        {"op": "advance_clock", "ms": 60, "lock_timeouts_fired": fired} | state(0, 9, 0, *held),
    )


def test_the_renewals_that_kafka_keeps_of_a_refused_request_do_not_make_a_difference(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    of_m1 = {"member": "m1", "first": 0, "last": 4, "persister_writes": [write(0, [0, 4, 0, 1])]}
    of_m2 = {"member": "m2", "first": 5, "last": 9, "persister_writes": [write(0, [5, 9, 0, 1])]}
    still, free = [0, 4, "ACQUIRED", 1, "m1", True, False], [0, 9, "AVAILABLE", 1, "", False, False]
    assert agrees(capsys, tmp_path, refused_renewal([of_m2], still, [5, *free[1:]]))
    assert not agrees(capsys, tmp_path, refused_renewal([of_m1, of_m2], free))


def test_a_window_full_for_kafka_alone_is_not_asked_for_room(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # The write of the release is refused when the lock has run out: archived in memory, and nothing moves Kafka on.
    scenario = sequence(
        {"max_in_flight": 5, "max_delivery_count": 1},
        acquire("m1", 0, 4) | state(0, 4, 0, [0, 4, "ACQUIRED", 1, "m1", True, False]),
        {
            "op": "release_session",
            "member": "m1",
            "persister_writes": [write(5, [0, 4, 4, 1], result="error_code 15", completes_later=True, async_id=1)],
            "expect": {"result": {"error": "CoordinatorNotAvailableException"}},
        }
        | state(0, 4, 5, [0, 4, "ARCHIVED", 1, "", True, True]),
        {"op": "advance_clock", "ms": 150},
        {"op": "persister_completes", "async_id": 1, "expect": {"result": {"partition": 0, "error_code": 15}}}
        | state(0, 4, 5, [0, 4, "ARCHIVED", 1, "", False, False]),
        {"op": "can_acquire_records", "expect": {"result": False}},
        acquire("m1", 5, 9) | {"expect": {"acquired": [], "count": 0}},
    )
    assert agrees(capsys, tmp_path, scenario)


def test_recordings_that_are_named_are_needed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"{__name__}.RECORDINGS", tmp_path / "nothing")
    monkeypatch.setenv(SWITCH, str(tmp_path))
    with pytest.raises(AssertionError, match="nothing"):
        test_all_recordings_agree(capsys)
    monkeypatch.delenv(SWITCH)
    test_all_recordings_agree(capsys)
