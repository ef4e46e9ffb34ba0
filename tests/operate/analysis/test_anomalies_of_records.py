"""Findings on single records: the likeliest cause of what befell each, with the others named, and what the log cannot tell."""

from dataclasses import replace

import pytest

from share_state.operate import analysis
from share_state.operate.analysis import AnomalyConfig, AnomalyKind, Severity
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, ARCHIVING, AVAILABLE, MadeUpLog

LOCK_MS = 2000
CONFIG = AnomalyConfig(delivery_count_limit=3, record_lock_duration_ms=LOCK_MS, burst_records=10)
STUCK = replace(CONFIG, stuck_ms=1000, stuck_records=10)


def found(log: MadeUpLog, config: AnomalyConfig = CONFIG) -> list[analysis.Anomaly]:
    return list(analysis.find_anomalies(log.rows, config))


def begun() -> MadeUpLog:
    log = MadeUpLog()
    log.snapshot(0)
    return log


def given_up(*times: int, first: int = 5, last: int = 5, log: MadeUpLog | None = None) -> MadeUpLog:
    """Records come back until the last of the times, when they are archived."""
    log = log or begun()
    for count, ms in enumerate(times, start=1):
        log.update(ms, [(first, last, AVAILABLE if count < len(times) else ARCHIVED, count)])
    return log


@pytest.mark.parametrize(
    ("times", "lock_ms", "kind"),
    [
        ((9000, 9010, 9020), None, AnomalyKind.POISON_RECORD),
        ((9000, 9499, 9998), None, AnomalyKind.POISON_RECORD),
        ((9000, 9500, 9510), None, AnomalyKind.LATE_OR_POISON),
        ((9000, 9010, 9510), None, AnomalyKind.LATE_OR_POISON),
        ((9000, 9500, 10499), LOCK_MS, AnomalyKind.POISON_RECORD),
        ((9000, 9010, 10010), LOCK_MS, AnomalyKind.LATE_OR_POISON),
        ((9000, 9010, 20000), LOCK_MS, AnomalyKind.LATE_OR_POISON),
        ((9000, 20000, 20010), 30_000, AnomalyKind.POISON_RECORD),
        ((9000, 8000, 8010), None, AnomalyKind.LATE_OR_POISON),
    ],
)
def test_a_record_is_poison_only_where_no_lock_can_have_run_out(
    times: tuple[int, ...], lock_ms: int | None, kind: AnomalyKind
) -> None:
    """Half a lock is doubted: a broker hands a record out again before the write of its time-out is in the log."""
    [row] = found(given_up(*times), AnomalyConfig(delivery_count_limit=3, record_lock_duration_ms=lock_ms))
    assert (row.kind, row.severity, row.first_offset, row.last_offset) == (kind, Severity.WARNING, 5, 5)
    assert ("cannot tell an acceptance that came too late from none" in row.evidence) == (kind == AnomalyKind.LATE_OR_POISON)
    said = "the lock duration is not given, Kafka's least is 1000 ms" if lock_ms is None else f"the lock duration is {lock_ms} ms"
    assert said in row.evidence or times[1] < times[0]
    assert row.advice.startswith("Compare the group's lock duration") == (kind == AnomalyKind.LATE_OR_POISON)


def test_a_lock_duration_of_one_group_goes_before_that_of_all() -> None:
    log = given_up(9000, 9010, 14010)
    config = AnomalyConfig(delivery_count_limit=3, record_lock_duration_ms=2000, record_lock_durations_ms={"g": 15_000})
    assert [row.kind for row in found(log, config)] == [AnomalyKind.POISON_RECORD]


def test_deliveries_that_are_not_in_the_log_are_doubted() -> None:
    log = MadeUpLog()
    log.snapshot(9000, [(5, 5, AVAILABLE, 2)], epochs=(7, 1, 0))
    log.update(9010, [(5, 5, ARCHIVED, 3)], epochs=(7, -1))
    [row] = found(log)
    assert (row.kind, row.since_offset) == (AnomalyKind.LATE_OR_POISON, 1)
    assert "earlier deliveries are not in the log" in row.evidence


def test_records_that_were_archived_before_the_log_begins_are_no_burst() -> None:
    log = MadeUpLog()
    log.snapshot(9000, [(0, 30, ARCHIVED, 3), (31, 31, AVAILABLE, 1)], epochs=(7, 1, 0))
    [row] = found(log)
    assert (row.kind, row.first_offset, row.last_offset) == (AnomalyKind.LATE_OR_POISON, 0, 30)


def test_records_that_one_write_archives_are_one_finding() -> None:
    log = begun()
    log.update(9000, [(1, 3, AVAILABLE, 1)])
    log.update(9001, [(4, 6, AVAILABLE, 1)])
    log.update(9003, [(1, 6, AVAILABLE, 2)])
    log.update(9010, [(1, 6, ARCHIVED, 3)])
    [row] = found(log)
    assert (row.kind, row.first_offset, row.last_offset) == (AnomalyKind.POISON_RECORD, 1, 6)
    assert "no delivery after the first took more than 7 ms" in row.evidence


def test_a_loop_that_ends_at_the_limit_is_told_as_a_loop() -> None:
    [row] = found(given_up(9000, 11_010, 13_020))
    assert (row.kind, row.first_offset, row.until_timestamp) == (AnomalyKind.LOCK_EXPIRY_LOOP, 5, 13_020)
    assert "; also late_or_poison: record 5 was archived after 3 deliveries" in row.evidence


def test_what_is_said_against_some_records_of_a_loop_leaves_the_others() -> None:
    log = begun()
    for count, ms in enumerate((9000, 11_010, 13_020), start=1):
        log.update(ms, [(4, 6, AVAILABLE, count)])
    log.update(15_030, [(5, 5, ARCHIVED, 4)])
    rows = found(log, replace(CONFIG, delivery_count_limit=4))
    told = {(row.first_offset, row.last_offset): row for row in rows}
    assert {offsets: row.kind for offsets, row in told.items()} == dict.fromkeys([(4, 4), (5, 5), (6, 6)], "lock_expiry_loop")
    assert ["also late_or_poison" in told[at, at].evidence for at in (4, 5, 6)] == [False, True, False]


def after(log: MadeUpLog, first: int, last: int, ms: int, step: int) -> None:
    for at, offset in enumerate(range(first, last + 1)):
        log.update(ms + at * step, [(offset, offset, ACKNOWLEDGED, 1)])


def test_what_held_the_start_offset_until_it_was_given_up_is_told_by_its_cause() -> None:
    log = begun()
    log.update(100, [(0, 0, AVAILABLE, 1)])
    after(log, 1, 15, 200, 100)
    log.update(2150, [(0, 0, AVAILABLE, 2)])
    log.update(2160, [(0, 0, ARCHIVED, 3)])
    log.update(2161, start=16)
    [row] = found(log, STUCK)
    assert (row.kind, row.severity, row.first_offset) == (AnomalyKind.LATE_OR_POISON, Severity.WARNING, 0)
    assert "; also start_offset_stuck: start offset 0 stood for 1" in row.evidence


def test_what_still_holds_the_start_offset_is_told_as_that() -> None:
    log = begun()
    for count in (1, 2):
        log.update(100, [(0, 0, AVAILABLE, count)])
    log.update(101, [(0, 0, ARCHIVING, 3)])
    after(log, 1, 15, 200, 100)
    [row] = found(log, STUCK)
    assert (row.kind, row.severity, row.until_timestamp) == (AnomalyKind.START_OFFSET_STUCK, Severity.CRITICAL, None)
    assert "its dead-letter write is not finished; also poison_record: record 0 was archived after 3 deliveries" in row.evidence


def test_a_start_offset_that_stands_at_the_end_is_held_by_what_holds_it_then() -> None:
    log = begun()
    log.update(100, [(0, 1, AVAILABLE, 1)])
    after(log, 2, 15, 200, 100)
    log.update(2000, [(0, 0, ACKNOWLEDGED, 2)])
    [row] = found(log, STUCK)
    assert (row.kind, row.severity, row.first_offset) == (AnomalyKind.START_OFFSET_STUCK, Severity.CRITICAL, 1)
    assert row.evidence.startswith("start offset 0 stood for 1900 ms while 17 records after it")
    log.update(2001, [(1, 1, ACKNOWLEDGED, 2)])
    [row] = found(log, STUCK)
    assert (row.kind, row.severity, row.until_timestamp) == (AnomalyKind.START_OFFSET_STUCK, Severity.WARNING, 2001)


def test_an_unknown_offset_that_holds_the_start_offset_is_no_gap_besides() -> None:
    log = begun()
    after(log, 3, 15, 100, 100)
    log.snapshot(3000, partition=1)
    rows = found(log, replace(STUCK, gap_ms=1000))
    assert [(row.kind, row.first_offset, row.last_offset) for row in rows] == [
        (AnomalyKind.START_OFFSET_STUCK, 0, 0),
        (AnomalyKind.GAP, 1, 2),
    ]
    assert "also gap: nothing was ever written about 1 offsets, although 3 after them" in rows[0].evidence
    assert rows[1].evidence.startswith("nothing was ever written about 2 offsets")


def test_a_burst_lists_its_records() -> None:
    log = begun()
    for first, last in ((1, 7), (9, 9), (12, 14)):
        given_up(9000, 9010, 9020, first=first, last=last, log=log)
    [row] = found(log)
    assert (row.kind, row.severity, row.first_offset, row.last_offset) == (AnomalyKind.ARCHIVE_BURST, Severity.CRITICAL, 1, 14)
    assert row.evidence.startswith("11 records were archived at the delivery limit within 0 ms: 1-7, 9, 12-14; the limit is 3")
    assert "cannot tell" not in row.evidence
    assert row.advice.startswith("Look at what the members depend on")


def test_a_burst_tells_which_of_its_records_may_have_been_accepted_too_late() -> None:
    log = begun()
    given_up(9000, 9010, 9020, first=1, last=7, log=log)
    given_up(9000, 9010, 11_050, first=9, last=12, log=log)
    [row] = found(log)
    assert "; of 4 of them (9-12) the log cannot tell an acceptance that came too late from none" in row.evidence
    assert row.advice.startswith("Look at what the members depend on")
    [row] = found(given_up(9000, 11_010, 13_030, first=1, last=20))
    assert "; of all of them the log cannot tell an acceptance that came too late from none" in row.evidence
    assert "; also lock_expiry_loop: records 1-20 came back 2 times" in row.evidence
    assert row.advice.startswith("Compare the group's lock duration")


def test_a_burst_names_by_kind_what_many_say_of_its_records() -> None:
    log = begun()
    for offset in range(2, 26, 2):
        given_up(9000 + offset, 11_010 + offset, 13_030 + offset, first=offset, last=offset, log=log)
    [row] = found(log)
    assert row.kind == AnomalyKind.ARCHIVE_BURST
    assert row.evidence.endswith("; also lock_expiry_loop: records 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24")


def test_a_record_of_another_life_is_another_record() -> None:
    log = given_up(9000, 9010, 9020)
    log.tombstone(9100)
    log.snapshot(9200)
    given_up(9300, 9310, 9320, log=log)
    assert [(row.kind, row.since_timestamp) for row in found(log)] == [("poison_record", 9020), ("poison_record", 9320)]
