"""Replays over a store: every engine keeps what it persists, in each way in which writes reach the disk."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from benches.faces import __main__ as faces
from benches.faces import kept
from benches.oplog import OpLog
from benches.plan import DURABILITIES
from tests.proof.benches.program import generate, program, replay

if TYPE_CHECKING:
    from pathlib import Path

#: Small size of each workload.
WORKLOADS = {"W1-durable": 10, "W4-durable": 200, "W13-durable": 8}


@pytest.mark.parametrize("durability", [way for way in DURABILITIES if way != "always"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_face_is_timed_over_a_store_that_holds_what_it_persists(workload: str, durability: str, tmp_path: Path) -> None:
    """Not with sync always inside the calls: 2,000 syncs take too long on some disks, and the polled way syncs always too."""
    path = generate(workload, WORKLOADS[workload], tmp_path)
    rust = replay(path, "tree", "--durable", durability, "--dir", str(tmp_path), replays=1)
    assert rust["ns"]
    writes, commits = int(str(rust["writes"])), int(float(str(rust["commits"])))
    assert commits < writes / 10 if durability == "polled" else commits == writes
    for face in ("scalar", "columnar"):
        found = faces.Face(OpLog.read(path), face, durable=durability, directory=tmp_path)
        assert found.results["digest"] == rust["digest"], face
        assert found.once() > 0, face
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


def test_sync_always_syncs_every_write(tmp_path: Path) -> None:
    path = generate("W4-durable", 40, tmp_path)
    rust = replay(path, "tree", "--durable", "always", "--dir", str(tmp_path), replays=1)
    assert (rust["writes"], rust["commits"]) == (20, 20)
    assert faces.Face(OpLog.read(path), "scalar", durable="always", directory=tmp_path).once() > 0


def test_a_store_that_lost_a_write_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(_: kept.Kept, share_partitions: object, now_ms: int) -> None:
        """Confirms without writing."""
        for at in share_partitions:  # type: ignore[attr-defined]
            while (write := at.poll_write()) is not None:
                at.handle_write_result(write.token, now_ms=now_ms)

    monkeypatch.setattr(kept.Kept, "commit", forgetful)
    log = OpLog.read(generate("W4-durable", 40, tmp_path))
    with pytest.raises(faces.NotKeptError, match="W4-durable, polled"):
        faces.Face(log, "scalar", durable="polled", directory=tmp_path).once()


def test_the_commits_that_kafka_appends_are_those_of_the_store(tmp_path: Path) -> None:
    path = generate("W4-durable", 400, tmp_path)
    command = [str(program()), "commits", str(path), str(tmp_path / "store"), "--durable", "polled"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (segment,) = (tmp_path / "store").glob("*/*.log")
    data, lengths = segment.read_bytes(), []
    while data:
        lengths.append(12 + int.from_bytes(data[8:12], "big"))
        data = data[lengths[-1] :]
    assert said.strip() == f'{{"commits": 1, "bytes": {lengths[1]}}}'
    assert len(lengths) == 2


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    path = generate("W4-durable", 40, tmp_path)
    command = [str(program()), "run", str(path), "--durable", "sometimes"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr == "oplog: durability sometimes: expected never, interval, always or polled\n"
    command = [str(program()), "run", str(path), "--durable", "never", "--engine", "twin"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stderr == "oplog: twin is not timed over a store\n"
