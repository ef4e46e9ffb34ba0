"""Kafka writes, we read: consumers drive a real broker, and our view of its directory is the broker's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from share_state import SharePartitionKey
from tests.cli_runner import run
from tests.kafka import broker as kafka
from tests.kafka.broker import Broker
from tests.kafka.roundtrip import agree
from tests.kafka.roundtrip.tools import share_groups, wait_until_empty
from tests.kafka.roundtrip.wire import read_all
from tests.kafka.roundtrip.workload import BROKER_SETTINGS, DELETED, LEAVER, TX_WORKERS, Workload

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(400)]


class Phase(NamedTuple):
    """Start of the broker: what it writes with, and what happens to it."""

    #: share.coordinator.state.topic.compression.codec
    codec: int
    #: share.coordinator.snapshot.update.records.per.snapshot
    updates: int
    #: By SIGKILL while members work; it starts again for what is to be compared.
    killed: bool = False
    delete_records: bool = False
    reset: bool = False
    delete_offsets: bool = False


NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
#: As DumpLogSegments calls them.
_NAMES = ("none", "gzip", "snappy", "lz4", "zstd")

LIVES = {
    "4.4.0": [
        Phase(NONE, 20),
        Phase(GZIP, 500, delete_records=True),
        Phase(SNAPPY, 20, killed=True),
        Phase(LZ4, 500, reset=True),
        Phase(ZSTD, 20, delete_offsets=True),
    ],
    "4.3.1": [Phase(NONE, 20, killed=True, delete_records=True), Phase(LZ4, 20, reset=True, delete_offsets=True)],
}

#: A broker that prunes, and deletes segments while we look.
_PRUNED = {
    "share.coordinator.state.topic.prune.interval.ms": "1500",
    "log.retention.check.interval.ms": "1000",
    "log.initial.task.delay.ms": "500",
    "log.segment.delete.delay.ms": "500",
}


@pytest.mark.parametrize("version", LIVES)
def test_our_view_is_the_brokers_own(version: str, tmp_path: Path) -> None:
    phases = LIVES[version]
    directory = tmp_path / "broker"
    directory.mkdir()
    settings = {**BROKER_SETTINGS, **_PRUNED, **_settings(phases[0])}
    with kafka.running(version, directory, settings) as broker:
        before_any_group = run("state", f"kafka://{broker.bootstrap}")
        assert before_any_group.returncode == 3
        assert "a cluster makes it when its first share group comes" in before_any_group.stderr
        workload = Workload(broker, seed=len(phases))
        workload.set_up()
        pruned: dict[int, int] = {}
        segments: set[Path] = set()
        for number, phase in enumerate(phases):
            if number:
                _start_again(broker, phase)
                # No member has come yet, so these are the answers of what the broker has replayed.
                assert not agree.differences(agree.fold(broker.data), read_all(broker.port, workload.keys()))
            workload.run(
                tmp_path / f"phase-{number}",
                delete_records=phase.delete_records,
                kill=phase.killed,
                also=partial(_has_begun_a_segment, broker.data) if phase is phases[-1] else lambda: True,
            )
            assert workload.deleted_below == (DELETED if any(one.delete_records for one in phases[: number + 1]) else 0)
            if phase.killed:
                assert agree.unsettled(agree.fold(broker.data, killed=True), workload.settled()) == []
                broker.start()
            agree.agree_live(broker.data, broker.port, workload.keys())
            assert agree.unsettled(agree.fold(broker.data), workload.settled()) == []
            _administer(broker, workload, phase)
            agree.agree_cluster(broker.data, broker.bootstrap)
            pruned = agree.log_starts(broker.bootstrap)
            broker.stop()
            segments.update(broker.data.glob("__share_group_state-*/*.log"))
            assert _NAMES[phase.codec] in agree.agree_dump(broker.data)
        assert agree.unsettled(agree.fold(broker.data), workload.settled()) == []
    _saw_enough(workload)
    assert max(pruned.values()) > 0
    # More than one a state partition, those already deleted included.
    assert len(segments) > len(pruned)


def _has_begun_a_segment(data: Path) -> bool:
    """Returns true if a log of the state topic has a segment after its first one."""
    return any(int(path.stem) > 0 for path in data.glob("__share_group_state-*/*.log"))


def _settings(phase: Phase) -> dict[str, str]:
    return {
        "share.coordinator.state.topic.compression.codec": str(phase.codec),
        "share.coordinator.snapshot.update.records.per.snapshot": str(phase.updates),
    }


def _start_again(broker: Broker, phase: Phase) -> None:
    # The last line of a name counts.
    with (broker.directory / "server.properties").open("a", encoding="utf-8") as properties:
        properties.writelines(f"{name}={value}\n" for name, value in _settings(phase).items())
    broker.start()


def _administer(broker: Broker, workload: Workload, phase: Phase) -> None:
    """Does what an administrator does to groups without members."""
    if phase.reset:
        key = SharePartitionKey(TX_WORKERS, workload.topic_ids["tx"], 0)
        before = agree.fold(broker.data)[key]
        wait_until_empty(broker, TX_WORKERS)
        share_groups(broker, "--reset-offsets", "--group", TX_WORKERS, "--topic", "tx", "--to-earliest", "--execute")
        workload.forget(TX_WORKERS, "tx")
        after = agree.fold(broker.data)[key]
        assert before["start_offset"] > after["start_offset"] == 0
        assert after["state_epoch"] > before["state_epoch"]
        assert after["batches"] == []
    if phase.delete_offsets:
        assert any(key.group == LEAVER for key in agree.fold(broker.data))
        wait_until_empty(broker, LEAVER)
        share_groups(broker, "--delete-offsets", "--group", LEAVER, "--topic", "orders")
        workload.forget(LEAVER, "orders")
        assert not any(key.group == LEAVER for key in agree.fold(broker.data))
    agree.agree_live(broker.data, broker.port, workload.keys())


def _saw_enough(workload: Workload) -> None:
    outcomes = workload.outcomes()
    for kind in ("ACCEPT", "RELEASE", "REJECT"):
        assert outcomes[kind, True] > 50, outcomes
    # Those of a member that stalled for longer than its locks.
    assert sum(count for (_, succeeded), count in outcomes.items() if not succeeded) > 0, outcomes
    assert workload.vanished > 2
    assert workload.aborted > 2
