"""Columnar calls of several threads on one set of share partitions."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import share_state as ss
from share_state.persister import NoOpStatePersister
from tests.partition.share_partition_sets import TOPICS, a_leader, a_set, i8, i32, i64


def test_calls_that_visit_the_same_share_partitions_in_other_orders_do_not_wait_for_each_other() -> None:
    """Ascending, descending, and two of them in turn again and again: each record is given once, and nobody waits forever."""
    count, rounds = 40, 100
    columns = a_set(a_leader(count))
    orders = [list(range(count)), list(range(count))[::-1], [0, count - 1] * (count // 2)]
    given: list[list[tuple[int, int]]] = [[] for _ in orders]

    def work(number: int, order: list[int]) -> None:
        member, zeros = columns.member(f"member-{number}"), [0] * len(order)
        for turn in range(rounds):
            columns_of = (i32(*order), i32(*[member] * len(order)), i64(*zeros), i64(*[99] * len(order)))
            acquired = columns.acquire(*columns_of, now_ms=turn, max_records=1, mode=1)
            rows = zip(acquired.request.tolist(), acquired.first_offset.tolist(), acquired.last_offset.tolist(), strict=True)
            given[number] += [(order[row], offset) for row, first, last in rows for offset in range(first, last + 1)]

    threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in enumerate(orders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    everything = sorted(one for rows in given for one in rows)
    assert everything == [(partition, offset) for partition in range(count) for offset in range(100)]


def test_threads_work_on_one_set_together() -> None:
    """Four threads, each with share partitions of its own and one that they share: nothing is lost, nothing taken twice."""
    leader = a_leader(5)
    columns = a_set(leader)
    rounds, errors = 200, []

    def work(own: int) -> None:
        try:
            member = columns.member(f"member-{own}")
            for turn in range(rounds):
                first = 2 * turn
                both = i32(own, 4)
                given = columns.acquire(
                    both, i32(member, member), i64(first, 0), i64(first + 1, 9), now_ms=turn, max_records=2, mode=1
                )
                assert given.request[0] == 0
                for request, low, high in zip(given.request, given.first_offset, given.last_offset, strict=True):
                    kind = 1 if request == 0 else 2
                    codes, _ = columns.acknowledge(
                        both[request : request + 1], i32(member), i64(low), i64(high), i8(kind), now_ms=turn
                    )
                    assert codes.tolist() == [0]
                writes = columns.poll_writes()
                codes = np.zeros(len(writes), np.int16)
                assert set(columns.handle_write_results(writes.partition, writes.token, codes, now_ms=turn).tolist()) <= {0}
        except BaseException as error:  # noqa: BLE001  told to the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [one.start_offset for one in leader[:4]] == [2 * rounds] * 4
    assert [one.writes_under_way for one in leader] == [0] * 5


def _cycles(leader: list[ss.SharePartition], columns: ss.SharePartitions, mine: list[int], rounds: int) -> None:
    """Rounds of one thread over share partitions of its own: by the set, and by each itself in calls short and long."""
    member = columns.member("alice")
    partition, members = i32(*mine), i32(*[member] * len(mine))
    for turn in range(rounds):
        first = 400 * turn
        given = columns.acquire(
            partition, members, i64(*[first] * len(mine)), i64(*[first + 99] * len(mine)), now_ms=turn, max_records=100
        )
        codes, _ = columns.acknowledge(
            partition[given.request],
            members[given.request],
            given.first_offset,
            given.last_offset,
            i8(*[1] * len(mine)),
            now_ms=turn,
        )
        assert codes.tolist() == [0] * len(mine)
        for one in mine:
            for begin, count in ((first + 100, 10), (first + 200, 200)):
                offsets = np.arange(begin, begin + count)
                firsts, lasts, _ = leader[one].acquire_columns(
                    "alice", np.stack([offsets, offsets], axis=1), now_ms=turn, max_records=count, batch_size=1
                )
                assert firsts.tolist() == lasts.tolist() == offsets.tolist()
                types = (offsets % 4).astype(np.int8)
                leader[one].acknowledge_columns("alice", offsets, offsets, types, now_ms=turn)


def test_threads_over_disjoint_share_partitions_do_as_one_thread() -> None:
    """Two threads lead to what one does for both, share partition by share partition."""
    count, rounds = 60, 4
    halves = [list(range(half, count, 2)) for half in (0, 1)]
    ends = []
    for at_once in (False, True):
        leader = a_leader(count)
        for one in leader:
            one.persister = NoOpStatePersister()
        columns = a_set(leader)
        threads = [threading.Thread(target=_cycles, args=(leader, columns, mine, rounds)) for mine in halves]
        for thread in threads:
            thread.start()
            if not at_once:
                thread.join()
        for thread in threads:
            thread.join()
        ends.append([(p.start_offset, p.end_offset, p.delivery_complete_count, p.in_flight()) for p in leader])
        assert [p.end_offset for p in leader] == [400 * rounds - 1] * count
        for one in leader:
            one.check()
    assert ends[0] == ends[1]


@pytest.fixture
def _no_turns() -> Iterator[None]:
    """A thread has the interpreter until it gives it up."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1_000)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_no_turns")
@pytest.mark.parametrize("by_the_set", [False, True])
def test_a_long_columnar_call_runs_without_the_interpreter(by_the_set: bool) -> None:
    """Another thread gets on while the call is inside. It might wake too late to see it, so there are many calls."""
    rows = 20_000
    config = ss.GroupConfig(partition_max_record_locks=rows)
    one = ss.SharePartition("g", TOPICS[0], 0, config=config, persister=NoOpStatePersister())
    one.initialize(ss.ReadStateResult(0, 0, []))
    columns = a_set([one])
    place, member = np.zeros(1, np.int32), i32(columns.member("alice"))
    starts, types = i64(0, rows), np.ones(rows, np.int8)
    inside = threading.Event()
    seen_inside = False
    for turn in range(200):
        offsets = np.arange(rows * turn, rows * (turn + 1))
        one.acquire_columns("alice", np.stack([offsets, offsets], axis=1), now_ms=0, max_records=rows, batch_size=1)
        is_over = False

        def call() -> None:
            nonlocal is_over
            inside.set()
            if by_the_set:
                columns.acknowledge(place, member, offsets, offsets, types, now_ms=0, request_starts=starts)  # noqa: B023
            else:
                one.acknowledge_columns("alice", offsets, offsets, types, now_ms=0)  # noqa: B023
            is_over = True

        thread = threading.Thread(target=call)
        inside.clear()
        thread.start()
        inside.wait()
        seen_inside = not is_over
        thread.join()
        if seen_inside:
            break
    assert seen_inside
