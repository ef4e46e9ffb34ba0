"""Refusals of columnar calls on many share partitions: of what does not fit together, and of one request among others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state.errors import InvalidRequestError
from tests.partition.share_partition_sets import TOPICS, a_leader, a_set, i8, i32, i64, ready


def test_a_share_partition_belongs_to_one_set() -> None:
    one = ready("g", TOPICS[0], 0)
    columns = a_set([one])
    for another in (columns, ss.SharePartitions()):
        with pytest.raises(ValueError, match="belongs to a SharePartitions already"):
            another.add(one)
    with pytest.raises(InvalidRequestError, match="group has 40000 bytes"):
        columns.add(ready("g" * 40_000, TOPICS[0], 0))
    assert columns.add(ready("g", TOPICS[0], 1)) == 1, "what is refused gets no index"


def test_numbers_of_members() -> None:
    columns = a_set(a_leader(1))
    alice, nobody = columns.member("alice"), columns.member("")
    assert columns.member("alice") == alice != columns.member("bob")
    for unknown in (3, -1):
        with pytest.raises(InvalidRequestError, match=f"row 0: {unknown} is no member of this SharePartitions") as refused:
            columns.acquire(i32(0), i32(unknown), i64(0), i64(9), now_ms=0, max_records=10)
        assert (refused.value.field, refused.value.value, refused.value.index) == ("member", unknown, 0)
    assert columns.acquire(i32(0), i32(nobody), i64(0), i64(9), now_ms=0, max_records=10).error_code.tolist() == [42]


@pytest.mark.parametrize(
    ("changed", "field", "value", "index"),
    [
        ({"partition": i32(0, 2)}, "partition", 2, 1),
        ({"partition": i32(0, -1)}, "partition", -1, 1),
        ({"member": i32(0, 1)}, "member", 1, 1),
        ({"member": i32(0)}, "member", 1, None),
        ({"last_offset": i64(9)}, "last_offset", 1, None),
        ({"first_offset": i64(0), "last_offset": i64(9)}, "first_offset", 1, None),
        ({"acknowledge_type": i8(1)}, "acknowledge_type", 1, None),
        ({"request_starts": i64(0, 1)}, "request_starts", 2, None),
        ({"request_starts": i64(0, 1, 3)}, "request_starts", 2, None),
        ({"request_starts": i64(0, -1, 2)}, "request_starts", 2, None),
        ({"request_starts": i64(1, 1, 2)}, "request_starts", 2, None),
    ],
)
def test_columns_that_do_not_fit_change_nothing(changed: dict[str, Any], field: str, value: int, index: int | None) -> None:
    leader = a_leader(2)
    columns = a_set(leader)
    alice = columns.member("alice")
    columns.acquire(i32(0, 1), i32(alice, alice), i64(0, 0), i64(9, 9), now_ms=0, max_records=10)
    before = [repr(one.in_flight()) for one in leader]
    good: dict[str, Any] = {
        "partition": i32(0, 1),
        "member": i32(0, 0),
        "first_offset": i64(0, 0),
        "last_offset": i64(9, 9),
        "acknowledge_type": i8(1, 1),
    }
    with pytest.raises(InvalidRequestError) as refused:
        columns.acknowledge(**(good | changed), now_ms=1)
    assert (refused.value.field, refused.value.value, getattr(refused.value, "index", None)) == (field, value, index)
    assert [repr(one.in_flight()) for one in leader] == before
    codes, _ = columns.acknowledge(**good, now_ms=1)
    assert codes.tolist() == [0, 0]


@pytest.mark.parametrize("bad", [np.zeros(1, np.int16), np.zeros(1), np.zeros((1, 1), np.int32), [0.5], "zero", None])
def test_a_column_of_another_dtype_or_shape_is_refused(bad: object) -> None:
    columns = a_set(a_leader(1))
    with pytest.raises(TypeError, match=r"partition is .*; expected int32 of shape"):
        columns.next_fetch_offset(bad)


def test_a_refused_request_leaves_the_others_alone() -> None:
    leader = a_leader(3)
    columns = a_set(leader)
    alice = columns.member("alice")
    given = columns.acquire(i32(0, 1, 2), i32(alice, alice, alice), i64(0, 5, 0), i64(9, 4, 9), now_ms=0, max_records=10)
    assert (given.error_code.tolist(), given.request.tolist(), len(given)) == ([0, 42, 0], [0, 2], 2)
    codes, tokens = columns.acknowledge(
        i32(0, 1, 2), i32(alice, alice, alice), i64(0, 0, 0), i64(9, 0, 20), i8(1, 1, 1), now_ms=1
    )  # fmt: skip
    assert (codes.tolist(), tokens.tolist()) == ([0, 121, 42], [0, -1, -1])
    assert columns.handle_write_results(i32(0, 0), i64(5, 0), np.zeros(2, np.int16), now_ms=2).tolist() == [42, 0]
    assert leader[0].start_offset == 10


@pytest.mark.parametrize(
    ("changed", "field", "value", "index"),
    [
        ({"partition": i32(1)}, "partition", 1, 0),
        ({"token": i64(0, 0)}, "token", 2, None),
        ({"error_code": np.zeros(2, np.int16)}, "error_code", 2, None),
    ],
)
def test_answers_that_do_not_fit_are_told_to_nobody(changed: dict[str, Any], field: str, value: int, index: int | None) -> None:
    one = ready("g", TOPICS[0], 0)
    columns = a_set([one])
    one.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    token = one.acknowledge("alice", 0, 9, now_ms=1)
    assert columns.poll_writes().token.tolist() == [token]
    good: dict[str, Any] = {"partition": i32(0), "token": i64(0), "error_code": np.zeros(1, np.int16)}
    with pytest.raises(InvalidRequestError) as refused:
        columns.handle_write_results(**(good | changed), now_ms=1)
    assert (refused.value.field, refused.value.value, refused.value.index) == (field, value, index)
    assert (one.writes_under_way, one.start_offset) == (1, 0)
    assert columns.handle_write_results(**good, now_ms=1).tolist() == [0]
    assert one.start_offset == 10
