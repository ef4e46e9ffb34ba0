"""Kafka's recorded results hold on both stores.

The random sequences (share_partition_fuzz_*) have open differences and are not judged here yet: run
`python -m tests.conformance` on that file to see them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.__main__ import main

RECORDINGS = Path(__file__).parents[3] / "shared" / "conformance"
FILES = {
    "combiner_fuzz.json.gz": 2513,
    "combiner_table.json": 30,
    "offsets_manager_trunk.json": 12,
    "probes_reference_quirks.json": 84,
    "record_serde_4.2.json": 13,
    "record_serde_trunk.json": 13,
    "share_coordinator_shard_4.2.json": 19,
    "share_coordinator_shard_trunk.json": 29,
    "share_partition_trunk.json": 372,
}


def test_the_recordings_agree(capsys: pytest.CaptureFixture[str]) -> None:
    # All in one run: the cap on skips counts over the files together.
    code = main([str(RECORDINGS / name) for name in FILES])
    shown = capsys.readouterr().out
    for name, ran in FILES.items():
        assert f"{name} run={ran} agree={ran} differ=0" in shown, shown
    assert code == 0
