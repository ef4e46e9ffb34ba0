"""The objects of the extension: documented, frozen, never pickled, escaped when shown, poisoned each by itself.

Bad input D7.64, 65, 68 and 69.
"""

from __future__ import annotations

import ast
import copy
import inspect
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state import _core
from share_state.errors import EnginePoisonedError
from share_state.operate import analysis
from tests.recordings import ORDERS

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
KEY = ss.SharePartitionKey("g", TOPIC, 0)
CLASSES = {name: found for name, found in vars(_core).items() if inspect.isclass(found)}
FUNCTIONS = {name: found for name, found in vars(_core).items() if inspect.isbuiltin(found)}
#: Name that an attacker may give a group or a member: a line break, a terminal's escape, a quote, a mark that turns text around.
EVIL = "x\n\x1b[31m'\"\x00\u202e"


def active() -> ss.SharePartition:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    return share_partition


def public_members(found: type[Any]) -> dict[str, Any]:
    return {name: member for name, member in vars(found).items() if not name.startswith("__")}


def test_everything_is_documented() -> None:
    documented = 0
    for found in [*CLASSES.values(), *FUNCTIONS.values()]:
        assert inspect.getdoc(found), found
        documented += 1
    for found in CLASSES.values():
        for name, member in public_members(found).items():
            assert inspect.getdoc(member), f"{found.__name__}.{name}"
            documented += 1
    assert documented > 120


def test_every_class_of_the_extension_is_in_the_stub() -> None:
    stub = ast.parse((Path(_core.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
    assert {node.name for node in stub.body if isinstance(node, ast.ClassDef)} == CLASSES.keys()


def test_arguments_and_errors_are_in_the_documentation() -> None:
    engine = ss.SharePartition
    methods: list[Any] = [engine.acquire, engine.acknowledge, engine.acknowledge_batches, engine.acknowledge_columns]
    for method in methods:
        text = inspect.getdoc(method) or ""
        parameters = [name for name in inspect.signature(method).parameters if name != "self"]
        assert [name for name in parameters if f"{name}:" not in text] == []
        assert "InvalidRequestError" in text
    columns: dict[Any, list[str]] = {
        engine.acquire_columns: ["int64", "int16"],
        engine.in_flight_columns: ["int64", "int8", "bool"],
    }
    for method, dtypes in columns.items():
        assert all(dtype in (inspect.getdoc(method) or "") for dtype in dtypes)


def test_the_classes_cannot_be_changed_or_extended() -> None:
    share_partition = active()
    for name in ("start_offset", "novel"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(share_partition, name, 5)
    for found in CLASSES.values():
        with pytest.raises(TypeError):
            type("Derived", (found,), {})


PICKLED: dict[str, Callable[[Path], object]] = {
    "SharePartition": lambda _: active(),
    "ShareCoordinator": lambda _: ss.ShareCoordinator(),
    "StateStore": ss.open,
    "Scan": lambda _: analysis.scan_path(ORDERS),
}


@pytest.mark.parametrize("name", PICKLED)
@pytest.mark.parametrize("how", [pickle.dumps, copy.copy, copy.deepcopy])
def test_what_is_alive_is_not_pickled_or_copied(name: str, how: Callable[[object], object], tmp_path: Path) -> None:
    alive = PICKLED[name](tmp_path)
    with pytest.raises(TypeError):
        how(alive)


def test_ids_of_others_are_escaped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "share_state")
    share_partition = ss.SharePartition(EVIL, TOPIC, 0)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    share_partition.acquire(EVIL, [(0, 9)], max_records=10, now_ms=0)
    shown = [repr(share_partition), repr(share_partition.in_flight()), repr(share_partition.key)]
    with ss.open(tmp_path / "a\nb") as store:
        shown.append(repr(store))
        with pytest.raises(ss.ShareStateError) as refused:
            store.read_state((EVIL, TOPIC, 0), 0)
        shown.append(str(refused.value))
        with pytest.raises(ValueError, match="topic_id") as no_topic:
            store.read_state(("g", EVIL, 0), 0)
        shown.append(str(no_topic.value))
    shown += [record.getMessage() for record in caplog.records]
    assert len(shown) >= 7
    for text in shown:
        assert text.isprintable(), ascii(text)


def test_what_is_shown_is_python() -> None:
    share_partition = active()
    assert repr(share_partition.in_flight()) == (
        "[InFlight(first_offset=0, last_offset=9, state=1, delivery_count=1, pending=False, member='alice', "
        "acquired_at_ms=0, deadline_ms=30000, below_start_offset=False)]"
    )
    share_partition.acknowledge("alice", 0, 9, now_ms=0)
    write = share_partition.poll_write()
    assert write is not None
    assert eval(repr(write.state), vars(ss)) == write.state  # noqa: S307  our own text
    assert repr(write) == f"PendingWrite(token=0, state={write.state!r})"
    for value in (ss.ReadStateResult(1, 2, [(3, 4, 2, 1)]), ss.StateSummary(1, 2, 3, 4), ss.GroupConfig(delivery_count_limit=7)):
        assert eval(repr(value), vars(ss)) == value  # noqa: S307  our own text


def test_a_panic_poisons_only_its_own_object(capfd: pytest.CaptureFixture[str]) -> None:
    broken, sound = active(), active()
    with pytest.raises(EnginePoisonedError, match="on purpose"):
        broken._panic_for_test("on purpose")
    assert "on purpose" in capfd.readouterr().err, "Rust says it too, with the place"
    calls: list[Callable[[], object]] = [
        lambda: broken.start_offset,
        lambda: broken.acknowledge("alice", 0, 1, now_ms=0),
        broken.next_fetch_offset,
        broken.in_flight,
        broken.poll_write,
        broken.check,
        lambda: repr(broken),
    ]
    for call in calls:
        with pytest.raises(EnginePoisonedError, match="on purpose") as poisoned:
            call()
        assert isinstance(poisoned.value, RuntimeError)
        assert poisoned.value.kafka_code is None
    together = ss.SharePartitions()
    with pytest.raises(EnginePoisonedError, match="on purpose"):
        together.add(broken)
    assert together.add(sound) == 0
    # What needs no engine still answers, and others are not affected.
    assert (broken.key, broken.leader_epoch) == (KEY, 0)
    assert sound.acknowledge("alice", 0, 9, now_ms=0) == 0


def test_a_panic_is_the_code_of_its_rows_alone(capfd: pytest.CaptureFixture[str]) -> None:
    leader = [active(), active()]
    together = ss.SharePartitions()
    places = np.array([together.add(one) for one in leader], np.int32)
    alice = np.full(2, together.member("alice"), np.int32)
    with pytest.raises(EnginePoisonedError):
        leader[0]._panic_for_test("on purpose")
    capfd.readouterr()
    first, last, accept = np.array([0, 10]), np.array([9, 19]), np.ones(2, np.int8)
    given = together.acquire(places, alice, first, last, now_ms=0, max_records=10)
    assert (given.error_code.tolist(), given.request.tolist(), given.first_offset.tolist()) == ([-1, 0], [1], [10])
    codes, tokens = together.acknowledge(places, alice, first, last, accept, now_ms=0)
    assert (codes.tolist(), tokens.tolist()) == ([-1, 0], [-1, 0])
    writes = together.poll_writes()
    assert (writes.partition.tolist(), writes.token.tolist()) == ([1], [0])
    answers = together.handle_write_results(places, np.zeros(2, np.int64), np.zeros(2, np.int16), now_ms=0)
    assert answers.tolist() == [-1, 0]
    assert together.next_fetch_offset(places).tolist() == [-1, 20]
    # The other one has 0 to 9 from before, which run out.
    assert together.handle_timeout(now_ms=30_000) == 10


def test_lock_time_and_wall_time_cannot_be_mixed() -> None:
    share_partition, coordinator = active(), ss.ShareCoordinator()
    with pytest.raises(TypeError, match="WallTime"):
        share_partition.handle_timeout(now_ms=ss.WallTime(5))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="LockTime"):
        coordinator.initialize(*KEY, 0, 0, wall_ms=ss.LockTime(5))  # type: ignore[arg-type]
    assert share_partition.handle_timeout(now_ms=ss.LockTime(30_000)) == 10
    assert len(coordinator.initialize(*KEY, 0, 0, wall_ms=ss.WallTime.now()).records) == 1
    assert ss.LockTime(5) < ss.LockTime.now()
    assert ss.WallTime(5) < ss.WallTime.now()
    times: list[object] = [ss.LockTime(5), ss.WallTime(5)]
    assert times[0] != times[1]


def test_counters_are_plain_data(tmp_path: Path) -> None:
    share_partition = active()
    share_partition.acknowledge("alice", 0, 3, now_ms=0)
    counters = share_partition.counters()
    assert {type(count) for count in counters.values()} == {int}
    assert (counters["acquired"], counters["writes"], counters["state_batches_written"]) == (10, 1, 1)
    assert [name for name in counters if name not in (inspect.getdoc(ss.SharePartition.counters) or "")] == []
    with ss.open(tmp_path) as store:
        store.reset_state(KEY, 0, 0)
        assert (store.counters()["writes"], store.counters()["records"]) == (1, 1)
        assert [name for name in store.counters() if name not in (inspect.getdoc(ss.StateStore.counters) or "")] == []


def test_columns_say_what_the_objects_say() -> None:
    share_partition = active()
    share_partition.acknowledge_batches("alice", [(1, 2, [1]), (5, 6, [2, 3])], now_ms=5)
    runs, columns = share_partition.in_flight(), share_partition.in_flight_columns()
    assert {name: str(column.dtype) for name, column in columns.items()} == {
        "first_offset": "int64",
        "last_offset": "int64",
        "state": "int8",
        "delivery_count": "int16",
        "pending": "bool",
        "below_start_offset": "bool",
        "acquired_at_ms": "int64",
        "deadline_ms": "int64",
    }
    assert len(runs) == 6
    for name, column in columns.items():
        values = [getattr(run, name) for run in runs]
        assert column.tolist() == [-1 if value is None else value for value in values], name
    write = share_partition.poll_write()
    assert write is not None
    array = write.state.state_batches_array()
    assert (str(array.dtype), array.shape) == ("int64", (3, 4))
    assert [tuple(row) for row in array.tolist()] == write.state.state_batches
    # What a caller does to an array of its own is no business of the engine.
    array[:] = 0
    assert write.state.state_batches_array().any()
