"""Columnar calls on many share partitions do what scalar calls on each do, whoever calls what."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from typing import Any

import numpy as np
import pytest

import share_state as ss
from tests.partition.share_partition_sets import LOCK_MS, TOPICS, a_leader, a_set, i8, i32, i64, ready

MEMBERS = ("alice", "bob", "carol")


def decoded(writes: ss.PendingWrites) -> list[tuple[str, str, int, dict[str, Any]]]:
    """(group, topic, partition, what is written) of each row, in order."""
    rows: list[tuple[str, str, int, dict[str, Any]]] = []
    for number, group in enumerate(writes.groups):
        request = ss.decode_message(85, 1, writes.data[writes.data_starts[number] : writes.data_starts[number + 1]])
        assert request["groupId"] == group
        before = len(rows)
        for topic in request["topics"]:
            rows += [(group, topic["topicId"], one["partition"], one) for one in topic["partitions"]]
        assert writes.row_starts[number] == before
        assert writes.row_starts[number + 1] == len(rows)
        assert len({row[:3] for row in rows[before:]}) == len(rows) - before, "a share partition is in a request once"
    assert len(rows) == len(writes)
    return rows


class Twin:
    """The same share partitions, called one by one."""

    def __init__(self, share_partitions: list[ss.SharePartition]) -> None:
        self.all = share_partitions

    def acquire(self, p: int, member: str, batch: tuple[int, int], **limits: Any) -> tuple[int, list[ss.AcquiredRange]]:
        try:
            return 0, self.all[p].acquire(member, [batch], **limits)
        except ss.ShareStateError as error:
            return -99 if error.kafka_code is None else error.kafka_code, []

    def acknowledge(self, p: int, member: str, batches: list[tuple[int, int, list[int]]], now: int) -> tuple[int, int]:
        try:
            token = self.all[p].acknowledge_batches(member, batches, now_ms=now)
        except ss.ShareStateError as error:
            code = getattr(error, "kafka_code", None)
            assert isinstance(code, int)
            return code, -1
        return 0, -1 if token is None else token

    def writes(self) -> dict[int, list[ss.PendingWrite]]:
        polled: dict[int, list[ss.PendingWrite]] = {}
        for p, one in enumerate(self.all):
            while (write := one.poll_write()) is not None:
                polled.setdefault(p, []).append(write)
        return polled


class Both:
    """The same calls on columns and one by one, with equal answers."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311  a test wants the same numbers again
        self.twin = Twin(a_leader(7))
        self.mine = a_leader(7, "twin" if seed == 0 else "leaves")
        self.columns = a_set(self.mine)
        self.members = [self.columns.member(name) for name in MEMBERS]
        self.seen: Counter[str] = Counter()

    def time_out(self, now: int) -> None:
        ran_out = self.columns.handle_timeout(now_ms=now)
        assert ran_out == sum(one.handle_timeout(now_ms=now) for one in self.twin.all)
        self.seen["timed out"] += ran_out

    def acquire(self, now: int) -> None:
        chance = self.chance
        requests = []
        for _ in range(chance.randrange(6)):
            at = chance.randrange(60)
            requests.append((chance.randrange(7), chance.randrange(3), (at, at + chance.randrange(-1, 9))))
        limits: dict[str, Any] = {
            "now_ms": now,
            "max_records": chance.randrange(1, 30),
            "batch_size": chance.randrange(8),
            "mode": chance.randrange(2),
        }
        given = self.columns.acquire(
            i32(*(p for p, _, _ in requests)),
            i32(*(self.members[m] for _, m, _ in requests)),
            i64(*(first for _, _, (first, _) in requests)),
            i64(*(last for _, _, (_, last) in requests)),
            **limits,
        )
        for number, (p, m, batch) in enumerate(requests):
            code, wanted = self.twin.acquire(p, MEMBERS[m], batch, **limits)
            rows = given.request == number
            got = zip(given.first_offset[rows], given.last_offset[rows], given.delivery_count[rows], strict=True)
            assert (given.error_code[number], list(map(tuple, got))) == (code, [tuple(one) for one in wanted])
            self.seen["acquired"] += len(wanted)
            self.seen["acquire refused"] += code != 0

    def acknowledge(self, now: int) -> None:
        chance = self.chance
        said = []
        for _ in range(chance.randrange(8)):
            at = chance.randrange(60)
            firsts = range(at, at + chance.choice([1, 1, 5]), 2)
            batches = [(first, first + chance.randrange(2), [chance.randrange(1, 5)]) for first in firsts]
            said.append((chance.randrange(7), chance.randrange(3), batches))
        codes, tokens = self.columns.acknowledge(
            i32(*(p for p, _, _ in said)),
            i32(*(self.members[m] for _, m, _ in said)),
            i64(*(first for _, _, batches in said for first, _, _ in batches)),
            i64(*(last for _, _, batches in said for _, last, _ in batches)),
            i8(*(types[0] for _, _, batches in said for _, _, types in batches)),
            now_ms=now,
            request_starts=np.cumsum([0, *(len(batches) for _, _, batches in said)], dtype=np.int64),
        )
        wanted = [self.twin.acknowledge(p, MEMBERS[m], batches, now) for p, m, batches in said]
        assert list(zip(codes.tolist(), tokens.tolist(), strict=True)) == wanted
        self.seen["acknowledged"] += sum(code == 0 for code, _ in wanted)
        self.seen["refused"] += sum(code != 0 for code, _ in wanted)

    def release(self, now: int) -> None:
        """The set has no call for it, and hears of the write."""
        p, member = self.chance.randrange(7), self.chance.choice(MEMBERS)
        released = self.mine[p].release(member, now_ms=now)
        assert released == self.twin.all[p].release(member, now_ms=now)
        self.seen["released"] += released

    def move_log_start(self) -> None:
        p = self.chance.randrange(7)
        at = self.twin.all[p].start_offset + self.chance.choice([-1, 0, 1, 4])
        moved = self.mine[p].move_log_start_offset(at)
        assert moved == self.twin.all[p].move_log_start_offset(at)
        self.seen["log start moved"] += moved

    def write(self, now: int) -> None:
        writes = self.columns.poll_writes()
        polled = self.twin.writes()
        rows: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        named = zip(writes.partition.tolist(), writes.token.tolist(), strict=True)
        for (p, token), (_, _, partition, row) in zip(named, decoded(writes), strict=True):
            assert p == partition
            rows.setdefault(p, []).append((token, row))
        assert {p: [token for token, _ in of] for p, of in rows.items()} == {
            p: [write.token for write in of] for p, of in polled.items()
        }
        for p, of in rows.items():
            for (_, row), write in zip(of, polled[p], strict=True):
                assert row == wire(p, write.state)
        results = np.array([self.chance.choice([0] * 15 + [15] * 5 + [3]) for _ in range(len(writes))], np.int16)
        answers = self.columns.handle_write_results(writes.partition, writes.token, results, now_ms=now)
        assert answers.tolist() == [
            self.twin.all[p].handle_write_result(token, code, now_ms=now)
            for p, token, code in zip(writes.partition.tolist(), writes.token.tolist(), results.tolist(), strict=True)
        ]
        self.seen["writes"] += len(writes)
        self.seen["rounds"] += any(len(of) > 1 for of in rows.values())

    def compare(self) -> None:
        every = i32(*range(7))
        assert self.columns.next_fetch_offset(every).tolist() == [one.next_fetch_offset() for one in self.twin.all]
        for mine, one in zip(self.mine, self.twin.all, strict=True):
            assert (mine.start_offset, mine.can_acquire()) == (one.start_offset, one.can_acquire())
            assert repr(mine.in_flight()) == repr(one.in_flight())


def wire(partition: int, state: ss.WriteState) -> dict[str, Any]:
    """A write as it stands in a request."""
    names = ("firstOffset", "lastOffset", "deliveryState", "deliveryCount")
    return {
        "partition": partition,
        "stateEpoch": state.state_epoch,
        "leaderEpoch": state.leader_epoch,
        "startOffset": state.start_offset,
        "deliveryCompleteCount": state.delivery_complete_count,
        "stateBatches": [dict(zip(names, batch, strict=True)) for batch in state.state_batches],
    }


@pytest.mark.parametrize("seed", range(6))
def test_columns_do_what_calls_one_by_one_do(seed: int) -> None:
    both = Both(seed)
    now = 0
    for _ in range(60):
        now += both.chance.choice([0, 1, 40, 600])
        both.time_out(now)
        both.acquire(now)
        both.acknowledge(now)
        if both.chance.random() < 0.2:
            both.release(now)
            both.move_log_start()
        if both.chance.random() < 0.4:
            both.write(now)
        both.compare()
    kinds = (
        "acquired",
        "acquire refused",
        "acknowledged",
        "refused",
        "released",
        "log start moved",
        "writes",
        "rounds",
        "timed out",
    )
    for what in kinds:
        assert both.seen[what] > 0, what


def test_what_a_share_partition_does_by_itself_shows_in_its_set() -> None:
    one = ready("g", TOPICS[0], 0)
    one.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    one.acknowledge("alice", 0, 1, now_ms=1)
    columns = a_set([one])
    assert columns.poll_timeout() == LOCK_MS
    assert decoded(columns.poll_writes())[0][3]["stateBatches"][0]["lastOffset"] == 1

    one.acknowledge("alice", 2, 3, now_ms=2)
    writes = columns.poll_writes()
    assert (len(writes), writes.token.tolist()) == (1, [1])
    assert len(columns.poll_writes()) == 0

    one.acquire("alice", [(10, 19)], max_records=10, now_ms=500)
    assert columns.handle_timeout(now_ms=LOCK_MS - 1) == 0
    assert columns.handle_timeout(now_ms=LOCK_MS) == 6
    assert columns.poll_timeout() == 500 + LOCK_MS
    assert columns.handle_timeout(now_ms=500 + LOCK_MS) == 10
    assert columns.poll_timeout() is None


def test_a_share_partition_of_a_set_does_by_itself_what_the_set_has_no_call_for() -> None:
    """The writes and locks of such calls come by the set, and its calls see what they have done."""
    config = ss.GroupConfig(record_lock_duration_ms=LOCK_MS, dead_letter_queue_topic="dlq.orders")
    one = ss.SharePartition("g", TOPICS[0], 0, config=config)
    one.initialize(ss.ReadStateResult(7, 0, []))
    columns = a_set([one])
    alice = columns.member("alice")

    def written() -> int:
        writes = columns.poll_writes()
        codes = np.zeros(len(writes), np.int16)
        assert columns.handle_write_results(writes.partition, writes.token, codes, now_ms=2).tolist() == codes.tolist()
        return len(writes)

    # Records 0 to 4 are of an aborted transaction.
    batches = [ss.FetchedBatch(0, 4, 7, True, None), ss.FetchedBatch(5, 9, -1, False, None)]
    (given,) = one.acquire("alice", batches, now_ms=0, max_records=10, aborted=[(7, 0)])
    assert (given.first_offset, given.last_offset, columns.poll_timeout()) == (5, 9, LOCK_MS)
    codes, _ = columns.acknowledge(i32(0), i32(alice), i64(5), i64(6), i8(ss.AcknowledgeType.REJECT), now_ms=1)
    assert (codes.tolist(), written()) == ([0], 1)
    letter = one.poll_dead_letter()
    assert letter is not None
    assert (letter.first_offset, letter.last_offset, letter.cause) == (5, 6, "client_reject")
    assert written() == 0
    one.handle_dead_letter_done(letter.token, now_ms=2)
    assert written() == 1
    assert (one.release("alice", now_ms=3), written()) == (3, 1)
    assert columns.next_fetch_offset(i32(0)).tolist() == [7]
    assert one.move_log_start_offset(20)
    assert columns.next_fetch_offset(i32(0)).tolist() == [20]
    assert one.settled_to(20)


def test_one_mode_and_batch_size_are_for_all() -> None:
    for mode, last in ((ss.AcquireMode.BATCH_OPTIMIZED, 99), (ss.AcquireMode.RECORD_LIMIT, 2)):
        columns = a_set(a_leader(2))
        alice = columns.member("alice")
        rows = i32(0, 1), i32(alice, alice), i64(0, 0), i64(99, 99)
        given = columns.acquire(*rows, now_ms=0, max_records=3, batch_size=2, mode=mode)
        assert [int(given.last_offset[given.request == row].max()) for row in range(2)] == [last] * 2
        with pytest.raises(ValueError, match="mode is 2; expected one of BATCH_OPTIMIZED"):
            columns.acquire(*rows, now_ms=0, max_records=3, mode=2)


def test_any_buffer_is_a_column() -> None:
    leader = a_leader(2)
    columns = a_set(leader)
    alice = columns.member("alice")
    strided = i64(0, 99, 0, 99)[::2]
    pair = memoryview(array("i", [0, 1]))
    given = columns.acquire(pair, array("i", [alice, alice]), strided, i64(9, 9), now_ms=0, max_records=10)
    assert given.request.tolist() == [0, 1]
    token = leader[0].acknowledge_columns(
        "alice", memoryview(array("q", [0])), array("q", [1]), memoryview(array("b", [1])), now_ms=1
    )
    assert token == 0
