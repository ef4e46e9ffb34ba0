"""Share partitions of a broker, beside the plain calls: the same in columns and one by one, and removal."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state.errors import InvalidRequestError
from tests.partition.share_partition_sets import LOCK_MS, TOPICS, a_leader, a_set, i8, i32, i64

MEMBERS = ("alice", "bob", "carol")
PARTITIONS = 5
#: Kinds of log batches, as the column names them, and as a `FetchedBatch` does.
KINDS: dict[int, tuple[bool, ss.ControlType | None]] = {
    0: (False, None),
    1: (True, None),
    2: (True, ss.ControlType.ABORT),
    3: (True, ss.ControlType.COMMIT),
}


def leaders() -> list[ss.SharePartition]:
    """Share partitions of groups with a dead-letter queue, that give a record up soon."""
    config = ss.GroupConfig(record_lock_duration_ms=LOCK_MS, delivery_count_limit=2, dead_letter_queue_topic="dlq.orders")
    made = [ss.SharePartition("g", TOPICS[0], partition, config=config) for partition in range(PARTITIONS)]
    for one in made:
        one.initialize(ss.ReadStateResult(7, 0, []))
    return made


class Both:
    """The same requests on columns and one by one."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311  a test wants the same numbers again
        self.alone = leaders()
        self.columns = a_set(leaders())
        self.members = [self.columns.member(name) for name in MEMBERS]
        self.ends = [0] * PARTITIONS
        self.seen: Counter[str] = Counter()

    def requests(self, most: int) -> list[tuple[int, int]]:
        return [(self.chance.randrange(PARTITIONS), self.chance.randrange(3)) for _ in range(self.chance.randrange(most))]

    def log_batches(self, at: int) -> list[tuple[ss.FetchedBatch, int]]:
        batches = []
        for _ in range(self.chance.randrange(4)):
            kind = self.chance.choice([0, 1, 1, 1, 2, 3])
            last = at + (0 if kind > 1 else self.chance.randrange(6))
            batches.append((ss.FetchedBatch(at, last, self.chance.choice([-1, 7, 8]), *KINDS[kind]), kind))
            at = last + 1 + self.chance.choice([0, 0, 2])
        return batches

    def acquire(self, now: int) -> None:
        chance = self.chance
        asked = []
        for p, m in self.requests(6):
            fetch_offset = chance.choice([self.alone[p].next_fetch_offset(), chance.randrange(-1, 60)])
            batches = self.log_batches(max(0, fetch_offset) + chance.choice([0, 0, 3]))
            aborted = [(chance.choice([7, 8]), max(0, fetch_offset - chance.randrange(3)))] * chance.randrange(3)
            asked.append(
                (p, m, fetch_offset, batches, aborted, chance.randrange(1, 30), chance.randrange(4), chance.randrange(2))
            )
        batches = [batch for one in asked for batch in one[3]]
        aborted = [one for each in asked for one in each[4]]
        given = self.columns.acquire(
            i32(*(one[0] for one in asked)),
            i32(*(self.members[one[1]] for one in asked)),
            i64(*(batch.base_offset for batch, _ in batches)),
            i64(*(batch.last_offset for batch, _ in batches)),
            now_ms=now,
            max_records=i32(*(one[5] for one in asked)),
            batch_size=i32(*(one[6] for one in asked)),
            mode=i8(*(one[7] for one in asked)),
            request_starts=starts(len(one[3]) for one in asked),
            fetch_offset=i64(*(one[2] for one in asked)),
            producer_id=i64(*(batch.producer_id for batch, _ in batches)),
            transaction=i8(*(kind for _, kind in batches)),
            aborted_producer_id=i64(*(producer for producer, _ in aborted)),
            aborted_first_offset=i64(*(first for _, first in aborted)),
            aborted_starts=starts(len(one[4]) for one in asked),
        )
        for row, (p, m, fetch_offset, fetched, gone, most, size, mode) in enumerate(asked):
            rows = given.request == row
            got = zip(given.first_offset[rows], given.last_offset[rows], given.delivery_count[rows], strict=True)
            try:
                wanted = self.alone[p].acquire(
                    MEMBERS[m],
                    [batch for batch, _ in fetched],
                    now_ms=now,
                    max_records=most,
                    batch_size=size,
                    mode=mode,
                    fetch_offset=fetch_offset,
                    aborted=gone,
                )
                assert (given.error_code[row], list(map(tuple, got))) == (0, [tuple(one) for one in wanted])
                self.seen["acquired"] += len(wanted)
                self.seen["aborted"] += bool(gone)
            except InvalidRequestError:
                assert (given.error_code[row], list(got)) == (42, [])
                self.seen["acquire refused"] += 1

    def reject(self, now: int) -> None:
        for p, one in enumerate(self.alone):
            for run in one.in_flight():
                if run.member is not None and self.chance.random() < 0.3:
                    kind = self.chance.choice([ss.AcknowledgeType.REJECT, ss.AcknowledgeType.RELEASE])
                    member = i32(self.members[MEMBERS.index(run.member)])
                    said = i32(p), member, i64(run.first_offset), i64(run.last_offset), i8(kind)
                    one_by_one = (run.member, run.first_offset, run.last_offset, kind)
                    token = one.acknowledge(*one_by_one, now_ms=now)
                    codes, tokens = self.columns.acknowledge(*said, now_ms=now)
                    assert (codes.tolist(), tokens.tolist()) == ([0], [-1 if token is None else token])

    def release(self, now: int) -> None:
        asked = self.requests(5)
        codes, records = self.columns.release(
            i32(*(p for p, _ in asked)), i32(*(self.members[m] for _, m in asked)), now_ms=now
        )  # fmt: skip
        assert codes.tolist() == [0] * len(asked)
        assert records.tolist() == [self.alone[p].release(MEMBERS[m], now_ms=now) for p, m in asked]
        self.seen["released"] += int(records.sum())

    def move_log_start(self) -> None:
        asked = [(p, self.alone[p].start_offset + self.chance.choice([-1, 0, 1, 4])) for p, _ in self.requests(3)]
        moved = self.columns.move_log_start_offset(i32(*(p for p, _ in asked)), i64(*(at for _, at in asked)))
        assert moved.tolist() == [self.alone[p].move_log_start_offset(at) for p, at in asked]
        self.seen["log start moved"] += int(moved.sum())

    def write(self, now: int) -> None:
        writes = self.columns.poll_writes()
        rows = list(zip(writes.partition.tolist(), writes.token.tolist(), strict=True))
        polled = [(p, write.token) for p, one in enumerate(self.alone) for write in iter(one.poll_write, None)]
        assert sorted(rows) == polled
        results = [self.chance.choice([0, 0, 0, 15]) for _ in rows]
        self.columns.handle_write_results(writes.partition, writes.token, np.array(results, np.int16), now_ms=now)
        for (p, token), code in zip(rows, results, strict=True):
            self.alone[p].handle_write_result(token, code, now_ms=now)

    def dead_letters(self, now: int) -> None:
        letters = self.columns.poll_dead_letters()
        rows = zip(
            letters.partition.tolist(),
            letters.token.tolist(),
            letters.first_offset.tolist(),
            letters.last_offset.tolist(),
            letters.delivery_count.tolist(),
            [("client_reject", "delivery_count_exceeded")[cause] for cause in letters.cause],
            strict=True,
        )
        polled = [
            (p, one.token, one.first_offset, one.last_offset, one.delivery_count, one.cause)
            for p, share_partition in enumerate(self.alone)
            for one in iter(share_partition.poll_dead_letter, None)
        ]
        assert sorted(rows) == polled
        done = self.columns.handle_dead_letters_done(letters.partition, letters.token, now_ms=now)
        assert done.tolist() == [0] * len(letters)
        for p, token, *_, cause in polled:
            self.alone[p].handle_dead_letter_done(token, now_ms=now)
            self.seen[cause] += 1

    def compare(self) -> None:
        every = i32(*range(PARTITIONS))
        assert self.columns.start_offset(every).tolist() == [one.start_offset for one in self.alone]
        assert self.columns.next_fetch_offset(every).tolist() == [one.next_fetch_offset() for one in self.alone]
        for mine, alone in zip(self.columns, self.alone, strict=True):
            assert repr(mine.in_flight()) == repr(alone.in_flight())


def starts(lengths: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def test_columns_do_what_calls_one_by_one_do() -> None:
    seen: Counter[str] = Counter()
    for seed in range(6):
        both = Both(seed)
        now = 0
        for _ in range(60):
            now += both.chance.choice([0, 1, 40, 600])
            both.columns.handle_timeout(now_ms=now)
            for one in both.alone:
                one.handle_timeout(now_ms=now)
            both.acquire(now)
            both.reject(now)
            if both.chance.random() < 0.3:
                both.release(now)
            if both.chance.random() < 0.2:
                both.move_log_start()
            if both.chance.random() < 0.4:
                both.write(now)
                both.dead_letters(now)
            both.compare()
        seen += both.seen
    kinds = ("acquired", "aborted", "acquire refused", "released", "log start moved", "client_reject", "delivery_count_exceeded")
    for kind in kinds:
        assert seen[kind] > 0, kind


def test_a_fetch_offset_before_the_batches_says_that_there_is_a_hole() -> None:
    columns = a_set(a_leader(2))
    alice = columns.member("alice")
    columns.acquire(i32(0, 1), i32(alice, alice), i64(0, 0), i64(4, 4), now_ms=0, max_records=5)
    columns.release(i32(0, 1), i32(alice, alice), now_ms=1)
    writes = columns.poll_writes()
    columns.handle_write_results(writes.partition, writes.token, now_ms=1)
    # Compaction has taken 0 to 4. Who does not say from where the log was read cannot know.
    given = columns.acquire(
        i32(0, 1), i32(alice, alice), i64(5, 5), i64(9, 9), now_ms=2, max_records=5, fetch_offset=i64(0, 5)
    )  # fmt: skip
    assert given.first_offset.tolist() == [5, 5]
    assert columns.next_fetch_offset(i32(0, 1)).tolist() == [10, 0]


def test_one_mode_and_batch_size_are_for_all() -> None:
    columns = a_set(a_leader(2))
    alice = columns.member("alice")
    ask: dict[str, Any] = {"now_ms": 0, "max_records": 3, "batch_size": 2}
    for mode, lasts in ((1, [2]), (i8(0, 1), [99, 2])):
        rows = len(lasts)
        fresh = a_set(a_leader(2))
        fresh.member("alice")
        given = fresh.acquire(
            i32(*range(rows)), i32(*[alice] * rows), i64(*[0] * rows), i64(*[99] * rows), mode=mode, **ask
        )  # fmt: skip
        assert [int(given.last_offset[given.request == row].max()) for row in range(rows)] == lasts
    with pytest.raises(ValueError, match="mode is 2; expected one of BATCH_OPTIMIZED"):
        columns.acquire(i32(0), i32(alice), i64(0), i64(9), mode=2, **ask)


@pytest.mark.parametrize(
    ("changed", "field", "value", "index"),
    [
        ({"fetch_offset": i64(0)}, "fetch_offset", 1, None),
        ({"batch_size": i32(1)}, "batch_size", 1, None),
        ({"mode": i8(1)}, "mode", 1, None),
        ({"mode": i8(0, 2)}, "mode", 2, 1),
        ({"producer_id": i64(7)}, "producer_id", 1, None),
        ({"producer_id": None}, "producer_id", None, None),
        ({"aborted_starts": None}, "aborted_starts", None, None),
        ({"transaction": i8(1)}, "transaction", 1, None),
        ({"transaction": i8(1, 4)}, "transaction", 4, 1),
        ({"transaction": i8(-1, 1)}, "transaction", -1, 0),
        ({"aborted_first_offset": i64(0)}, "aborted_first_offset", 1, None),
        ({"aborted_starts": i64(0, 1)}, "aborted_starts", 2, None),
        ({"aborted_starts": i64(0, 2, 1)}, "aborted_starts", 2, None),
        ({"aborted_starts": i64(0, 1, 3)}, "aborted_starts", 2, None),
    ],
)
def test_columns_that_do_not_fit_change_nothing(
    changed: dict[str, Any], field: str, value: int | None, index: int | None
) -> None:
    columns = a_set(a_leader(2))
    alice = columns.member("alice")
    good: dict[str, Any] = {
        "partition": i32(0, 1),
        "member": i32(alice, alice),
        "first_offset": i64(0, 0),
        "last_offset": i64(9, 9),
        "max_records": 10,
        "fetch_offset": i64(0, 0),
        "batch_size": i32(5, 5),
        "mode": i8(0, 1),
        "producer_id": i64(7, 7),
        "transaction": i8(1, 1),
        "aborted_producer_id": i64(7, 8),
        "aborted_first_offset": i64(0, 0),
        "aborted_starts": i64(0, 1, 2),
    }
    with pytest.raises(InvalidRequestError) as refused:
        columns.acquire(**(good | changed), now_ms=0)
    assert (refused.value.field, refused.value.value, refused.value.index) == (field, value, index)
    assert [one.in_flight() for one in columns] == [[], []]
    assert columns.acquire(**good, now_ms=0).request.tolist() == [1], "the first batch is of an aborted transaction"


def test_a_removed_share_partition_is_named_by_nothing() -> None:
    share_partitions = a_leader(3)
    columns = a_set(share_partitions)
    alice = columns.member("alice")
    columns.acquire(i32(0, 1, 2), i32(alice, alice, alice), i64(0, 0, 0), i64(9, 9, 9), now_ms=0, max_records=10)
    columns.acknowledge(i32(0, 1, 2), i32(alice, alice, alice), i64(0, 0, 0), i64(4, 4, 4), i8(1, 1, 1), now_ms=1)
    writes = columns.poll_writes()
    columns.acknowledge(i32(1, 2), i32(alice, alice), i64(5, 5), i64(6, 6), i8(1, 1), now_ms=2)

    assert columns.remove(1) is share_partitions[1]
    assert (len(columns), list(columns)) == (2, [share_partitions[0], share_partitions[2]])
    assert repr(columns) == "SharePartitions(2 share partitions)"
    for call in (columns.remove, columns.__getitem__):
        with pytest.raises(IndexError, match="1 was removed"):
            call(1)
    with pytest.raises(IndexError, match="3 is the index of no share partition; expected 0 to 2"):
        columns.remove(3)
    with pytest.raises(InvalidRequestError, match="row 1: 1 is no partition of this SharePartitions"):
        columns.next_fetch_offset(i32(0, 1))

    # Its row of an answer that comes late does not keep the others from theirs.
    answers = columns.handle_write_results(writes.partition, writes.token, now_ms=3)
    assert dict(zip(writes.partition.tolist(), answers.tolist(), strict=True)) == {0: 0, 1: 42, 2: 0}
    assert columns.poll_writes().partition.tolist() == [2]
    assert columns.handle_dead_letters_done(i32(1), i64(0), now_ms=3).tolist() == [42]
    assert columns.handle_timeout(now_ms=LOCK_MS) == 8, "five of the first and three of the last"
    assert columns.poll_timeout() is None

    # It goes on by itself, and what it does there no longer concerns the set.
    assert share_partitions[1].handle_timeout(now_ms=LOCK_MS) == 3
    tokens = [write.token for write in iter(share_partitions[1].poll_write, None)]
    assert tokens == [1, 2]
    assert set(columns.poll_writes().partition.tolist()) == {0, 2}
    with pytest.raises(ValueError, match="belongs to a SharePartitions already"):
        columns.add(share_partitions[1])
    (another,) = a_leader(1)
    assert columns.add(another) == 3, "an index is not given again"


def test_dead_letters_of_a_persister_that_answers_at_once_are_polled_too() -> None:
    config = ss.GroupConfig(record_lock_duration_ms=LOCK_MS, delivery_count_limit=2, dead_letter_queue_topic="dlq.orders")
    one = ss.SharePartition("g", TOPICS[0], 0, config=config, persister=ss.NoOpStatePersister())
    one.initialize(ss.ReadStateResult(7, 0, []))
    columns = a_set([one])
    alice = columns.member("alice")
    assert (len(columns.poll_dead_letters()), repr(columns.poll_dead_letters())) == (0, "DeadLetters(0 letters)")
    columns.acquire(i32(0), i32(alice), i64(0), i64(9), now_ms=0, max_records=10)
    columns.acknowledge(i32(0), i32(alice), i64(2), i64(3), i8(ss.AcknowledgeType.REJECT), now_ms=1)
    letters = columns.poll_dead_letters()
    assert (letters.first_offset.tolist(), letters.last_offset.tolist(), letters.cause.tolist()) == ([2], [3], [0])
    assert len(columns.poll_dead_letters()) == 0
    assert columns.handle_dead_letters_done(i32(0, 0), i64(0, 0), now_ms=2).tolist() == [0, 42]
    # What a call of the share partition itself leads to is polled here as well.
    one.acknowledge("alice", 5, 5, ss.AcknowledgeType.REJECT, now_ms=3)
    assert columns.poll_dead_letters().first_offset.tolist() == [5]
    assert columns.release(i32(0), i32(alice), now_ms=4)[1].tolist() == [7]
