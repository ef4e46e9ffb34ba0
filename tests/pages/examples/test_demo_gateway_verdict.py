"""The verdict of the gateway's demo can fail: each property is violated by made-up evidence, and only it is reported."""

import itertools
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examples.demo.history import History
from examples.gateway.figures import count
from examples.gateway.journal import Entry, Event
from examples.gateway.plan import GROUP, PARTITIONS, Place, Plan, members
from examples.gateway.supervise import Run
from examples.gateway.verdict import Evidence, judge
from share_state import AcknowledgeType, StateBatch

PLAN = Plan(Path("unused"), 4 * 10)
ACKNOWLEDGED, ARCHIVED, AVAILABLE = 2, 4, 0
ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT
WORKER, STALLING, KILLED_ONE = "worker-1", "stalling", "killed"
#: When the gateway is killed, and when the next one serves.
KILL, BACK = 1_000, 2_000
GENERATION = 71

KILLED = "SIGKILL hit a member and, half-way, the gateway; the others finished"
VANISHED = "every record was delivered, and no other"
VALUES = "every record came with the value that was produced"
ENDED = "every record ended accepted, rejected or at the delivery limit"
REOPENED = "nothing settled was written as anything else later"
AFTER_END = "nothing was delivered once its end was confirmed"
AGREES = "the gateway's log says of each record what its member says"
COUNTS = "delivery counts go up one by one, to the limit at most"
POISON = "the poison records were archived at the delivery limit"
EVERYTHING = "accept, release, reject, a lost lock and a dead member happened"
STATE = "`share-state state` shows all share partitions at their ends"


def entry(at: int, event: Event, *place: int, kind: AcknowledgeType | None = None, member: str = WORKER) -> Entry:
    """``place``: partition, first and last offset, delivery count."""
    partition, first, last, delivery_count = place
    return Entry(member, event, partition, first, last, delivery_count, kind, at)


def taken(at: int, kind: AcknowledgeType, *place: int) -> list[Entry]:
    """A delivery and its confirmed end, at ``at``, ``at`` + 1 and ``at`` + 2."""
    delivered, sent, confirmed = Event.DELIVERED, Event.SENT, Event.CONFIRMED
    return [entry(at, delivered, *place), entry(at + 1, sent, *place, kind=kind), entry(at + 2, confirmed, *place, kind=kind)]


def poisoned(at: int, partition: int) -> list[Entry]:
    return [entry for count in range(1, 6) for entry in taken(at + 3 * count, RELEASE, partition, 3, 3, count)]


#: In partition 0: 0 to 2 accepted, 4 and 5 lost to a worker by the one that stalls, 6 rejected, 7 to 9 delivered before the
#: kill and after it. In partition 1 the killed member had 0 and 1, which a worker accepted. Offset 3 is poison everywhere.
ENTRIES = [
    *taken(10, ACCEPT, 0, 0, 2, 1),
    entry(20, Event.DELIVERED, 0, 4, 5, 1, member=STALLING),
    entry(21, Event.HOLDING, 0, 4, 5, 1, member=STALLING),
    *taken(30, ACCEPT, 0, 4, 5, 2),
    entry(40, Event.SENT, 0, 4, 5, 1, kind=ACCEPT, member=STALLING),
    entry(41, Event.REFUSED, 0, 4, 5, 1, kind=ACCEPT, member=STALLING),
    *taken(50, REJECT, 0, 6, 6, 1),
    entry(60, Event.DELIVERED, 1, 0, 1, 1, member=KILLED_ONE),
    entry(61, Event.HOLDING, 1, 0, 1, 1, member=KILLED_ONE),
    *taken(70, ACCEPT, 1, 0, 1, 2),
    *(entry for partition in range(PARTITIONS) for entry in poisoned(100 + 20 * partition, partition)),
    entry(900, Event.DELIVERED, 0, 7, 9, 1),
    entry(901, Event.SENT, 0, 7, 9, 1, kind=ACCEPT),
    entry(KILL + 1, Event.UNANSWERED, 0, 7, 9, 1, kind=ACCEPT),
    *taken(BACK + 10, ACCEPT, 0, 7, 9, 1),
    *taken(BACK + 20, ACCEPT, 1, 2, 2, 1),
    *taken(BACK + 30, ACCEPT, 1, 4, 9, 1),
    *(
        entry
        for partition, (first, last) in itertools.product((2, 3), ((0, 2), (4, 9)))
        for entry in taken(BACK + 40 + 10 * partition + first, ACCEPT, partition, first, last, 1)
    ),
]
WRITTEN: dict[int, list[tuple[int, int, int, int]]] = {
    0: [
        (0, 2, ACKNOWLEDGED, 1),
        (4, 5, AVAILABLE, 1),
        (4, 5, ACKNOWLEDGED, 2),
        (6, 6, ARCHIVED, 1),
        (3, 3, ARCHIVED, 5),
        (7, 9, ACKNOWLEDGED, 1),
    ],
    1: [(0, 1, ACKNOWLEDGED, 2), (2, 2, ACKNOWLEDGED, 1), (3, 3, ARCHIVED, 5), (4, 9, ACKNOWLEDGED, 1)],
    2: [(0, 2, ACKNOWLEDGED, 1), (3, 3, ARCHIVED, 5), (4, 9, ACKNOWLEDGED, 1)],
    3: [(0, 2, ACKNOWLEDGED, 1), (3, 3, ARCHIVED, 5), (4, 9, ACKNOWLEDGED, 1)],
}


def run(entries: list[Entry] = ENTRIES) -> Run:
    return Run(
        entries=sorted(entries, key=lambda entry: entry.at),
        gateway_exits=(-signal.SIGKILL, 0),
        member_exits={name: -signal.SIGKILL if name == KILLED_ONE else 0 for name in members()},
        killed_at=KILL,
        restarted_at=BACK,
        settled_before=15,
        generations=(GENERATION - 1, GENERATION),
        seconds=5.0,
    )


def histories(change: Callable[[dict[int, list[tuple[int, int, int, int]]]], object] = lambda _: None) -> dict[int, History]:
    written = {partition: list(batches) for partition, batches in WRITTEN.items()}
    change(written)
    found = {}
    for partition, batches in written.items():
        found[partition] = History()
        for batch in batches:
            found[partition].follow([StateBatch(*batch)])
    return found


def row(partition: int, **changed: Any) -> dict[str, Any]:
    batches = [[8, 8, ACKNOWLEDGED, 1], [9, 9, ARCHIVED, 1]]
    told = {"group": GROUP, "partition": partition, "start_offset": 8, "delivery_complete_count": 2, "batches": batches}
    return {**told, "leader_epoch": GENERATION, **changed}


ROWS = [row(partition) for partition in range(PARTITIONS)]
GOOD = Evidence(PLAN, run(), histories(), ROWS)


def failed(evidence: Evidence) -> dict[str, str]:
    return {check.name: check.against for check in judge(evidence) if not check.passed}


def with_run(**changed: Any) -> Evidence:
    return replace(GOOD, run=replace(GOOD.run, **changed))


def with_entries(*more: Entry) -> Evidence:
    return replace(GOOD, run=run([*ENTRIES, *more]))


def without(unwanted: Callable[[Entry], bool]) -> Evidence:
    left = [entry for entry in ENTRIES if not unwanted(entry)]
    assert len(left) < len(ENTRIES)
    return replace(GOOD, run=run(left))


def with_row(**changed: Any) -> Evidence:
    return replace(GOOD, states=[*ROWS[:3], row(3, **changed)])


def test_nothing_speaks_against_a_good_run() -> None:
    checks = judge(GOOD)
    assert [check.name for check in checks] == [
        KILLED,
        VANISHED,
        VALUES,
        ENDED,
        REOPENED,
        AFTER_END,
        AGREES,
        COUNTS,
        POISON,
        EVERYTHING,
        STATE,
    ]
    assert [check.against for check in checks] == [""] * 11


def test_a_good_run_is_counted() -> None:
    counted = count(GOOD)
    assert (counted.records, counted.accepted, counted.archived, counted.rejected) == (40, 35, 5, 1)
    assert (counted.released, counted.deliveries_at_the_limit, counted.lost_locks, counted.refused) == (20, 4, 2, 2)
    assert (counted.unanswered, counted.redeliveries_after_the_kill, counted.deliveries) == (3, 3, 40 + 2 + 2 + 16 + 3)
    assert (counted.restart_ms, counted.records_per_second, counted.bytes) == (0, 8.0, 0)


@pytest.mark.parametrize(
    ("evidence", "against"),
    [
        pytest.param(with_run(gateway_exits=(0, 0)), {KILLED: "the gateway ended with (0, 0)"}, id="gateway-was-not-killed"),
        pytest.param(with_run(settled_before=0), {KILLED: "0 of 40 records were settled before the kill"}, id="too-early"),
        pytest.param(with_run(settled_before=40), {KILLED: "40 of 40 records were settled before the kill"}, id="too-late"),
        pytest.param(
            without(lambda entry: entry.partition == 3 and entry.first_offset == 4),
            {VANISHED: "6 records: 3/4, 3/5, 3/6, 3/7, 3/8, 3/9", AGREES: "6 records: 3/4, 3/5, 3/6, 3/7, 3/8, 3/9"},
            id="never-delivered",
        ),
        pytest.param(with_entries(*taken(BACK + 90, RELEASE, 3, 10, 10, 1)), {VANISHED: "1 records: 3/10"}, id="no-such"),
        pytest.param(with_entries(entry(11, Event.GARBLED, 0, 1, 2, 1)), {VALUES: "2 records: 0/1, 0/2"}, id="another-value"),
        pytest.param(
            replace(GOOD, histories=histories(lambda written: written[3].append((9, 9, AVAILABLE, 1)))),
            {ENDED: "1 records: 3/9", REOPENED: "1 records: 3/9", AGREES: "1 records: 3/9"},
            id="reopened",
        ),
        pytest.param(
            replace(GOOD, histories=histories(lambda written: written[0].pop(3))),
            {ENDED: "1 records: 0/6", AGREES: "1 records: 0/6"},
            id="rejection-was-not-written",
        ),
        pytest.param(
            replace(GOOD, histories=histories(lambda written: written[2].insert(0, (2, 2, ARCHIVED, 1)))),
            {REOPENED: "1 records: 2/2"},
            id="archived-then-acknowledged",
        ),
        pytest.param(
            with_entries(entry(BACK + 50, Event.DELIVERED, 0, 2, 2, 1)),
            {AFTER_END: "1 records: 0/2"},
            id="after-the-kill",
        ),
        pytest.param(
            with_entries(entry(500, Event.DELIVERED, 0, 6, 6, 2)), {AFTER_END: "1 records: 0/6"}, id="delivered-once-rejected"
        ),
        pytest.param(
            replace(GOOD, histories=histories(lambda written: written[0].__setitem__(0, (0, 2, ARCHIVED, 1)))),
            {AGREES: "3 records: 0/0, 0/1, 0/2"},
            id="accepted-but-archived",
        ),
        pytest.param(
            replace(GOOD, histories=histories(lambda written: written[0].__setitem__(3, (6, 6, ACKNOWLEDGED, 1)))),
            {AGREES: "1 records: 0/6"},
            id="rejected-but-acknowledged",
        ),
        pytest.param(
            without(lambda entry: entry.partition == 2 and entry.first_offset == 4 and entry.acknowledge_type is ACCEPT),
            {AGREES: "6 records: 2/4, 2/5, 2/6, 2/7, 2/8, 2/9"},
            id="acknowledged-by-nobody",
        ),
        pytest.param(
            with_entries(entry(25, Event.DELIVERED, 0, 4, 4, 1)), {COUNTS: "1 records: 0/4"}, id="two-holders-of-one-delivery"
        ),
        pytest.param(with_entries(entry(950, Event.DELIVERED, 0, 9, 9, 3)), {COUNTS: "1 records: 0/9"}, id="a-count-left-out"),
        pytest.param(
            without(lambda entry: entry.at == 60), {COUNTS: "2 records: 1/0, 1/1"}, id="first-delivery-counted-as-second"
        ),
        pytest.param(
            without(lambda entry: BACK > entry.at >= 900),
            {},
            id="a-first-delivery-after-the-kill-is-fine",
        ),
        pytest.param(
            with_entries(entry(BACK + 5, Event.DELIVERED, 0, 7, 7, 3), entry(BACK + 6, Event.DELIVERED, 0, 7, 7, 2)),
            {},
            id="counts-are-told-by-number-not-by-time",
        ),
        pytest.param(
            with_entries(entry(114, Event.DELIVERED, 0, 3, 3, 6)), {COUNTS: "1 records: 0/3"}, id="delivered-beyond-the-limit"
        ),
        pytest.param(
            replace(GOOD, histories=histories(lambda written: written[1].__setitem__(2, (3, 3, ARCHIVED, 4)))),
            {POISON: "1/3: Outcome(state=<RecordState.ARCHIVED: 4>, delivery_count=4)"},
            id="poison-archived-early",
        ),
        pytest.param(
            replace(GOOD, states=ROWS[:3]),
            {STATE: f"share partitions: {[(GROUP, number) for number in range(3)]}"},
            id="no-row",
        ),
        pytest.param(
            replace(GOOD, states=[*ROWS, row(3)]),
            {STATE: f"share partitions: {[(GROUP, number) for number in (0, 1, 2, 3, 3)]}"},
            id="row-twice",
        ),
        pytest.param(
            with_row(start_offset=7),
            {STATE: f"partition 3: start offset 7, 2 settled after it, leader epoch {GENERATION}"},
            id="state-ends-early",
        ),
        pytest.param(
            with_row(batches=[[8, 8, ACKNOWLEDGED, 1], [9, 9, AVAILABLE, 1]]),
            {STATE: f"partition 3: start offset 8, 2 settled after it, leader epoch {GENERATION}"},
            id="state-has-an-available-record",
        ),
        pytest.param(
            with_row(leader_epoch=GENERATION - 1),
            {STATE: f"partition 3: start offset 8, 2 settled after it, leader epoch {GENERATION - 1}"},
            id="led-by-the-killed-one",
        ),
        pytest.param(
            with_run(generations=(GENERATION, GENERATION)),
            {STATE: f"the generations are ({GENERATION}, {GENERATION})"},
            id="generation-did-not-grow",
        ),
    ],
)
def test_each_violation_is_found(evidence: Evidence, against: dict[str, str]) -> None:
    assert failed(evidence) == against


def test_a_member_that_failed_is_found() -> None:
    exits = {**GOOD.run.member_exits, WORKER: 1}
    assert failed(with_run(member_exits=exits)) == {KILLED: f"the members ended with {exits}"}


@pytest.mark.parametrize(
    ("missing", "unwanted"),
    [
        ("accept", lambda entry: entry.event is Event.CONFIRMED and entry.acknowledge_type is ACCEPT),
        ("release", lambda entry: entry.event is Event.CONFIRMED and entry.acknowledge_type is RELEASE),
        ("reject", lambda entry: entry.event is Event.CONFIRMED and entry.acknowledge_type is REJECT),
        ("lock that ran out", lambda entry: entry.event is Event.HOLDING and entry.member == STALLING),
        ("record of the killed member that another got", lambda entry: entry.member == KILLED_ONE),
    ],
)
def test_a_run_that_is_too_easy_is_found(missing: str, unwanted: Callable[[Entry], bool]) -> None:
    assert failed(without(unwanted))[EVERYTHING] == f"there was no {missing}"


def test_places_are_named() -> None:
    assert {Place(0, 3), Place(3, 3)} <= PLAN.poison
