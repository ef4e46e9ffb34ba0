"""Life of the share partitions of a broker: in columns where a set has the call, else one by one, and removal."""

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


def leaders() -> list[ss.SharePartition]:
    """Share partitions of groups with a dead-letter queue, that give a record up soon."""
    config = ss.GroupConfig(record_lock_duration_ms=LOCK_MS, delivery_count_limit=2, dead_letter_queue_topic="dlq.orders")
    made = [ss.SharePartition("g", TOPICS[0], partition, config=config) for partition in range(PARTITIONS)]
    for one in made:
        one.initialize(ss.ReadStateResult(7, 0, []))
    return made


class Both:
    """The same requests on a set, in columns where it has the call, and on share partitions that are in none."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311  a test wants the same numbers again
        self.alone = leaders()
        self.columns = a_set(leaders())
        self.members = [self.columns.member(name) for name in MEMBERS]
        self.ends = [0] * PARTITIONS
        self.seen: Counter[str] = Counter()

    def requests(self, most: int) -> list[tuple[int, int]]:
        return [(self.chance.randrange(PARTITIONS), self.chance.randrange(3)) for _ in range(self.chance.randrange(most))]

    def log_batches(self, at: int) -> list[tuple[int, int]]:
        batches = []
        for _ in range(self.chance.randrange(4)):
            last = at + self.chance.randrange(6)
            batches.append((at, last))
            at = last + 1 + self.chance.choice([0, 0, 2])
        return batches

    def acquire(self, now: int) -> None:
        chance = self.chance
        asked = []
        for p, m in self.requests(6):
            fetch_offset = chance.choice([self.alone[p].next_fetch_offset(), chance.randrange(-1, 60)])
            batches = self.log_batches(max(0, fetch_offset) + chance.choice([0, 0, 3]))
            asked.append((p, m, fetch_offset, batches, chance.randrange(1, 30), chance.randrange(4), chance.randrange(2)))
        batches = [batch for one in asked for batch in one[3]]
        given = self.columns.acquire(
            i32(*(one[0] for one in asked)),
            i32(*(self.members[one[1]] for one in asked)),
            i64(*(first for first, _ in batches)),
            i64(*(last for _, last in batches)),
            now_ms=now,
            max_records=i32(*(one[4] for one in asked)),
            batch_size=i32(*(one[5] for one in asked)),
            mode=i8(*(one[6] for one in asked)),
            request_starts=np.cumsum([0, *(len(one[3]) for one in asked)], dtype=np.int64),
            fetch_offset=i64(*(one[2] for one in asked)),
        )
        for row, (p, m, fetch_offset, fetched, most, size, mode) in enumerate(asked):
            rows = given.request == row
            got = zip(given.first_offset[rows], given.last_offset[rows], given.delivery_count[rows], strict=True)
            try:
                wanted = self.alone[p].acquire(
                    MEMBERS[m],
                    fetched,
                    now_ms=now,
                    max_records=most,
                    batch_size=size,
                    mode=mode,
                    fetch_offset=fetch_offset,
                )
                assert (given.error_code[row], list(map(tuple, got))) == (0, [tuple(one) for one in wanted])
                self.seen["acquired"] += len(wanted)
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
        for p, m in self.requests(5):
            records = self.columns[p].release(MEMBERS[m], now_ms=now)
            assert records == self.alone[p].release(MEMBERS[m], now_ms=now)
            self.seen["released"] += records

    def move_log_start(self) -> None:
        for p, _ in self.requests(3):
            at = self.alone[p].start_offset + self.chance.choice([-1, 0, 1, 4])
            moved = self.columns[p].move_log_start_offset(at)
            assert moved == self.alone[p].move_log_start_offset(at)
            self.seen["log start moved"] += moved

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
        for mine, alone in zip(self.columns, self.alone, strict=True):
            letters = list(iter(mine.poll_dead_letter, None))
            assert letters == list(iter(alone.poll_dead_letter, None))
            for letter in letters:
                mine.handle_dead_letter_done(letter.token, now_ms=now)
                alone.handle_dead_letter_done(letter.token, now_ms=now)
                self.seen[letter.cause] += 1

    def compare(self) -> None:
        every = i32(*range(PARTITIONS))
        assert self.columns.next_fetch_offset(every).tolist() == [one.next_fetch_offset() for one in self.alone]
        for mine, alone in zip(self.columns, self.alone, strict=True):
            assert (mine.start_offset, repr(mine.in_flight())) == (alone.start_offset, repr(alone.in_flight()))


def test_a_set_leads_its_share_partitions_where_they_go_without_it() -> None:
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
    kinds = ("acquired", "acquire refused", "released", "log start moved", "client_reject", "delivery_count_exceeded")
    for kind in kinds:
        assert seen[kind] > 0, kind


def test_a_fetch_offset_before_the_batches_says_that_there_is_a_hole() -> None:
    columns = a_set(a_leader(2))
    alice = columns.member("alice")
    columns.acquire(i32(0, 1), i32(alice, alice), i64(0, 0), i64(4, 4), now_ms=0, max_records=5)
    for one in columns:
        one.release("alice", now_ms=1)
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
    ],
)
def test_columns_that_do_not_fit_change_nothing(changed: dict[str, Any], field: str, value: int, index: int | None) -> None:
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
    }
    with pytest.raises(InvalidRequestError) as refused:
        columns.acquire(**(good | changed), now_ms=0)
    assert (refused.value.field, refused.value.value, refused.value.index) == (field, value, index)
    assert [one.in_flight() for one in columns] == [[], []]
    assert columns.acquire(**good, now_ms=0).request.tolist() == [0, 1]


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


def test_a_share_partition_of_a_set_does_by_itself_what_the_set_has_no_call_for() -> None:
    """The writes and locks of such calls come by the set, and its calls see what they have done."""
    columns = a_set(leaders()[:1])
    alice = columns.member("alice")
    one = columns[0]

    def written() -> int:
        writes = columns.poll_writes()
        assert columns.handle_write_results(writes.partition, writes.token, now_ms=2).tolist() == [0] * len(writes)
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
