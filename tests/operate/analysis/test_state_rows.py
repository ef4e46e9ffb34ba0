"""The states that a log tells: what the fold gives, and the state table shows."""

from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state.cli.state.summary import summarise
from share_state.operate import analysis
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, ARCHIVING, AVAILABLE, MadeUpLog
from tests.recordings import recording_id, recordings

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
