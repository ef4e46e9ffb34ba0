"""The states that a log tells, now and as of earlier: what the fold gives of the same prefix."""

from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state.cli.state.summary import summarise
from share_state.operate import analysis
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, ARCHIVING, AVAILABLE, MadeUpLog
from tests.recordings import JOBS, ORDERS, recording_id, recordings

each_recording = pytest.mark.parametrize("directory", recordings(), ids=recording_id)


def agrees(row: analysis.StateRow, state: dict[str, Any]) -> bool:
    names = ("snapshot_epoch", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "incomplete")
    return all(getattr(row, name) == state[name] for name in names) and list(row.batches) == state["batches"]


@each_recording
def test_the_states_of_now_are_those_of_the_fold_and_of_the_state_table(directory: Path) -> None:
    rows = {row[:3]: row for row in analysis.states(directory)}
    folded, _ = analysis.fold_path(directory)
    assert len(rows) == len(folded) > 0
    for state in folded:
        row = rows[(state["group"], state["topic_id"], state["partition"])]
        assert agrees(row, state)
        summary = summarise(state)  # type: ignore[arg-type]  # the dict of the extension
        figures = (summary.available, summary.acknowledged, summary.archiving, summary.archived, summary.window_end)
        assert (row.available, row.acknowledged, row.archiving, row.archived, row.end_offset) == figures
        assert row.oldest_unsettled == summary.oldest_unsettled
        assert max((count for count, _ in row.delivery_counts), default=0) == summary.highest_delivery_count
        assert sum(records for _, records in row.delivery_counts) == sum(figures[:4])
        assert row.oldest_write <= row.newest_write


@pytest.mark.parametrize("directory", [ORDERS, JOBS], ids=recording_id)
def test_a_state_as_of_an_offset_is_the_fold_of_that_prefix(directory: Path) -> None:
    records = list(analysis.scan_path(directory))
    compared = 0
    for last in (0, 1, 25, 99, 250, 10_000):
        coordinators: dict[int, ss.ShareCoordinator] = {}
        for state_partition, _segment, offset, _timestamp, key, value in records:
            if offset <= last:
                coordinators.setdefault(state_partition, ss.ShareCoordinator()).replay(offset, key, value)
        rows = list(analysis.states(directory, as_of_offset=last))
        assert rows == list(analysis.states(directory, as_of_offset=dict.fromkeys(range(3), last)))
        assert len(rows) == sum(len(coordinator.states()) for coordinator in coordinators.values())
        for row in rows:
            state = coordinators[row.state_partition].state(*row[:3])
            assert state is not None
            assert agrees(row, {"incomplete": False, **state})
            compared += 1
    assert compared >= 20


def test_a_state_as_of_a_time_is_that_of_the_records_up_to_it() -> None:
    timestamps = sorted({row.at_timestamp for row in analysis.history(JOBS)})
    for moment in timestamps[:: len(timestamps) // 5]:
        ends: dict[int, int] = {}
        late: set[int] = set()
        for state_partition, _segment, offset, timestamp, _key, _value in analysis.scan_path(JOBS):
            if timestamp > moment:
                late.add(state_partition)
            elif state_partition not in late:
                ends[state_partition] = offset
        whole = {state_partition: ends.get(state_partition, -1) for state_partition in range(3)}
        assert list(analysis.states(JOBS, as_of_timestamp=moment)) == list(analysis.states(JOBS, as_of_offset=whole))
    assert list(analysis.states(JOBS, as_of_timestamp=timestamps[0] - 1)) == []
    assert list(analysis.states(JOBS, as_of_timestamp=timestamps[-1])) == list(analysis.states(JOBS))


def test_the_fields_of_a_state() -> None:
    log = MadeUpLog()
    log.snapshot(7, [(3, 5, ACKNOWLEDGED, 1), (6, 6, ARCHIVING, 2), (7, 9, AVAILABLE, 2), (12, 12, ARCHIVED, 5)], start=4)
    log.snapshot(8, partition=1)
    log.tombstone(9, partition=1)
    log.update(11, [(10, 10, AVAILABLE, 2)])
    [row] = analysis.states_of_rows(log.rows)
    assert (row.available, row.acknowledged, row.archiving, row.archived) == (4, 2, 1, 1)
    assert row.delivery_counts == ((1, 2), (2, 5), (5, 1))
    assert (row.start_offset, row.end_offset, row.oldest_unsettled) == (4, 12, 6)
    assert (row.oldest_write, row.newest_write, row.incomplete) == (7, 11, False)
    assert row.batches[2] == ss.StateBatch(7, 10, AVAILABLE, 2)
    log = MadeUpLog()
    log.update(11, [(10, 10, AVAILABLE, 2)])
    [row] = analysis.states_of_rows(log.rows)
    assert (row.incomplete, row.start_offset, row.oldest_unsettled) == (True, -1, None)
