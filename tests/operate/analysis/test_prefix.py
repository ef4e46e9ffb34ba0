"""As far as a state partition counts, where a log is looked at as of earlier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import share_state as ss
from share_state.operate.reading.as_of import AsOf

PLACES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8)
ENDS = st.none() | st.integers(-1, 9)


@given(PLACES, ENDS, ENDS)
def test_so_many_records_stand_before_the_first_that_does_not_count(
    places: list[tuple[int, int]], last: int | None, latest: int | None
) -> None:
    prefix = AsOf(last, latest).prefix(0)
    expected = 0
    for offset, timestamp in places:
        if (last is not None and offset > last) or (latest is not None and timestamp > latest):
            break
        expected += 1
    offsets, timestamps = (np.array([place[i] for place in places], np.int64) for i in (0, 1))
    assert prefix.count(offsets, timestamps) == expected
    assert prefix.last_offset == last


def test_a_mapping_ends_the_state_partitions_that_it_names() -> None:
    as_of = AsOf({3: 7}, ss.WallTime(100))
    assert [as_of.prefix(number).last_offset for number in (3, 4, -1, 2**40)] == [7, None, None, None]
    assert as_of.prefix(3).reaches(7, 100)
    assert not as_of.prefix(3).reaches(8, 100)
    assert not as_of.prefix(4).reaches(8, 101)
    # An offset for all ends also what has the number of no state partition.
    assert AsOf(5).prefix(-1).last_offset == 5


def test_columns_of_another_type_are_refused() -> None:
    with pytest.raises(TypeError, match="offsets"):
        AsOf(5).prefix(0).count([1, 2], np.zeros(2, np.int64))
    with pytest.raises(TypeError, match="timestamps"):
        AsOf(5).prefix(0).count(np.zeros(2, np.int64), np.zeros(2, np.int32))
