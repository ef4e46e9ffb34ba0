"""A broker in a thread that plays a state topic: from the directory of a recording, or from batches that a test makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from share_state._core import log_ends
from share_state.kafka.client.peers import Address, parse_bootstrap
from tests.operate.live.fake_cluster import FakeCluster, served

#: The address of whatever cluster is played.
ADDRESS = "kafka://played:9092"


def cluster_of(directory: Path) -> FakeCluster:
    """A cluster with the state topic of a directory."""
    ends = log_ends(directory)
    starts = {partition: start for partition, start, _ in ends}
    return FakeCluster(directory, state_partitions=max(starts) + 1, log_starts=starts)


def log_of(directory: Path, batches: Mapping[int, Sequence[bytes]]) -> Path:
    """A directory with batches by state partition, in the order of their offsets."""
    for partition, of in batches.items():
        folder = directory / f"__share_group_state-{partition}"
        folder.mkdir(parents=True)
        (folder / f"{0:020}.log").write_bytes(b"".join(of))
    return directory


@contextmanager
def playing(monkeypatch: pytest.MonkeyPatch, cluster: FakeCluster) -> Iterator[FakeCluster]:
    """Let all that reads a cluster read the played one. Nobody plays what the commands ask of groups."""

    def bootstrap(text: str) -> list[Address]:
        return parse_bootstrap(cluster.bootstrap if text == ADDRESS.removeprefix("kafka://") else text)

    monkeypatch.setattr("share_state.operate.reading.asking.parse_bootstrap", bootstrap)
    monkeypatch.setattr("share_state.cli.anomalies.command.about_groups", lambda *_: ({}, {}))
    with served(cluster):
        yield cluster
