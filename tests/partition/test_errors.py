"""The tree of exceptions: its classes, their Kafka codes, and the facts that they carry."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state import errors
from share_state.errors import ShareStateError
from share_state.persister import MemoryPersister

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
KEY = ss.SharePartitionKey("g", TOPIC, 0)

#: Class: its code for the wire, and the builtin that it also is.
TREE: dict[str, tuple[int | None, type[Exception]]] = {
    "ConfigError": (None, ValueError),
    "CorruptLogError": (2, Exception),
    "CorruptStateError": (None, Exception),
    "EnginePoisonedError": (None, RuntimeError),
    "FencedLeaderEpochError": (74, Exception),
    "FencedStateEpochError": (124, Exception),
    "InvalidRecordStateError": (121, Exception),
    "InvalidRequestError": (42, ValueError),
    "InvalidShareSessionEpochError": (123, Exception),
    "LimitExceededError": (None, Exception),
    "NotAHistoryError": (None, ValueError),
    "PersisterError": (None, Exception),
    "RowError": (None, ValueError),
    "SessionLimitError": (133, Exception),
    "ShareGroupError": (None, Exception),
    "ShareSessionNotFoundError": (122, Exception),
    "StoreError": (None, OSError),
    "UnknownPartitionError": (3, Exception),
    "UnsupportedVersionError": (35, Exception),
    "WireDecodeError": (42, ValueError),
    "ArgumentRangeError": (42, OverflowError),
    "ArgumentTypeError": (None, TypeError),
    "ArgumentValueError": (42, ValueError),
    "SharePartitionNotActiveError": (None, ShareStateError),
}


def active(**config: int) -> ss.SharePartition:
    share_partition = ss.SharePartition(*KEY, config=ss.GroupConfig(**config))  # type: ignore[arg-type]
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    return share_partition


#: Errors of groups, sessions and the analysis of logs.
BESIDE_THE_ENGINE = {
    "InvalidShareSessionEpochError",
    "NotAHistoryError",
    "RowError",
    "SessionLimitError",
    "ShareGroupError",
    "ShareSessionNotFoundError",
}


def test_the_tree_is_whole() -> None:
    classes: dict[str, Any] = {
        name: found
        for name, found in inspect.getmembers(errors, inspect.isclass)
        if found.__module__ == errors.__name__ and not name.startswith("_")
    }
    assert classes.keys() == TREE.keys() | {"ShareStateError"} == set(errors.__all__)
    for name, (code, builtin) in TREE.items():
        assert issubclass(classes[name], ShareStateError), name
        assert issubclass(classes[name], builtin), name
        assert classes[name]("text").kafka_code == code, name
        assert getattr(ss, name, None) is (None if name in BESIDE_THE_ENGINE else classes[name]), name
        assert str(classes[name]("text")) == "text"
        assert inspect.getdoc(classes[name])


def test_every_class_is_in_the_picture_of_the_module() -> None:
    assert errors.__doc__ is not None
    for name, (code, _) in TREE.items():
        line = next(line for line in errors.__doc__.splitlines() if f" {name} " in line)
        assert code is None or f" {code} " in f"{line} ", name


Facts = dict[str, object]
ERRORS: list[tuple[str, Facts, Callable[[], object]]] = [
    ("InvalidRequestError", {"field": "member", "value": ""}, lambda: active().acquire("", [(0, 1)], max_records=1, now_ms=0)),
    (
        "InvalidRequestError",
        {"field": "batch_size", "value": 0},
        lambda: active().acquire("a", [(0, 1)], max_records=1, batch_size=0, now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "fetch_offset", "value": -1},
        lambda: active().acquire("a", [(0, 1)], max_records=1, fetch_offset=-1, now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "fetched", "index": 1, "value": (5, 4)},
        lambda: active().acquire("a", [(0, 1), (5, 4)], max_records=1, now_ms=0),
    ),
    ("InvalidRequestError", {"field": "member", "value": ""}, lambda: active().acknowledge("", 0, 1, now_ms=0)),
    (
        "InvalidRequestError",
        {"field": "first_offset", "index": None, "value": (1, 0)},
        lambda: active().acknowledge("alice", 1, 0, now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "first_offset", "index": None, "value": (-5, 0)},
        lambda: active().acknowledge("alice", -5, 0, now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "last_offset", "index": None, "value": (0, 2**63 - 1)},
        lambda: active().acknowledge("alice", 0, 2**63 - 1, now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "first_offset", "index": None, "value": (0, 10)},
        lambda: active().acknowledge("alice", 0, 10, now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "acknowledge_type", "index": None, "value": 5},
        lambda: active().acknowledge("alice", 0, 1, 5, now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "batches", "index": 1, "value": 2},
        lambda: active().acknowledge_batches("alice", [(0, 1, [1]), (3, 5, [1, 1])], now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"field": "batches", "index": 0, "value": 0},
        lambda: active().acknowledge_batches("alice", [(0, 1, [])], now_ms=0),
    ),
    (
        "InvalidRequestError",
        {"index": 1, "value": 3},
        lambda: active().acknowledge_batches("alice", [(0, 3, [1]), (3, 5, [1])], now_ms=0),
    ),
    ("InvalidRecordStateError", {"index": None, "value": 0, "key": KEY}, lambda: active().acknowledge("bob", 0, 1, now_ms=0)),
    ("InvalidRecordStateError", {"index": None, "value": 2}, lambda: active().acknowledge("alice", 2, 3, now_ms=30_000)),
    ("InvalidRequestError", {"field": "token", "value": 7}, lambda: active().handle_write_result(7, now_ms=0)),
    ("InvalidRequestError", {"field": "token", "value": 7}, lambda: active().handle_dead_letter_done(7, now_ms=0)),
    ("InvalidRequestError", {"field": "status", "value": "ACTIVE"}, lambda: active().begin_initialize()),
    ("InvalidRequestError", {"field": "start_offset", "value": -7}, lambda: active().resolve_start_offset(-7)),
    (
        "CorruptStateError",
        {"field": "last_offset", "index": 1, "value": 5},
        lambda: ss.SharePartition(*KEY).initialize(ss.ReadStateResult(0, 0, [(0, 1, 2, 1), (6, 5, 2, 1)])),
    ),
    (
        "CorruptStateError",
        {"field": "delivery_state", "index": 0, "value": 1},
        lambda: ss.SharePartition(*KEY).initialize(ss.ReadStateResult(0, 0, [(0, 1, 1, 1)])),
    ),
    (
        "ConfigError",
        {"field": "delivery_count_limit", "value": 0, "minimum": 1, "maximum": 32767},
        lambda: ss.GroupConfig(delivery_count_limit=0),
    ),
    (
        "ConfigError",
        {"field": "share.record.lock.duration.ms", "value": 999, "minimum": 1000},
        lambda: ss.GroupConfig.from_kafka({"share.record.lock.duration.ms": "999"}),
    ),
    (
        "ConfigError",
        {"field": "snapshot_update_records_per_snapshot", "value": 501, "minimum": 0, "maximum": 500},
        lambda: MemoryPersister(snapshot_update_records_per_snapshot=501),
    ),
    (
        "PersisterError",
        {"kafka_code": 15, "persister_code": 14, "key": KEY},
        lambda: ss.SharePartition(*KEY).initialize_failed(14),
    ),
    ("UnsupportedVersionError", {"kafka_code": 35}, lambda: ss.decode_message(85, 2, b"")),
    ("WireDecodeError", {"position": 0}, lambda: ss.decode_message(85, 1, b"")),
    ("InvalidRequestError", {"kafka_code": 42, "key": KEY}, lambda: MemoryPersister().read_state(KEY, 0)),
    (
        "SharePartitionNotActiveError",
        {"kafka_code": 5, "status": "EMPTY", "key": KEY},
        lambda: ss.SharePartition(*KEY).acquire("alice", [(0, 9)], max_records=1, now_ms=0),
    ),
    ("SharePartitionNotActiveError", {"status": "EMPTY"}, lambda: ss.SharePartition(*KEY).acknowledge("alice", 0, 9, now_ms=0)),
    (
        "InvalidRequestError",
        {"field": "state_epoch", "value": -1, "key": KEY},
        lambda: MemoryPersister().reset_state(KEY, -1, 0),
    ),
    ("InvalidRequestError", {"field": "group", "value": ""}, lambda: ss.SharePartition("", KEY.topic_id, 0)),
    ("InvalidRequestError", {"field": "partition", "value": -1}, lambda: ss.SharePartition("g", KEY.topic_id, -1)),
    ("ArgumentValueError", {"field": "topic_id", "value": "orders"}, lambda: ss.SharePartition("g", "orders", 0)),
    ("ConfigError", {"field": "path", "value": ""}, lambda: ss.open("")),
    ("ConfigError", {"field": "sync", "value": "often"}, lambda: ss.open("nowhere", sync="often")),  # type: ignore[arg-type]
    ("ConfigError", {"field": "auto_offset_reset", "value": "soon"}, lambda: ss.GroupConfig(auto_offset_reset="soon")),
    (
        "ConfigError",
        {"field": "share.auto.offset.reset", "value": "soon"},
        lambda: ss.GroupConfig.from_kafka({"share.auto.offset.reset": "soon"}),
    ),
]


@pytest.mark.parametrize(("name", "facts", "call"), ERRORS, ids=[f"{i}-{name}" for i, (name, _, _) in enumerate(ERRORS)])
def test_an_error_says_in_attributes_what_its_text_says(name: str, facts: Facts, call: Callable[[], object]) -> None:
    with pytest.raises(ShareStateError) as raised:
        call()
    assert type(raised.value).__name__ == name
    assert {fact: getattr(raised.value, fact) for fact in facts} == facts
    for fact, value in facts.items():
        if fact == "value" and isinstance(value, int):
            assert str(value) in str(raised.value)


def test_a_store_that_cannot_be_used_is_an_os_error(tmp_path: Path) -> None:
    with ss.open(tmp_path / "store") as store:
        with pytest.raises(errors.StoreError, match=r"lock|use"):
            ss.open(tmp_path / "store")
        store.close()
        with pytest.raises(OSError, match="closed"):
            store.states()
    with pytest.raises(errors.StoreError) as refused:
        ss.open(tmp_path / "store", partitions=5)
    assert (refused.value.field, refused.value.value) == ("partitions", 5)
    with pytest.raises(errors.ConfigError) as config:
        ss.open(tmp_path / "other", segment_bytes=5)
    assert config.value.value == 5
    assert config.value.minimum is not None
    assert config.value.minimum > 5
    with pytest.raises(errors.InvalidRequestError) as wall, ss.open(tmp_path / "third") as third:
        third.reset_state(KEY, 0, 0, wall_ms=-1)
    assert (wall.value.field, wall.value.value) == ("wall_ms", -1)


def test_damage_in_a_log_names_its_place(tmp_path: Path) -> None:
    with ss.open(tmp_path) as store:
        for number in range(3):
            store.reset_state(KEY._replace(partition=number), 0, 0)
    (segment,) = tmp_path.rglob("*.log")
    damaged = bytearray(segment.read_bytes())
    damaged[30] ^= 1
    segment.write_bytes(damaged)
    with pytest.raises(errors.CorruptLogError) as corrupt:
        ss.open(tmp_path)
    assert (corrupt.value.segment, corrupt.value.position) == (str(segment), 0)
    assert corrupt.value.kind
    assert segment.read_bytes() == bytes(damaged), "nothing was changed"


#: Answer of the engine to a member for each code of a persister (SharePartition.fetchPersisterError).
FOR_MEMBERS = {0: 0, 3: 3, 14: 15, 15: 15, 16: 15, 42: -1, 69: 69, 74: 6, 121: -1, 124: 6, -1: -1, 999: -1}


@pytest.mark.parametrize(("code", "for_member"), FOR_MEMBERS.items())
def test_a_code_of_the_persister_becomes_one_for_the_member(code: int, for_member: int) -> None:
    share_partition = active()
    token = share_partition.acknowledge("alice", 0, 0, now_ms=0)
    assert token is not None
    assert share_partition.handle_write_result(token, code, now_ms=0) == for_member
