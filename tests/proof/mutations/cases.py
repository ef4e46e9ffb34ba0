"""The cases: each plays one mutated input, and names the exceptions that it may raise."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import share_state as ss
from share_state import _core
from share_state.errors import NotAHistoryError, RowError, ShareStateError, UnsupportedVersionError, WireDecodeError
from share_state.operate import analysis

from . import mutate, recorded
from .recorded import KEY, MESSAGES, RECORDS, SEGMENTS

Play = Callable[[random.Random], object]
#: By name: what is played, and what it may raise.
CASES: dict[str, tuple[Play, tuple[type[Exception], ...]]] = {}
#: Errors of calls with objects: ours, and those that every function of Python has.
ARGUMENTS = (ShareStateError, ValueError, TypeError)
BYTES = (WireDecodeError, UnsupportedVersionError)


def case(*raises: type[Exception]) -> Callable[[Play], Play]:
    """Make a function a case."""

    def add(play: Play) -> Play:
        CASES[play.__name__] = (play, raises)
        return play

    return add


@case(*BYTES)
def messages(chance: random.Random) -> object:
    one, other = chance.choice(MESSAGES), chance.choice(MESSAGES)
    version = one.version + chance.choice((0, 0, 0, 1, -1))
    data = mutate.data(chance, one.data, other.data)
    trailing = chance.random() < 0.5
    read = _core.decode_message(one.api_key, version, data, response=one.response, trailing=trailing)
    return _core.encode_message(one.api_key, version, read, response=one.response)


@case(*BYTES)
def write_results(chance: random.Random) -> object:
    answers = [message for message in MESSAGES if (message.api_key, message.response) == (85, True)]
    one = chance.choice(answers)
    data = mutate.data(chance, one.data, chance.choice(answers).data)
    results = _core.decode_write_results(one.version, data)
    read = _core.decode_message(85, one.version, data, response=True)
    assert len(results) == sum(len(topic["partitions"]) for topic in read["results"])
    return results


@case(*BYTES)
def state_records(chance: random.Random) -> object:
    key, value = chance.choice(RECORDS)
    other = chance.choice(RECORDS)
    read = ss.decode_record(mutate.data(chance, key, other.key), value and mutate.data(chance, value, other.value or b""))
    return ss.encode_record(read)


@case(*BYTES)
def replayed_records(chance: random.Random) -> object:
    coordinator, history = ss.ShareCoordinator(), analysis.History()
    refused = None
    for offset, (key, value) in enumerate(chance.sample(RECORDS, 3)):
        data = (key, value and mutate.data(chance, value, value) if offset == 1 else value)
        try:
            known = coordinator.replay(offset, *data)
        except BYTES as error:
            refused = error
            continue
        rows = history.replay(offset, mutate.number(chance, 1_000) % 2**62, *data)
        assert known or not rows
    if refused is not None:
        raise refused
    return coordinator.last_redundant_offset()


@case(*BYTES, ShareStateError)
def fetch_answers(chance: random.Random) -> object:
    answers = recorded.corpus("fetch_answer")
    one = chance.choice(answers)
    start = chance.choice((1, 1, 1, 0, 2, len(one), 2**40, -1))
    return _core.decode_fetch_answer(one[0], mutate.data(chance, one, chance.choice(answers)), start)


@case(ShareStateError)
def followed_topics(chance: random.Random) -> object:
    follower = recorded.follower()
    data = mutate.data(chance, chance.choice(SEGMENTS), chance.choice(SEGMENTS))
    begin, stop = mutate.number(chance, 0), chance.choice((None, mutate.number(chance, len(data))))
    next_offset, (start, end), _ = follower.take(chance.choice((0, 1)), data, begin, stop)
    assert next_offset >= 0
    assert start <= end
    follower.changes()
    follower.anomalies(0)
    return follower.places()


def _event(chance: random.Random, line: bytes) -> bytes:
    """A line, and of one in eight its event with a part changed."""
    if chance.random() < 0.875:
        return line
    try:
        event = json.loads(line)
    except ValueError:
        return line
    return json.dumps(mutate.value(chance, event), default=str).encode()


@case(NotAHistoryError, ShareStateError)
def histories(chance: random.Random) -> object:
    lines = recorded.corpus("history_lines")
    checker = _core.HistoryChecker()
    one, refused = chance.choice(lines), None
    if chance.random() < 0.5:
        data = mutate.data(chance, one, chance.choice(lines))
    else:
        data = b"\n".join(_event(chance, line) for line in one.splitlines())
    try:
        checker.take(data)
    except NotAHistoryError as error:
        refused = error
    found, _, _, events = checker.check(*(mutate.number(chance, number) for number in (5, 50, 60_000)))
    assert events or not found
    if refused is not None:
        raise refused
    return found


@case(RowError, KeyError, *ARGUMENTS)
def frames(chance: random.Random) -> object:
    table = chance.choice(("decode", "state", "history", "anomalies"))
    pump = _core.FramePump(table, on_error=chance.choice(("fail", "quarantine")))
    columns: dict[Any, Any] = recorded.columns()
    for _ in range(chance.choice((1, 1, 2))):
        name = chance.choice(list(columns))
        column = list(columns[name])
        at = chance.randrange(len(column))
        part = column[at]
        if isinstance(part, np.ndarray):
            column[at] = mutate.array(chance, part)
        else:
            column[at] = chance.choice((mutate.number(chance, 0), None, np.zeros(1, np.uint8)))
        columns[name] = tuple(column)
    rows = chance.choice((3, 3, 3, mutate.number(chance, 3)))
    batches = pump.push(rows, columns, ticks_per_second=mutate.number(chance, 1_000))
    return batches + pump.quarantined() + pump.finish()


@case(*ARGUMENTS)
def rows_of_histories(chance: random.Random) -> object:
    replay, finder = _core.StateReplay(), _core.AnomalyFinder(analysis.AnomalyConfig())
    for number, row in enumerate(chance.sample(recorded.rows(), 5)):
        changed: Any = mutate.value(chance, tuple(row)) if number == 2 else row
        if isinstance(changed, tuple) and len(changed) == len(row):
            changed = analysis.HistoryRow(*changed)
        replay.apply(changed)
        finder.see(changed)
    return replay.rows(), finder.end()


@case(*ARGUMENTS)
def acknowledgements(chance: random.Random) -> object:
    partition = recorded.held()
    types = chance.choice((b"\1" * 10, b"\1\2\3\4\0\1\2\3\4\0", [1] * 10, np.ones(10, np.int8), "accept", 2))
    changed = mutate.array(chance, types) if isinstance(types, np.ndarray) else mutate.value(chance, types)
    return partition.acknowledge_batches("m", mutate.value(chance, [(0, 9, changed)]), now_ms=0)


@case(*ARGUMENTS)
def acknowledged_columns(chance: random.Random) -> object:
    partition = recorded.held()
    columns: list[Any] = [np.array([0, 5], np.int64), np.array([4, 9], np.int64), np.array([1, 2], np.int8)]
    at = chance.randrange(3)
    columns[at] = mutate.array(chance, columns[at])
    return partition.acknowledge_columns("m", *columns, now_ms=0)


@case(*ARGUMENTS)
def fetched_batches(chance: random.Random) -> object:
    fetched: list[Any] = [[(0, 4), (5, 9)], [ss.FetchedBatch(0, 4, 1, True, None)], np.array([[0, 4], [5, 9]], np.int64)]
    one = chance.choice(fetched)
    changed = mutate.array(chance, one) if isinstance(one, np.ndarray) else mutate.value(chance, one)
    aborted = chance.choice((None, mutate.value(chance, [(1, 0)])))
    return recorded.active().acquire("m", changed, now_ms=0, max_records=mutate.number(chance, 5), aborted=aborted)


@case(*ARGUMENTS)
def columns_of_sets(chance: random.Random) -> object:
    share_partitions = ss.SharePartitions()
    for partition in range(3):
        share_partitions.add(recorded.active(partition))
    share_partitions.member("m")
    columns: dict[str, Any] = {
        "partition": np.arange(3, dtype=np.int32),
        "member": np.zeros(3, np.int32),
        "first_offset": np.zeros(3, np.int64),
        "last_offset": np.full(3, 9, np.int64),
    }
    fitting = share_partitions.acquire(**columns, now_ms=0, max_records=10)
    types: dict[str, Any] = {"acknowledge_type": np.ones(3, np.int8), "request_starts": np.arange(4, dtype=np.int64)}
    columns |= types
    name = chance.choice(list(columns))
    columns[name] = mutate.array(chance, columns[name])
    share_partitions.acknowledge(**columns, now_ms=0)
    share_partitions.poll_writes()
    return fitting


@case(*ARGUMENTS)
def written_messages(chance: random.Random) -> object:
    one = chance.choice(MESSAGES)
    values = mutate.value(chance, _core.decode_message(one.api_key, one.version, one.data, response=one.response))
    data = _core.encode_message(one.api_key, one.version, values, response=one.response)
    return _core.decode_message(one.api_key, one.version, data, response=one.response)


@case(*ARGUMENTS)
def written_records(chance: random.Random) -> object:
    key, value = chance.choice(RECORDS)
    return ss.decode_record(*ss.encode_record(mutate.value(chance, ss.decode_record(key, value))))


@case(*ARGUMENTS)
def states(chance: random.Random) -> object:
    batches = mutate.value(chance, [(0, 4, 2, 1), (7, 9, 0, 2)])
    state = ss.ReadStateResult(mutate.number(chance, 0), mutate.number(chance, 0), batches)
    partition = ss.SharePartition(*KEY, leader_epoch=1)
    partition.begin_initialize()
    partition.initialize(state)
    return partition.acquire("m", [(0, 20)], now_ms=0, max_records=5)
