"""The sentence that says why a start offset stands where it stands."""

import pytest

from share_state.operate.analysis.start_offset_reason import explain_start_offset
from share_state.types import StateBatch

AVAILABLE, ACKNOWLEDGED, ARCHIVING, ARCHIVED = 0, 2, 3, 4


#: Records that members hold are not written, so nobody may call them not in flight.
UNWRITTEN = "acquired for the first time, or never delivered"


@pytest.mark.parametrize(
    ("start_offset", "batches", "oldest_unsettled", "text"),
    [
        pytest.param(
            -1,
            [],
            None,
            "not resolved yet: share.auto.offset.reset decides when records are first fetched",
            id="not-resolved",
        ),
        pytest.param(0, [], None, f"nothing is written about offsets from 0 on: {UNWRITTEN}", id="empty"),
        pytest.param(
            789,
            [(789, 789, ARCHIVED, 3), (790, 828, ACKNOWLEDGED, 1)],
            None,
            f"nothing is written about offsets from 829 on: {UNWRITTEN}; 789-828 are settled and passed with the next write",
            id="all-settled",
        ),
        pytest.param(
            1255,
            [(1255, 1255, ARCHIVED, 3), (1256, 1257, ACKNOWLEDGED, 1), (1258, 1258, AVAILABLE, 2)],
            1258,
            "record 1258 is available after 2 deliveries; 1255-1257 are settled and passed with the next write",
            id="available",
        ),
        pytest.param(
            5,
            [(5, 9, AVAILABLE, 1)],
            5,
            "records 5-9 are available after 1 delivery",
            id="available-at-the-start",
        ),
        pytest.param(
            5,
            [(5, 5, ACKNOWLEDGED, 1), (8, 9, ACKNOWLEDGED, 1)],
            6,
            "offsets 6-7 were never settled: acquired for the first time, or never delivered; "
            "5 is settled and passed with the next write",
            id="hole",
        ),
        pytest.param(
            5,
            [(6, 9, AVAILABLE, 1)],
            5,
            "offset 5 was never settled: acquired for the first time, or never delivered",
            id="hole-at-the-start",
        ),
        pytest.param(
            5,
            [(5, 5, ARCHIVING, 5)],
            5,
            "record 5 is archiving: the dead-letter write is not finished",
            id="archiving",
        ),
        pytest.param(
            5,
            [(5, 6, 9, 1)],
            5,
            "records 5-6 are in state 9, which this version does not know",
            id="unknown-state",
        ),
        pytest.param(
            7,
            [(0, 4, AVAILABLE, 1), (5, 9, AVAILABLE, 3)],
            7,
            "records 7-9 are available after 3 deliveries",
            id="what-lies-below-the-start-offset-does-not-count",
        ),
    ],
)
def test_explanation(
    start_offset: int, batches: list[tuple[int, int, int, int]], oldest_unsettled: int | None, text: str
) -> None:
    reason = explain_start_offset(start_offset, [StateBatch(*batch) for batch in batches])
    assert reason.text == text
    assert reason.oldest_unsettled == oldest_unsettled
