"""Inputs that PATH may name, and what happens when they are damaged, missing or something else."""

import errno
import hashlib
import json
import shutil
import struct
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from share_state.cli.shared.exit_codes import reading
from tests.cli_runner import run
from tests.made_up_log import ACKNOWLEDGED, MadeUpLog
from tests.recordings import JOBS, dump_lines

SEGMENT = "00000000000000000000.log"


class BatchPlace(NamedTuple):
    """Place of a record batch in its segment."""

    position: int
    size: int
    base_offset: int


def batch_places(segment: Path) -> list[BatchPlace]:
    data = segment.read_bytes()
    places = []
    position = 0
    while position < len(data):
        base_offset, length = struct.unpack_from(">qi", data, position)
        places.append(BatchPlace(position, 12 + length, base_offset))
        position += 12 + length
    assert position == len(data)
    return places


def recorded_lines(partition: int, below: int | None = None) -> list[str]:
    lines = []
    for line in dump_lines(JOBS):
        record = json.loads(line)
        if record["partition"] == partition and (below is None or record["offset"] < below):
            lines.append(line)
    return lines


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    copy = tmp_path / "jobs"
    shutil.copytree(JOBS, copy)
    return copy


def test_one_partition_folder_is_a_path(jobs: Path) -> None:
    result = run("dump", jobs / "__share_group_state-1", "--format", "jsonl")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == recorded_lines(1) != []


def test_one_segment_file_is_a_path(jobs: Path) -> None:
    result = run("dump", jobs / "__share_group_state-1" / SEGMENT, "--format", "jsonl")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == recorded_lines(1) != []


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_a_torn_tail_is_reported_after_all_that_is_readable(jobs: Path, cut: int) -> None:
    segment = jobs / "__share_group_state-2" / SEGMENT
    last = batch_places(segment)[-1]
    segment.write_bytes(segment.read_bytes()[: last.position + last.size - cut])
    result = run("dump", jobs, "--format", "jsonl")
    assert result.returncode == 4
    readable = recorded_lines(0) + recorded_lines(1) + recorded_lines(2, below=last.base_offset)
    assert result.stdout.splitlines() == readable
    [finding] = result.stderr.splitlines()
    assert "torn" in finding
    assert SEGMENT in finding
    assert str(last.position) in finding


def test_state_folds_what_lies_before_a_torn_tail(jobs: Path) -> None:
    whole = run("state", jobs, "--format", "jsonl")
    segment = jobs / "__share_group_state-2" / SEGMENT
    segment.write_bytes(segment.read_bytes()[:-1])
    torn = run("state", jobs, "--format", "jsonl")
    assert (whole.returncode, torn.returncode) == (0, 4)
    # The last batch of this segment deletes a key: without it the key is still there.
    [deleted] = set(torn.stdout.splitlines()) - set(whole.stdout.splitlines())
    assert json.loads(deleted)["group"] == "jobs-leaver"
    assert set(whole.stdout.splitlines()) < set(torn.stdout.splitlines())
    [finding] = torn.stderr.splitlines()
    assert "torn" in finding


def test_damage_in_the_middle_is_a_finding(jobs: Path) -> None:
    segment = jobs / "__share_group_state-1" / SEGMENT
    places = batch_places(segment)
    hit = places[len(places) // 2]
    data = bytearray(segment.read_bytes())
    data[hit.position + hit.size - 1] ^= 0xFF
    segment.write_bytes(data)
    result = run("dump", segment, "--format", "jsonl")
    assert result.returncode == 4
    before = recorded_lines(1, below=hit.base_offset)
    printed = result.stdout.splitlines()
    assert printed[: len(before)] == before != []
    assert set(printed) < set(recorded_lines(1))
    assert str(hit.position) in result.stderr
    assert SEGMENT in result.stderr


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_a_missing_path_is_an_io_failure(command: str, tmp_path: Path) -> None:
    result = run(command, tmp_path / "nowhere")
    assert (result.returncode, result.stdout) == (3, "")
    [sentence] = result.stderr.splitlines()
    assert sentence.startswith("share-state: cannot read ")
    assert "nowhere" in sentence


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_the_file_that_cannot_be_read_is_named(command: str, jobs: Path) -> None:
    segment = jobs / "__share_group_state-1" / SEGMENT
    segment.unlink()
    # Nobody can open it, not even root.
    segment.symlink_to(segment.name)
    result = run(command, jobs)
    assert result.returncode == 3
    assert result.stderr == f"share-state: cannot read {jobs}: {segment}: Too many levels of symbolic links\n"


def test_a_folder_that_may_not_be_read_is_named(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(jobs / "__share_group_state-1")
    with pytest.raises(typer.Exit) as left, reading(jobs):
        raise PermissionError(errno.EACCES, "Permission denied (os error 13)", folder)
    assert left.value.exit_code == 3
    assert capsys.readouterr().err == f"share-state: cannot read {jobs}: {folder}: Permission denied\n"


def test_a_path_is_named_once(tmp_path: Path) -> None:
    assert run("state", tmp_path).stderr == (
        f"share-state: cannot read {tmp_path}: expected a directory with __share_group_state-N folders, one such folder, "
        "or a segment\n"
    )
    assert run("state", tmp_path / "x").stderr == f"share-state: cannot read {tmp_path / 'x'}: No such file or directory\n"


@pytest.mark.parametrize("command", ["state", "dump"])
def test_a_directory_without_a_state_log_is_an_io_failure(command: str, tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / SEGMENT).write_bytes(b"")
    result = run(command, tmp_path)
    assert (result.returncode, result.stdout) == (3, "")
    [sentence] = result.stderr.splitlines()
    assert sentence.startswith("share-state: cannot read ")


@pytest.mark.parametrize("command", ["state", "dump"])
def test_looking_changes_nothing(command: str, jobs: Path) -> None:
    before = fingerprint(jobs)
    assert run(command, jobs).returncode == 0
    assert fingerprint(jobs) == before
    assert len(before) == 8


def fingerprint(directory: Path) -> dict[str, tuple[str, int]]:
    """Content and time of change of every file, dot files included."""
    return {
        str(path.relative_to(directory)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in directory.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("command", "status"),
    [("state", 7), ("dump", 7), ("history", 7), ("anomalies", 8)],
    ids=["state", "dump", "history", "anomalies"],
)
def test_records_that_are_missing_between_whole_ones_are_a_hole_and_no_damage(command: str, status: int, tmp_path: Path) -> None:
    log = MadeUpLog()
    log.snapshot(1, complete=0)
    # As compaction leaves it: the last record of a key, and no trace of those before.
    log.skip(3)
    # A count that is too small, for `anomalies` to find.
    for offset in range(4):
        log.update(2, [(offset, offset, ACKNOWLEDGED, 1)], start=0, complete=0)
    result = run(command, log.written(tmp_path / "log"))
    assert result.returncode == status
    assert result.stdout
    [said] = result.stderr.splitlines()
    assert said.startswith("hole: ")
    assert "offset 4 follows where 1 should: records are missing, as where the state topic was compacted (cleanup.policy)" in said
    # Of a log that is damaged as well, that is what counts.
    segment = tmp_path / "log" / "__share_group_state-0" / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-5])
    torn = run(command, tmp_path / "log")
    # 4 and 5.
    assert torn.returncode == status - 3
