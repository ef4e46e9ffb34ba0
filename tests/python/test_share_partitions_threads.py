"""Columnar calls of several threads on one set of share partitions."""

from __future__ import annotations

import threading

from tests.python.share_partition_sets import a_leader, a_set, i8, i32, i64


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
    columns = a_set(a_leader(5))
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
                assert set(columns.handle_write_results(writes.partition, writes.token, now_ms=turn).tolist()) <= {0}
        except BaseException as error:  # noqa: BLE001  told to the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert columns.start_offset(i32(0, 1, 2, 3)).tolist() == [2 * rounds] * 4
    assert [columns[p].writes_under_way for p in range(5)] == [0] * 5
