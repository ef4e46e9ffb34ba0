"""Operation logs: Python reads what Rust writes, and every engine of ours has the same results."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from benches.faces.__main__ import Face
from benches.oplog import Digest, Kind, NoOperationLogError, OpLog
from tests.proof.benches.program import generate, program, replay

#: The first test waits for cargo.
pytestmark = pytest.mark.timeout(900)

# Small enough for an unoptimised build.
WORKLOADS = {
    "W1": 10,
    "W2": 5_000,
    "W3": 10,
    "W4": 10,
    "W4-together": 2_000,
    "W5": 1_000,
    "W6": 1_000,
    "W6-next": 200,
    "W6-cycle": 200,
    "W7": 200,
    "W7-exploded": 10_000,
    "W7-jittered": 600,
    "W8": 200,
    "W9": 600,
    "W10": 3_000,
    "W13-uniform": 100,
    "W13-zipf": 100,
    "W14": 5,
    "W15-jump": 2_000,
    "W15-gaps": 1_000,
    "W16": 500,
}
FOLDS = {"W11": 50, "encode": 20}


def test_a_log_is_read_as_it_was_written(tmp_path: Path) -> None:
    log = OpLog.read(generate("W5", 1_000, tmp_path))
    assert (log.workload, log.size, log.seed, log.partitions, len(log.members)) == ("W5", 1_000, 1, 1, 32)
    kinds = log.ops["kind"]
    acknowledged = int((kinds == Kind.ACKNOWLEDGE).sum())
    assert acknowledged == log.elements
    assert acknowledged > 1_000, "what was released and renewed is acknowledged again"
    assert [int((kinds == kind).sum()) for kind in (Kind.BEGIN, Kind.END, Kind.CHECK)] == [1, 1, 1]
    first = log.ops[0]
    assert (first["kind"], first["first"], first["last"]) == (Kind.ACQUIRE, 0, 499)
    shares = [int((log.ops["arg"][kinds == Kind.ACKNOWLEDGE] == of).sum()) / acknowledged for of in (1, 2, 3, 4)]
    assert shares == pytest.approx([0.9, 0.05, 0.04, 0.01], abs=0.03)


def test_the_same_seed_makes_the_same_log(tmp_path: Path) -> None:
    once = generate("W13-zipf", 50, tmp_path).read_bytes()
    assert generate("W13-zipf", 50, tmp_path).read_bytes() == once


@pytest.mark.parametrize("cut", [0, 50, 96, -1])
def test_a_log_that_is_cut_off_is_refused(cut: int, tmp_path: Path) -> None:
    path = generate("W9", 300, tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(NoOperationLogError):
        OpLog.read(path)


def test_types_and_batches_come_from_the_blob(tmp_path: Path) -> None:
    log = OpLog.read(generate("W2", 2_000, tmp_path))
    each = log.ops[log.ops["kind"] == Kind.ACKNOWLEDGE_EACH]
    assert log.types(each[0]) == bytes([1]) * 2_000
    folds = OpLog.read(generate("W11", 50, tmp_path))
    batches = folds.batches(folds.ops[0]).tolist()
    assert [batch[:3] for batch in batches[:2]] == [(0, 9, 2), (10, 19, 2)]
    assert len(batches) == 50


@pytest.mark.parametrize("workload", WORKLOADS)
def test_all_engines_agree(workload: str, tmp_path: Path) -> None:
    path = generate(workload, WORKLOADS[workload], tmp_path)
    found = replay(path, "tree")
    assert found["digest"] is not None
    if workload not in ("W2", "W14", "W16"):  # an entry an offset takes its time
        assert replay(path, "twin")["digest"] == found["digest"]
    log = OpLog.read(path)
    for face in ("scalar", "columnar"):
        played = Face(log, face, 900)
        assert played.results["digest"] == found["digest"], face
        assert played.answer("replays", 2)["ns"] > 0
        assert played.answer("tails", 1)["tails"]
        if face == "scalar":
            assert [played.results[name] for name in ("writes", "batches", "bytes")] == [
                found[name] for name in ("writes", "batches", "bytes")
            ]


def test_an_engine_that_does_not_fold_refuses_a_log_of_folds(tmp_path: Path) -> None:
    command = [str(program()), "run", str(generate("W11", 50, tmp_path)), "--engine", "twin"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "oplog: twin does not replay this log\n")


@pytest.mark.parametrize("workload", FOLDS)
def test_folds_and_codecs_agree(workload: str, tmp_path: Path) -> None:
    path = generate(workload, FOLDS[workload], tmp_path)
    found = replay(path, "tree")
    faces = ["scalar", "kio"] if workload == "encode" else ["scalar"]
    for face in faces:
        played = Face(OpLog.read(path), face, 900)
        assert played.results["digest"] == found["digest"], face
        assert played.answer("replays", 1)["ns"] > 0


def test_the_digest_is_the_polynomial_over_what_was_given() -> None:
    digest = Digest()
    digest.grant(0, 4, 1)
    digest.grant(5, 9, 1)  # touches
    digest.grant(10, 12, 2)
    digest.end(0)
    digest.offset(-1)
    expected = 0
    for value in (0, 9, 1, 10, 12, 2, -(2**63) + 65_536, -1):
        expected = (expected * 0x9E3779B97F4A7C15 + value) % 2**64
    assert digest.value() == f"{expected:016x}"


def test_a_long_digest_goes_over_blocks() -> None:
    digest = Digest()
    values = np.random.default_rng(1).integers(-(2**62), 2**62, 200_000).tolist()
    expected = 0
    for value in values:
        digest.offset(value)
        expected = (expected * 0x9E3779B97F4A7C15 + value) % 2**64
    assert digest.value() == f"{expected:016x}"
