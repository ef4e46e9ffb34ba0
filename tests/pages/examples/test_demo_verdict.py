"""The demo's verdict can fail: each property is violated by made-up evidence, and only it is reported."""

import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examples.demo.history import History
from examples.demo.journal import Entry, Event
from examples.demo.plan import Plan
from examples.demo.verdict import Evidence, judge, lost_locks
from share_state import AcknowledgeType, SharePartitionKey, StateBatch

SERVED = SharePartitionKey("workers", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 1)
OTHER = SharePartitionKey("leaver", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)
PLAN = Plan(
    directory=Path("unused"),
    key=SERVED,
    start_offset=10,
    log_end=20,
    unsettled=9,
    recorded_leader_epoch=0,
    poison=15,
    slow=frozenset({16}),
)
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4
ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT

TAKEN_OVER = "the broker's states were taken over as they were"
KILLED = "SIGKILL hit the serving process half-way, the next one finished"
SETTLED = "every offset ended acknowledged or archived"
REOPENED = "nothing settled was written as anything else later"
AFTER_KILL = "nothing confirmed before the kill was delivered after it"
DELIVERED_AGAIN = "nothing was delivered once its end was confirmed"
AGREES = "the log says of each record what its worker says"
POISON = "the poison record was archived at the delivery limit"
EVERYTHING = "accept, release, reject, renew and lock time-outs happened"
OTHERS = "the other share partitions are untouched"


def state(key: SharePartitionKey, start_offset: int, *batches: tuple[int, int, int, int], epoch: int = 0) -> dict[str, Any]:
    batches_of = [StateBatch(*batch) for batch in batches]
    return {**key._asdict(), "start_offset": start_offset, "batches": batches_of, "snapshot_epoch": epoch, "state_epoch": 2}


def entry(event: Event, first: int, last: int, count: int, kind: AcknowledgeType | None = None, *, worker: str = "a") -> Entry:
    return Entry(worker, event, first, last, count, kind)


def acknowledged(first: int, last: int, count: int, kind: AcknowledgeType) -> list[Entry]:
    return [entry(event, first, last, count, kind) for event in (Event.SENT, Event.CONFIRMED)]


def history(*written: tuple[int, int, int, int]) -> History:
    followed = History()
    for batch in written:
        followed.follow([StateBatch(*batch)])
    return followed


BEFORE = (
    entry(Event.DELIVERED, 11, 13, 1),
    *acknowledged(11, 13, 1, ACCEPT),
    entry(Event.DELIVERED, 14, 14, 1, worker="stalls"),
    entry(Event.DELIVERED, 14, 14, 2),
    *acknowledged(14, 14, 2, REJECT),
    entry(Event.DELIVERED, 15, 19, 1),
)
AFTER = (
    entry(Event.DELIVERED, 15, 19, 1),
    entry(Event.RENEWED, 15, 19, 1),
    *acknowledged(15, 15, 1, RELEASE),
    *acknowledged(16, 19, 1, ACCEPT),
    entry(Event.DELIVERED, 15, 15, 5),
    *acknowledged(15, 15, 5, RELEASE),
)
WRITTEN = (
    (10, 10, ACKNOWLEDGED, 1),
    (11, 13, ACKNOWLEDGED, 1),
    (14, 14, ARCHIVED, 2),
    (15, 15, AVAILABLE, 1),
    (16, 19, ACKNOWLEDGED, 1),
    (15, 15, ARCHIVED, 5),
)
GOOD = Evidence(
    plan=PLAN,
    recorded=[state(SERVED, 10, (10, 10, ACKNOWLEDGED, 1), epoch=7), state(OTHER, 3, epoch=4)],
    taken_over=[state(SERVED, 10, (10, 10, ACKNOWLEDGED, 1)), state(OTHER, 3)],
    final=[state(SERVED, 18, (18, 19, ACKNOWLEDGED, 1)), state(OTHER, 3)],
    history=history(*WRITTEN),
    before=BEFORE,
    after=AFTER,
    exit_codes=(-signal.SIGKILL, 0),
)


def failed(evidence: Evidence) -> dict[str, str]:
    return {check.name: check.against for check in judge(evidence) if not check.passed}


def without(entries: Sequence[Entry], unwanted: Callable[[Entry], bool]) -> tuple[Entry, ...]:
    left = tuple(entry for entry in entries if not unwanted(entry))
    assert len(left) < len(entries)
    return left


def test_nothing_speaks_against_a_good_run() -> None:
    checks = judge(GOOD)
    assert [check.name for check in checks] == [
        TAKEN_OVER,
        KILLED,
        SETTLED,
        REOPENED,
        AFTER_KILL,
        DELIVERED_AGAIN,
        AGREES,
        POISON,
        EVERYTHING,
        OTHERS,
    ]
    assert [check.against for check in checks] == [""] * 10


@pytest.mark.parametrize(
    ("evidence", "against"),
    [
        pytest.param(
            replace(GOOD, recorded=[state(SERVED, 10, (10, 10, ACKNOWLEDGED, 3)), state(OTHER, 3)]),
            {TAKEN_OVER: "workers/5f3ff250-a9a1-4215-bb36-c84728fd60e8/1"},
            id="taken-over-differently",
        ),
        pytest.param(
            replace(GOOD, recorded=[*GOOD.recorded, state(SharePartitionKey("lost", OTHER.topic_id, 0), 0)]),
            {TAKEN_OVER: "lost/5f3ff250-a9a1-4215-bb36-c84728fd60e8/0"},
            id="not-taken-over",
        ),
        pytest.param(
            replace(GOOD, exit_codes=(0, 0)), {KILLED: "the serving processes ended with (0, 0)"}, id="ended-before-the-kill"
        ),
        pytest.param(
            replace(GOOD, before=(), after=BEFORE + AFTER),
            {KILLED: "0 of 9 records were settled before the kill"},
            id="killed-too-early",
        ),
        pytest.param(
            replace(GOOD, before=BEFORE + AFTER, after=()),
            {KILLED: "9 of 9 records were settled before the kill"},
            id="killed-too-late",
        ),
        pytest.param(
            replace(GOOD, final=[state(SERVED, 18, (18, 18, ACKNOWLEDGED, 1)), state(OTHER, 3)]),
            {SETTLED: "1 offsets: 19"},
            id="state-ends-early",
        ),
        pytest.param(
            replace(GOOD, final=[state(SERVED, 17, (17, 17, AVAILABLE, 1), (18, 19, ACKNOWLEDGED, 1)), state(OTHER, 3)]),
            {SETTLED: "1 offsets: 17"},
            id="state-has-an-available-record",
        ),
        pytest.param(
            replace(GOOD, history=history(*WRITTEN[:2], *WRITTEN[3:])),
            {SETTLED: "1 offsets: 14", AGREES: "1 offsets: 14"},
            id="never-written",
        ),
        pytest.param(
            replace(GOOD, history=history(*WRITTEN, (10, 10, AVAILABLE, 2))),
            {SETTLED: "1 offsets: 10", REOPENED: "1 offsets: 10"},
            id="reopened",
        ),
        pytest.param(
            replace(GOOD, history=history((16, 19, ARCHIVED, 1), *WRITTEN)), {REOPENED: "4 offsets: 16, 17, 18, 19"}, id="changed"
        ),
        pytest.param(
            replace(GOOD, after=(entry(Event.DELIVERED, 12, 14, 2), *AFTER)),
            {AFTER_KILL: "3 offsets: 12, 13, 14", DELIVERED_AGAIN: "3 offsets: 12, 13, 14"},
            id="delivered-after-the-kill",
        ),
        pytest.param(
            replace(GOOD, before=(*BEFORE, entry(Event.DELIVERED, 13, 13, 2))),
            {DELIVERED_AGAIN: "1 offsets: 13"},
            id="delivered-again-before-the-kill",
        ),
        pytest.param(
            replace(GOOD, after=(*AFTER, entry(Event.DELIVERED, 15, 15, 6))),
            {DELIVERED_AGAIN: "1 offsets: 15"},
            id="delivered-beyond-the-limit",
        ),
        pytest.param(
            replace(GOOD, history=history(*WRITTEN[:1], (11, 13, ARCHIVED, 1), *WRITTEN[2:])),
            {AGREES: "3 offsets: 11, 12, 13"},
            id="accepted-but-archived",
        ),
        pytest.param(
            replace(GOOD, history=history(*WRITTEN[:2], (14, 14, ACKNOWLEDGED, 2), *WRITTEN[3:])),
            {AGREES: "1 offsets: 14"},
            id="rejected-but-acknowledged",
        ),
        pytest.param(
            replace(GOOD, after=without(AFTER, lambda entry: entry.acknowledge_type is ACCEPT)),
            {AGREES: "4 offsets: 16, 17, 18, 19"},
            id="acknowledged-by-nobody",
        ),
        pytest.param(
            replace(GOOD, after=without(AFTER, lambda entry: entry.delivery_count == 5)),
            {AGREES: "1 offsets: 15"},
            id="archived-before-the-limit",
        ),
        pytest.param(
            replace(GOOD, history=history(*WRITTEN[:-1], (15, 15, ARCHIVED, 4))),
            {POISON: "offset 15: Outcome(state=<RecordState.ARCHIVED: 4>, delivery_count=4)"},
            id="poison-archived-early",
        ),
        pytest.param(
            replace(GOOD, final=[GOOD.final[0], state(OTHER, 4)]),
            {OTHERS: "leaver/5f3ff250-a9a1-4215-bb36-c84728fd60e8/0"},
            id="another-changed",
        ),
        pytest.param(
            replace(GOOD, final=GOOD.final[:1]), {OTHERS: "leaver/5f3ff250-a9a1-4215-bb36-c84728fd60e8/0"}, id="another-vanished"
        ),
    ],
)
def test_each_violation_is_found(evidence: Evidence, against: dict[str, str]) -> None:
    assert failed(evidence) == against


@pytest.mark.parametrize(
    ("missing", "unwanted"),
    [
        ("accept", lambda entry: entry.settles and entry.acknowledge_type is ACCEPT),
        ("release", lambda entry: entry.event is Event.CONFIRMED and entry.acknowledge_type is RELEASE),
        ("reject", lambda entry: entry.settles and entry.acknowledge_type is REJECT),
        ("renew", lambda entry: entry.event is Event.RENEWED),
        ("lock time-out", lambda entry: entry.worker == "stalls"),
    ],
)
def test_a_run_that_is_too_easy_is_found(missing: str, unwanted: Callable[[Entry], bool]) -> None:
    before, after = (tuple(entry for entry in entries if not unwanted(entry)) for entries in (BEFORE, AFTER))
    assert failed(replace(GOOD, before=before, after=after))[EVERYTHING] == f"there was no {missing}"


def test_a_lock_is_lost_only_by_a_worker_that_did_not_give_its_records_back() -> None:
    given_back = [entry(Event.DELIVERED, 1, 2, 1), entry(Event.SENT, 1, 2, 1, RELEASE), entry(Event.DELIVERED, 1, 2, 2)]
    assert lost_locks(given_back) == []
    assert lost_locks([*given_back, entry(Event.DELIVERED, 2, 3, 3)]) == [2]
