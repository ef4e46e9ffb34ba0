"""Values compare, hash, copy and pickle by their parts; times reckon; what is shown says what is there."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state import gateway
from share_state.kafka import KafkaPersister
from share_state.operate import analysis
from share_state.persister import MemoryPersister

KEY = ss.SharePartitionKey("g", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)


def in_flight() -> ss.InFlight:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    return share_partition.in_flight()[0]


#: Two values of each class that are equal and made apart, and one that differs.
VALUES: list[tuple[object, object, object]] = [
    (ss.GroupConfig(delivery_count_limit=7), ss.GroupConfig(delivery_count_limit=7), ss.GroupConfig()),
    (
        ss.GroupConfig(auto_offset_reset="by_duration:PT1H", dead_letter_queue_topic="dead"),
        ss.GroupConfig(auto_offset_reset="by_duration:PT1H", dead_letter_queue_topic="dead"),
        ss.GroupConfig(auto_offset_reset="by_duration:PT1H"),
    ),
    (
        ss.ReadStateResult(1, 5, [(5, 9, 2, 1)]),
        ss.ReadStateResult(1, 5, [ss.StateBatch(5, 9, 2, 1)]),
        ss.ReadStateResult(1, 5, [(5, 9, 2, 2)]),
    ),
    (ss.WriteState(1, 2, 5, 0, [(5, 9, 2, 1)]), ss.WriteState(1, 2, 5, 0, [(5, 9, 2, 1)]), ss.WriteState(1, 2, 5, 0, [])),
    (ss.StateSummary(1, 2, 3, 4), ss.StateSummary(1, 2, 3, 4), ss.StateSummary(1, 2, 3, 5)),
    (ss.StateBatch(0, 9, 2, 1), ss.StateBatch(0, 9, 2, 1), ss.StateBatch(0, 9, 4, 1)),
    (KEY, ss.SharePartitionKey(*KEY), KEY._replace(partition=1)),
    (ss.FetchedBatch(0, 9), ss.FetchedBatch(0, 9), ss.FetchedBatch(0, 9, 7)),
    (ss.AcquiredRange(0, 9, 1), ss.AcquiredRange(0, 9, delivery_count=1), ss.AcquiredRange(0, 9, 2)),
    (in_flight(), in_flight(), in_flight()._replace(member="bob")),
    (
        ss.PendingWrite(1, ss.WriteState(1, 2, 5, 0, [])),
        ss.PendingWrite(1, ss.WriteState(1, 2, 5, 0, [])),
        ss.PendingWrite(2, ss.WriteState(1, 2, 5, 0, [])),
    ),
    (ss.Record(b"k", None), ss.Record(b"k", None), ss.Record(b"k", b"")),
    (
        ss.DeadLetter(1, 0, 9, 5, "client_reject"),
        ss.DeadLetter(1, 0, 9, 5, "client_reject"),
        ss.DeadLetter(2, 0, 9, 5, "client_reject"),
    ),
    (ss.LockTime(5), ss.LockTime(5), ss.LockTime(6)),
    (ss.WallTime(5), ss.WallTime(5), ss.WallTime(6)),
]


@pytest.mark.parametrize(("one", "same", "other"), VALUES, ids=[type(one).__name__ for one, _, _ in VALUES])
def test_a_value_is_its_parts(one: object, same: object, other: object) -> None:
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != object()
    assert {one: 1}[same] == 1
    for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):  # noqa: S301  bytes of our own
        assert type(made) is type(one)
        assert made == one
    assert repr(one) == repr(same) != repr(other)
    # It says what it is made of, in the words that make it again.
    assert repr(one).startswith(type(one).__name__ + "(")


def acquired() -> ss.AcquiredRange:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    (acquired,) = share_partition.acquire("alice", [(5, 9)], max_records=10, now_ms=0)
    return acquired


def test_an_acquired_range_is_as_its_tuple() -> None:
    given, same = acquired(), (5, 9, 1)
    assert given == same == given
    assert hash(given) == hash(same)
    assert given != (5, 9)
    assert given != [5, 9, 1]
    assert (given < (5, 9, 2), given <= same, given > (5, 9, 0), given > (5, 8), given >= ss.AcquiredRange(5, 9, 2)) == (
        (True,) * 4 + (False,)
    )
    with pytest.raises(TypeError):
        given < 5  # type: ignore[operator] # noqa: B015  that it raises is the point
    first, last, count = given
    assert (first, last, count, len(given), list(given)) == (5, 9, 1, 3, [5, 9, 1])
    assert (given[0], given[-1], given[:2], given[::-1]) == (5, 1, (5, 9), (1, 9, 5))
    with pytest.raises(IndexError):
        given[3]
    assert (9 in given, given.index(9), given.count(5), list(reversed(given))) == (True, 1, 1, [1, 9, 5])
    assert (*given, 0) == given + (0,) == (5, 9, 1, 0)  # noqa: RUF005  the operators are what is looked at
    assert (0,) + given == (0, 5, 9, 1)  # noqa: RUF005
    with pytest.raises(TypeError):
        given + [0]  # type: ignore[operator] # noqa: RUF005  the operator is what is looked at
    assert isinstance(given, Sequence)
    assert np.array([given, given]).tolist() == [[5, 9, 1], [5, 9, 1]]
    assert not hasattr(given, "__dict__")
    with pytest.raises(AttributeError):
        given.first_offset = 6  # type: ignore[misc]


def test_an_acquired_range_has_what_a_named_tuple_has() -> None:
    given = acquired()
    assert given._fields == ("first_offset", "last_offset", "delivery_count")
    assert given._asdict() == {"first_offset": 5, "last_offset": 9, "delivery_count": 1}
    assert given._replace(delivery_count=2) == (5, 9, 2)
    assert given == ss.AcquiredRange(**given._asdict()) == ss.AcquiredRange._make(iter((5, 9, 1)))
    assert repr(given) == "AcquiredRange(first_offset=5, last_offset=9, delivery_count=1)"
    match given:
        case ss.AcquiredRange(first, delivery_count=count):
            assert (first, count) == (5, 1)
        case _:
            raise AssertionError(given)
    match given:
        case (_, last, _):
            assert last == 9
        case _:
            raise AssertionError(given)
    for wrong in ((5, 9), (5, 9, True), (5, 9, 2**15), (5, "9", 1)):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            ss.AcquiredRange._make(wrong)  # type: ignore[arg-type] # that is what is tried


@pytest.mark.parametrize(("clock", "other"), [(ss.LockTime, ss.WallTime(1)), (ss.WallTime, ss.LockTime(1))])
def test_times_reckon_on_their_own_clock(clock: Any, other: Any) -> None:
    begin = clock(1_000)
    later = begin + 500
    assert (later, 500 + begin, later - 500) == (clock(1_500), clock(1_500), begin)
    assert (later - begin, int(later)) == (500, 1_500)
    assert type(later) is clock
    assert begin < later
    for wrong in (0.5, "1", None, clock(1)):
        with pytest.raises(TypeError):
            begin + wrong
    with pytest.raises(TypeError):
        begin - other
    with pytest.raises(TypeError):
        begin < other  # noqa: B015  that it raises is the point
    assert clock(1) != other


def test_a_time_reckoned_is_a_time_for_the_engine() -> None:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    now = ss.LockTime(0)
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=now)
    assert share_partition.handle_timeout(now_ms=now + 29_999) == 0
    assert share_partition.handle_timeout(now_ms=now + 30_000) == 10


def test_an_error_is_pickled_with_its_facts(tmp_path: Path) -> None:
    raised: list[ss.ShareStateError] = []
    with ss.open(tmp_path / "state") as store:
        calls: list[Callable[[], object]] = [
            lambda: ss.GroupConfig(delivery_count_limit=0),
            lambda: ss.SharePartition("g", KEY.topic_id, 2**31),
            lambda: ss.SharePartition(*KEY).acknowledge("alice", 0, 9, now_ms=0),
            lambda: ss.SharePartition(*KEY).initialize_failed(74),
            lambda: store.read_state(KEY, 0),
            lambda: ss.open(tmp_path / "state"),
        ]
        for call in calls:
            with pytest.raises(ss.ShareStateError) as refused:
                call()
            raised.append(refused.value)
    for error in raised:
        made = pickle.loads(pickle.dumps(error))  # noqa: S301  bytes of our own
        assert (type(made), str(made), vars(made)) == (type(error), str(error), vars(error))


def test_what_is_open_says_so_and_how_much_is_in_it(tmp_path: Path) -> None:
    store = ss.open(tmp_path / "state")
    store.reset_state(KEY, 0, 0)
    assert repr(store) == f"StateStore({str(tmp_path / 'state')!r}, open, states=1)"
    store.close()
    assert repr(store) == f"StateStore({str(tmp_path / 'state')!r}, closed)"
    groups = gateway.ShareGroupStore(tmp_path / "groups")
    assert repr(groups).endswith(", open, groups=0)")
    groups.close()
    assert repr(groups).endswith(", closed)")
    memory = MemoryPersister()
    memory.reset_state(KEY, 0, 0)
    assert repr(memory) == "MemoryPersister(states=1)"
    coordinator = ss.ShareCoordinator()
    for record in coordinator.initialize(*KEY, 0, 0, wall_ms=0).records:
        coordinator.replay(0, record.key, record.value)
    assert repr(coordinator) == "ShareCoordinator(states=1)"
    sessions = gateway.ShareSessions(max_sessions=5)
    sessions.fetch("g", "a", 0, 1, [(KEY.topic_id, 0)], [], acknowledges=False)
    assert repr(sessions) == "ShareSessions(sessions=1, partitions=1, max_sessions=5)"
    share_partition = ss.SharePartition(*KEY, leader_epoch=3)
    assert repr(share_partition) == (
        f"SharePartition(group='g', topic_id='{KEY.topic_id}', partition=0, leader_epoch=3, status=EMPTY, start_offset=0, "
        "end_offset=0, in_flight=0, writes_under_way=0)"
    )
    scan = analysis.scan_path(tmp_path / "state")
    list(scan)
    done, whole = scan.progress
    assert (repr(scan), done) == (f"Scan({whole} of {whole} bytes read)", whole)
    with KafkaPersister("localhost:1") as persister:
        assert repr(persister) == "KafkaPersister('localhost:1', open, requests=0)"
    assert "closed" in repr(persister)


@pytest.mark.parametrize("bootstrap", ["kafka://localhost:9092", "localhost:9092/orders", "", "localhost", "localhost:0"])
def test_a_bootstrap_server_is_a_host_and_a_port(bootstrap: str) -> None:
    with pytest.raises(ss.ConfigError) as refused:
        KafkaPersister(bootstrap)
    assert (refused.value.field, refused.value.value) == ("bootstrap", bootstrap)


def test_a_share_partition_shows_its_window_and_its_reader() -> None:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    assert share_partition.window_len == 0
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    # What ended inside counts.
    share_partition.acknowledge("alice", 4, 9, now_ms=0)
    assert share_partition.window_len == 10
    assert not share_partition.release_fetch_lock(1)
    assert share_partition.acquire_fetch_lock(1)
    assert not share_partition.acquire_fetch_lock(2)
    assert not share_partition.release_fetch_lock(2)
    assert share_partition.release_fetch_lock(1)
    assert share_partition.acquire_fetch_lock(2)
