"""Refusals of the follower of a state topic, and bytes that are none of Kafka's."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state._core import StateTopicFollower
from share_state.operate import analysis
from share_state.operate.analysis.anomaly import AnomalyConfig
from tests.recordings import JOBS

KEY = ss.SharePartitionKey("workers", str(UUID(int=1)), 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("state_partition", -1), ("state_partition", 2**32), ("start", -1), ("start", 2**64), ("end", 2**64), ("end", "1")],
)
def test_an_argument_that_cannot_be_is_named(name: str, value: object) -> None:
    follower = StateTopicFollower()
    arguments = {"state_partition": 0, "data": b"", "start": 0, "end": None, name: value}
    with pytest.raises((ValueError, OverflowError, TypeError), match=name):
        follower.take(**arguments)  # type: ignore[arg-type]


def test_bytes_that_are_no_batches_are_told_and_change_nothing() -> None:
    follower = StateTopicFollower()
    assert follower.take_path(JOBS) == []
    before, places = follower.changes(), follower.places()
    for data in (b"\xff" * 100, bytes(100), b"short"):
        next_offset, (start, end), refused = follower.take(0, data)
        assert next_offset == places[0]["next_offset"]
        assert start == end
        assert bool(refused) == (len(data) == 100)
        # Beyond its end there is nothing.
        assert follower.take(0, data, 1_000, 2_000)[2] == []
    assert follower.places() == places
    assert follower.changes() == ([], [])
    rows, gone = before
    # The log holds deletions too.
    assert not {row[:3] for row in rows} & {tuple(key) for key in gone}
    assert {row[:3]: row.start_offset for row in rows} == {
        (state["group"], state["topic_id"], state["partition"]): state["start_offset"] for state in analysis.fold_path(JOBS)[0]
    }
    for row in rows:
        assert follower.state_batches(ss.SharePartitionKey(*row[:3])) is not None
    assert follower.state_batches(ss.SharePartitionKey("nobody", rows[0].topic_id, 0)) is None


def test_who_begins_again_tells_what_is_gone() -> None:
    follower = StateTopicFollower()
    follower.take_path(JOBS)
    rows, _ = follower.changes()
    number = rows[0].state_partition
    follower.begin(number, 5)
    again, gone = follower.changes()
    assert again == []
    assert sorted(map(tuple, gone)) == sorted(row[:3] for row in rows if row.state_partition == number)
    place = follower.places()[number]
    assert (place["next_offset"], place["needed_from"], place["share_partitions"]) == (5, None, 0)
    assert repr(follower).startswith("StateTopicFollower(state_partitions=")


def made_up(tmp_path: Path) -> Path:
    """A log in which a record is archived with its second delivery, and another with its first."""
    log = tmp_path / "log"
    with ss.open(log, partitions=1) as store:
        store.reset_state(KEY, 0, 0)
        for complete, batch in ((0, (0, 0, 0, 1)), (1, (0, 0, 4, 2)), (2, (1, 1, 4, 1))):
            store.write_state(KEY, ss.WriteState(0, 0, 0, complete, [ss.StateBatch(*batch)]))
    return log


def test_anomalies_are_those_since_a_time(tmp_path: Path) -> None:
    follower = StateTopicFollower()
    assert follower.anomalies(5) == (5, [])
    follower.configure(AnomalyConfig(delivery_count_limit=2, record_lock_duration_ms=60_000))
    assert follower.take_path(made_up(tmp_path)) == []
    since, [found] = follower.anomalies(0)
    assert (since, found.kind, found.first_offset, found.until_timestamp) == (0, "poison_record", 0, found.since_timestamp)
    assert follower.anomaly_counts(0) == (0, [(KEY, {"poison_record": 1})])
    assert follower.anomalies(found.since_timestamp) == (found.since_timestamp, [found])
    after = found.since_timestamp + 1
    assert follower.anomaly_counts(after) == (after, [])
    # What was let go does not come back, and that is said.
    assert follower.anomalies(0) == (after, [])


def test_other_thresholds_are_those_of_what_is_read_later(tmp_path: Path) -> None:
    follower = StateTopicFollower()
    follower.configure(AnomalyConfig(delivery_count_limit=9))
    follower.take_path(made_up(tmp_path))
    assert follower.anomalies(0) == (0, [])
    follower.begin(0, 0)
    follower.configure(AnomalyConfig(delivery_count_limit=1))
    follower.take_path(tmp_path / "log")
    assert [one.first_offset for one in follower.anomalies(0)[1]] == [0, 1]


@pytest.mark.parametrize("config", [None, 1, AnomalyConfig])
def test_thresholds_that_are_none_change_nothing(tmp_path: Path, config: object) -> None:
    follower = StateTopicFollower()
    follower.configure(AnomalyConfig(delivery_count_limit=2))
    with pytest.raises((AttributeError, TypeError)):
        follower.configure(config)  # type: ignore[arg-type]
    follower.take_path(made_up(tmp_path))
    assert len(follower.anomalies(0)[1]) == 1
