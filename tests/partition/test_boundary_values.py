"""Bad values at the Python boundary (bad input D7.63): TypeError, OverflowError or ValueError, and nothing has changed."""

from __future__ import annotations

import math
from collections import UserDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state.errors import InvalidRequestError
from share_state.persister import MemoryPersister

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
KEY = ss.SharePartitionKey("g", TOPIC, 0)


@pytest.fixture
def share_partition() -> ss.SharePartition:
    """Records 0 to 9 are held by alice."""
    made = ss.SharePartition(*KEY)
    made.initialize(ss.ReadStateResult(0, 0, []))
    made.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    return made


def seen(share_partition: ss.SharePartition) -> tuple[object, ...]:
    runs = [repr(run) for run in share_partition.in_flight()]
    return (repr(share_partition), runs, share_partition.counters(), share_partition.writes_under_way)


#: Arguments for which the name of an enum's member will do.
WORDS = {"acknowledge_type", "types", "mode"}
#: Not one of these is a whole number.
NO_NUMBERS: list[Any] = [True, False, 1.0, math.nan, math.inf, "1", b"1", None, [1], 1j, np.float64(1), np.bool_(True), object()]
#: Calls with one argument to be replaced.
NUMBERS: dict[str, Callable[[ss.SharePartition, Any], object]] = {
    "first_offset": lambda sp, x: sp.acknowledge("alice", x, 9, now_ms=0),
    "last_offset": lambda sp, x: sp.acknowledge("alice", 0, x, now_ms=0),
    "acknowledge_type": lambda sp, x: sp.acknowledge("alice", 0, 9, x, now_ms=0),
    "types": lambda sp, x: sp.acknowledge_batches("alice", [(0, 0, [x])], now_ms=0),
    "acknowledge now_ms": lambda sp, x: sp.acknowledge("alice", 0, 9, now_ms=x),
    "fetched": lambda sp, x: sp.acquire("bob", [(x, 20)], now_ms=0, max_records=1),
    "producer_id": lambda sp, x: sp.acquire("bob", [ss.FetchedBatch(10, 20, x)], now_ms=0, max_records=1),
    "max_records": lambda sp, x: sp.acquire("bob", [(10, 20)], now_ms=0, max_records=x),
    "batch_size": lambda sp, x: sp.acquire("bob", [(10, 20)], now_ms=0, max_records=1, batch_size=x),
    "mode": lambda sp, x: sp.acquire("bob", [(10, 20)], now_ms=0, max_records=1, mode=x),
    "aborted": lambda sp, x: sp.acquire("bob", [(10, 20)], now_ms=0, max_records=1, aborted=[(x, 10)]),
    "token": lambda sp, x: sp.handle_write_result(x, now_ms=0),
    "error_code": lambda sp, x: sp.handle_write_result(0, x, now_ms=0),
    "log_start_offset": lambda sp, x: sp.move_log_start_offset(x),
    "fetch_id": lambda sp, x: sp.acquire_fetch_lock(x),
    "handle_timeout now_ms": lambda sp, x: sp.handle_timeout(now_ms=x),
    "release now_ms": lambda sp, x: sp.release("alice", now_ms=x),
    "partition": lambda _, x: ss.SharePartition("g", TOPIC, x),
    "leader_epoch": lambda _, x: ss.SharePartition("g", TOPIC, 0, leader_epoch=x),
    "delivery_count_limit": lambda _, x: ss.GroupConfig(delivery_count_limit=x),
    "state_epoch": lambda _, x: ss.ReadStateResult(x, 0, []),
    "state_batches": lambda _, x: ss.ReadStateResult(0, 0, [(0, 1, 2, x)]),
    "start_offset": lambda _, x: ss.WriteState(0, 0, x, 0, []),
    "delivery_complete_count": lambda _, x: ss.StateSummary(0, 0, 0, x),
    "wall_ms": lambda _, x: ss.ShareCoordinator().initialize("g", TOPIC, 0, 0, 0, wall_ms=x),
    "replay offset": lambda _, x: ss.ShareCoordinator().replay(x, b"", None),
    "persister": lambda _, x: MemoryPersister().reset_state(KEY, x, 0),
    "partitions": lambda _, x: ss.state_partition("g", TOPIC, 0, x),
    "api_key": lambda _, x: ss.decode_message(x, 0, b""),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_only_a_whole_number_is_one(share_partition: ss.SharePartition, name: str) -> None:
    before, refused = seen(share_partition), 0
    for wrong in NO_NUMBERS:
        # Where an enum is meant, text is its name; there is none called "1".
        is_name = name in WORDS and isinstance(wrong, str)
        with pytest.raises(ss.ArgumentValueError if is_name else TypeError):
            NUMBERS[name](share_partition, wrong)
        refused += 1
    assert refused == len(NO_NUMBERS)
    assert seen(share_partition) == before


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_too_large_for_its_field_overflows(share_partition: ss.SharePartition, name: str) -> None:
    before = seen(share_partition)
    for wrong in (2**64, -(2**63) - 1, 10**400):
        with pytest.raises(OverflowError):
            NUMBERS[name](share_partition, wrong)
    assert seen(share_partition) == before


def test_the_numbers_of_other_libraries_are_numbers(share_partition: ss.SharePartition) -> None:
    share_partition.acknowledge("alice", np.int64(0), np.int32(1), np.int8(1), now_ms=np.int64(5))  # type: ignore[arg-type]
    share_partition.acknowledge("alice", 2, 3, ss.AcknowledgeType.REJECT, now_ms=ss.LockTime(5))
    assert share_partition.state_counts() == {"AVAILABLE": 0, "ACQUIRED": 6, "ACKNOWLEDGED": 2, "ARCHIVING": 0, "ARCHIVED": 2}


TEXTS: dict[str, Callable[[ss.SharePartition, Any], object]] = {
    "member": lambda sp, x: sp.acknowledge(x, 0, 9, now_ms=0),
    "acquire member": lambda sp, x: sp.acquire(x, [(10, 20)], now_ms=0, max_records=1),
    "release member": lambda sp, x: sp.release(x, now_ms=0),
    "group": lambda _, x: ss.SharePartition(x, TOPIC, 0),
    "topic_id": lambda _, x: ss.SharePartition("g", x, 0),
    "store": lambda _, x: ss.SharePartition("g", TOPIC, 0, store=x),
    "key": lambda _, x: MemoryPersister().reset_state(ss.SharePartitionKey(x, TOPIC, 0), 0, 0),
    "topics_deleted": lambda _, x: ss.ShareCoordinator().topics_deleted([x]),
    "isolation_level": lambda _, x: ss.GroupConfig(isolation_level=x),
    "coordinator key": lambda _, x: ss.parse_coordinator_key(x),
}


@pytest.mark.parametrize("name", TEXTS)
def test_only_text_is_text(share_partition: ss.SharePartition, name: str) -> None:
    before = seen(share_partition)
    for wrong in (5, b"alice", None, ["alice"], np.str_):
        with pytest.raises(ss.ArgumentTypeError):
            TEXTS[name](share_partition, wrong)
    # A lone surrogate has no UTF-8.
    with pytest.raises(ss.ArgumentValueError, match="without lone surrogates"):
        TEXTS[name](share_partition, "a\ud800")
    assert seen(share_partition) == before


BATCHES: list[tuple[Any, type[Exception]]] = [
    (5, TypeError),
    (None, TypeError),
    ([5], TypeError),
    ("ab", TypeError),
    ([(1,)], ValueError),
    ([(1, 2, 3)], ValueError),
    ([(1, 2, -1, False, 7)], ValueError),
    ([(1, 2, -1, 0, None)], TypeError),
    (np.array([[10, 20]], dtype=np.int32), TypeError),
    (np.array([[10, 20]], dtype=np.uint64), TypeError),
    (np.array([[10.0, 20.0]]), TypeError),
    (np.array([10, 20], dtype=np.int64), TypeError),
    (np.array([[10, 20, 30]], dtype=np.int64), TypeError),
    (np.zeros((1, 1, 2), dtype=np.int64), TypeError),
    (np.array([[10, 20]], dtype=">i8"), TypeError),
]


@pytest.mark.parametrize(("fetched", "error"), BATCHES, ids=[str(index) for index in range(len(BATCHES))])
def test_fetched_is_pairs_or_an_array_of_pairs(share_partition: ss.SharePartition, fetched: Any, error: type[Exception]) -> None:
    before = seen(share_partition)
    for method in (share_partition.acquire, share_partition.acquire_columns):
        with pytest.raises(error):
            method("bob", fetched, now_ms=0, max_records=5)
    assert seen(share_partition) == before


def test_an_array_need_not_be_contiguous(share_partition: ss.SharePartition) -> None:
    wide = np.arange(80, dtype=np.int64).reshape(10, 8)
    wide[0, 0], wide[0, 4], wide[5, 0], wide[5, 4] = 10, 14, 15, 19
    first, last, count = share_partition.acquire_columns("bob", wide[::5, ::4], now_ms=0, max_records=100)
    assert (first.tolist(), last.tolist(), count.tolist()) == ([10], [19], [1])
    assert [str(column.dtype) for column in (first, last, count)] == ["int64", "int64", "int16"]
    offsets = np.arange(10, 20, dtype=np.int64)
    kinds = np.array([1, 9, 2, 9, 3, 9, 1, 9, 1, 9], dtype=np.int8)
    share_partition.acknowledge_columns("bob", offsets[::2], offsets[::2], kinds[::2], now_ms=0)
    assert share_partition.state_counts()["ACKNOWLEDGED"] == 3
    # Backwards is an order of offsets and not of memory: it is refused for what it is.
    with pytest.raises(ss.ShareStateError):
        share_partition.acknowledge_columns("bob", offsets[::-2], offsets[::-2], kinds[::2], now_ms=0)
    fortran = np.asfortranarray(np.array([[20, 24], [25, 29]], dtype=np.int64))
    assert share_partition.acquire("bob", fortran, now_ms=0, max_records=10) == [(20, 29, 1)]


OFFSETS = np.array([0, 1], dtype=np.int64)
KINDS = np.array([1, 1], dtype=np.int8)
COLUMNS: list[tuple[Any, Any, Any, type[Exception]]] = [
    (OFFSETS.astype(np.int32), OFFSETS, KINDS, TypeError),
    (OFFSETS, OFFSETS.astype(np.uint64), KINDS, TypeError),
    (OFFSETS, OFFSETS, KINDS.astype(np.int16), TypeError),
    (OFFSETS, OFFSETS, KINDS.astype(np.uint8), TypeError),
    (OFFSETS.reshape(2, 1), OFFSETS, KINDS, TypeError),
    ([0, 1], OFFSETS, KINDS, TypeError),
    (memoryview(OFFSETS.tobytes()), OFFSETS, KINDS, TypeError),
    (OFFSETS[:1], OFFSETS, KINDS, ValueError),
    (OFFSETS, OFFSETS, KINDS[:0], ValueError),
]


@pytest.mark.parametrize(("first", "last", "kinds", "error"), COLUMNS, ids=[str(index) for index in range(len(COLUMNS))])
def test_columns_have_their_dtype_and_one_length(
    share_partition: ss.SharePartition, first: Any, last: Any, kinds: Any, error: type[Exception]
) -> None:
    before = seen(share_partition)
    with pytest.raises(error):
        share_partition.acknowledge_columns("alice", first, last, kinds, now_ms=0)
    assert seen(share_partition) == before


@pytest.mark.parametrize("types", [5.0, {1: 1}, {1}, iter([1, 1])])
def test_types_are_a_sequence(share_partition: ss.SharePartition, types: Any) -> None:
    before = seen(share_partition)
    with pytest.raises(TypeError):
        share_partition.acknowledge_batches("alice", [(0, 1, types)], now_ms=0)
    assert seen(share_partition) == before


SEQUENCES: list[Any] = [
    [1, 1],
    (1, 1),
    b"\1\1",
    bytearray(b"\1\1"),
    memoryview(b"\1\1"),
    KINDS,
    KINDS.astype(np.int64),
    range(1, 3),
]


@pytest.mark.parametrize("types", SEQUENCES, ids=[type(types).__name__ for types in SEQUENCES])
def test_any_sequence_of_types_is_copied_before_it_is_looked_at(share_partition: ss.SharePartition, types: Any) -> None:
    assert share_partition.acknowledge_batches("alice", [(0, 1, types)], now_ms=0) == 0
    write = share_partition.poll_write()
    assert write is not None
    assert sum(b.last_offset - b.first_offset + 1 for b in write.state.state_batches) == 2


def test_any_mapping_is_a_mapping() -> None:
    properties = UserDict({"share.delivery.count.limit": "7", "group.name": "passed over"})
    assert ss.GroupConfig.from_kafka(properties).delivery_count_limit == 7
    assert ss.GroupConfig.from_kafka({}, UserDict({"group.share.delivery.count.limit": "6"})).delivery_count_limit == 6
    for wrong in ("text", 5, [("a", "b")], {"share.delivery.count.limit": 7}, {5: "7"}):
        with pytest.raises(TypeError):
            ss.GroupConfig.from_kafka(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("aborted", "index"),
    [([(-1, 0)], 0), ([(7, 10), (7, -1)], 1), ([(7, 10), (7, 12)], 1), ([(7, 12), (8, 3), (7, 10)], 0)],
)
def test_a_list_of_aborted_transactions_that_was_not_read(
    share_partition: ss.SharePartition, aborted: list[tuple[int, int]], index: int
) -> None:
    before = seen(share_partition)
    fetched = [ss.FetchedBatch(10, 14, 7, True), ss.FetchedBatch(15, 20, 7, True)]
    with pytest.raises(InvalidRequestError) as refused:
        share_partition.acquire("bob", fetched, now_ms=0, max_records=100, aborted=aborted)
    assert (refused.value.field, refused.value.index, refused.value.value) == ("aborted", index, aborted[index])
    assert seen(share_partition) == before
    # Transactions after what was read have no effect.
    given = share_partition.acquire("bob", fetched, now_ms=0, max_records=100, aborted=[(7, 30), (7, 40)])
    assert [(one.first_offset, one.last_offset) for one in given] == [(10, 20)]
