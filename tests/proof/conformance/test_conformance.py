"""Kafka's recorded results hold: of our copies always, and of all recordings where they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.proof.conformance.__main__ import main
from tests.proof.conformance.skips import too_many
from tests.recordings import OUTSIDE, REPOSITORY, SWITCH, shared_is_required

COPIES = REPOSITORY / "tests" / "data" / "conformance"
RECORDINGS = OUTSIDE / "conformance"

#: File → scenarios run, and skipped.
IN_COPIES = {
    "combiner_fuzz.json.gz": (503, 0),
    "combiner_table.json.gz": (30, 0),
    "misc_facts.json.gz": (18, 0),
    "offsets_manager_trunk.json.gz": (12, 0),
    "probes_reference_quirks.json.gz": (42, 0),
    "record_serde_4.2.json.gz": (13, 0),
    "record_serde_trunk.json.gz": (13, 0),
    "share_coordinator_shard_4.2.json.gz": (20, 1),
    "share_coordinator_shard_trunk.json.gz": (30, 0),
    "share_partition_fuzz_trunk.json.gz": (54, 0),
    "share_partition_trunk.json.gz": (161, 28),
    "share_session_trunk.json.gz": (20, 0),
    "simple_assignor_trunk.json.gz": (11, 0),
}
IN_RECORDINGS = {
    "combiner_fuzz.json.gz": (2513, 0),
    "combiner_table.json": (30, 0),
    "misc_facts.json": (18, 0),
    "offsets_manager_trunk.json": (12, 0),
    "probes_reference_quirks.json": (42, 0),
    "record_serde_4.2.json": (13, 0),
    "record_serde_trunk.json": (13, 0),
    "share_coordinator_shard_4.2.json": (20, 1),
    "share_coordinator_shard_trunk.json": (30, 0),
    "share_partition_fuzz_trunk.json.gz": (386, 0),
    "share_partition_trunk.json": (161, 28),
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
        ("share_partition_unread.json", b'{"scenarios": [{"ops": [{"op": "mark_fenced"}]}]}', "1 of 1 differ"),
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
    code, out, err = run(capsys, tmp_path)
    assert code == 1
    assert out.startswith("share_partition_changed.json run=1 agree=0 differ=1 skipped=0\n")
    assert f"differs {scenario['name']} op {place}: answer\n" in out
    assert err == "share_partition_changed.json: 1 of 1 differ\n"


@pytest.mark.parametrize(("skipped", "scenarios", "wanted"), [(4, 5, False), (5, 100, True), (5, 101, False), (60, 1000, True)])
def test_fewer_than_five_in_a_hundred_may_be_skipped(skipped: int, scenarios: int, wanted: bool) -> None:
    assert too_many(skipped, scenarios) is wanted


def test_recordings_that_are_named_are_needed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"{__name__}.RECORDINGS", tmp_path / "nothing")
    monkeypatch.setenv(SWITCH, str(tmp_path))
    with pytest.raises(AssertionError, match="nothing"):
        test_all_recordings_agree(capsys)
    monkeypatch.delenv(SWITCH)
    test_all_recordings_agree(capsys)
