"""Columns of numbers: what is taken for what is expected, and what is refused with its name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from share_state.errors import ArgumentRangeError
from tests.partition.share_partition_sets import a_leader, a_set


@pytest.mark.parametrize("rows", [1, 3, 5_000])
def test_an_int64_column_is_taken_for_a_narrower_one_where_each_number_fits(rows: int) -> None:
    columns = a_set(a_leader(rows))
    alice = columns.member("alice")
    numbers, members, zeros = np.arange(rows), np.full(rows, alice), np.zeros(rows, np.int64)
    assert numbers.dtype == np.int64
    acquired = columns.acquire(numbers, members, zeros, zeros, now_ms=0, max_records=7)
    assert acquired.error_code.tolist() == [0] * rows
    # A view of every second row is as good.
    codes, _ = columns.acknowledge(numbers, members, zeros, zeros, np.ones(2 * rows, np.int64)[::2], now_ms=1)
    assert codes.tolist() == [0] * rows
    for column, wrong, limits in (
        ("partition", 2**31, "-2147483648 to 2147483647"),
        ("member", -(2**31) - 1, "-2147483648 to 2147483647"),
        ("acknowledge_type", 128, "-128 to 127"),
    ):
        asked: dict[str, Any] = {"partition": numbers, "member": members, "acknowledge_type": np.ones(rows, np.int64)}
        asked[column] = asked[column].copy()
        asked[column][-1] = wrong
        with pytest.raises(ArgumentRangeError, match=f"{column} is {wrong}; expected {limits}") as refused:
            columns.acknowledge(first_offset=zeros, last_offset=zeros, now_ms=1, **asked)
        assert (refused.value.field, refused.value.value) == (column, wrong)
