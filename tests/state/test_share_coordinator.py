"""A share coordinator from Python: what goes in and out, and what is refused how. Its rules are tested in Rust."""

from __future__ import annotations

from typing import Any

import pytest

from share_state import Decision, ReadStateResult, Record, ShareCoordinator, StateBatch, StateSummary, WriteState
from share_state.errors import (
    FencedLeaderEpochError,
    FencedStateEpochError,
    InvalidRequestError,
    ShareStateError,
    UnknownPartitionError,
    WireDecodeError,
)

ORDERS = "00000000-0000-0000-0000-000000000001"
KEY = ("g", ORDERS, 3)
ACCEPTED = StateBatch(5, 9, 2, 1)


class Log:
    """A coordinator whose decisions are replayed at the next offset, as a caller does."""

    def __init__(self) -> None:
        self.coordinator = ShareCoordinator(snapshot_update_records_per_snapshot=1, cold_partition_snapshot_interval_ms=100)
        self.records: list[Record] = []

    def append(self, records: list[Record]) -> None:
        for record in records:
            assert self.coordinator.replay(len(self.records), record.key, record.value)
            self.records.append(record)

    def take(self, decision: Decision) -> object:
        self.append(decision.records)
        return decision.answer


def written() -> Log:
    """A state that starts at 5, was read by leader 2 and has one write."""
    log = Log()
    assert log.take(log.coordinator.initialize(*KEY, 1, 5, wall_ms=10)) is None
    assert log.take(log.coordinator.read(*KEY, 2, wall_ms=20)) == ReadStateResult(1, 5, [])
    assert log.take(log.coordinator.write(*KEY, WriteState(1, 2, 5, 5, [ACCEPTED]), wall_ms=30)) is None
    return log


def test_each_verb_decides_and_its_replay_is_the_state() -> None:
    log = written()
    coordinator = log.coordinator
    assert len(log.records) == 3
    assert coordinator.summary(*KEY) == StateSummary(1, 2, 5, 5)
    state = {
        "group": "g",
        "topic_id": ORDERS,
        "partition": 3,
        "state_epoch": 1,
        "leader_epoch": 2,
        "start_offset": 5,
        "delivery_complete_count": 5,
        "batches": [ACCEPTED],
        "incomplete": False,
        "max_leader_epoch": 2,
        "max_state_epoch": 1,
    }
    shown = coordinator.state(*KEY)
    assert shown is not None
    assert shown.items() >= state.items()
    assert [entry["batches"] for entry in coordinator.states()] == [[ACCEPTED]]
    assert coordinator.state("other", ORDERS, 3) is None

    assert coordinator.cold_snapshots(wall_ms=100) == []
    (cold,) = coordinator.cold_snapshots(wall_ms=1_000)
    log.append([cold])
    assert coordinator.last_redundant_offset() == 3
    (deleted,) = coordinator.topics_deleted([ORDERS])
    assert (deleted.key, deleted.value) == (cold.key, None)
    assert coordinator.topics_deleted(["00000000-0000-0000-0000-000000000002"]) == []

    assert log.take(coordinator.delete(*KEY)) is None
    assert (coordinator.states(), coordinator.last_redundant_offset()) == ([], 4)


def test_a_log_that_is_replayed_gives_the_same_coordinator() -> None:
    log = written()
    other = ShareCoordinator()
    for offset, record in enumerate(log.records):
        assert other.replay(offset, record.key, record.value)
    assert other.states() == log.coordinator.states()
    # A type of records that this release does not know is passed over.
    assert not other.replay(9, b"\x00\x09", None)
    with pytest.raises(WireDecodeError):
        other.replay(9, b"\x00", None)


@pytest.mark.parametrize(
    ("refused", "error", "code"),
    [
        (lambda c: c.initialize(*KEY, 0, 5, wall_ms=40), FencedStateEpochError, 124),
        (lambda c: c.read(*KEY, 1, wall_ms=40), FencedLeaderEpochError, 74),
        (lambda c: c.write(*KEY, WriteState(1, 1, 5, 0, []), wall_ms=40), FencedLeaderEpochError, 74),
        (lambda c: c.write(*KEY, WriteState(1, 2, 5, 0, [StateBatch(9, 8, 2, 1)]), wall_ms=40), InvalidRequestError, 42),
        (lambda c: c.read(*KEY, 3, wall_ms=40, topic_exists=False), UnknownPartitionError, 3),
        (lambda c: c.delete(*KEY, topic_exists=False), UnknownPartitionError, 3),
        (lambda c: c.summary("g", ORDERS, -1), InvalidRequestError, 42),
    ],
)
def test_refusals_are_errors_with_codes_and_change_nothing(refused: Any, error: type[ShareStateError], code: int) -> None:
    log = written()
    before = log.coordinator.states()
    with pytest.raises(error) as raised:
        refused(log.coordinator)
    assert raised.value.kafka_code == code
    assert log.coordinator.states() == before
