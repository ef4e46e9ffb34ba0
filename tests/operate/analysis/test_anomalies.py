"""Each kind of anomaly: a log that shows it, and a near miss that does not."""

from collections.abc import Callable
from dataclasses import asdict

import pytest

import share_state as ss
from share_state.operate import analysis
from share_state.operate.analysis import AnomalyConfig, AnomalyKind, Severity
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, ARCHIVING, AVAILABLE, MadeUpLog

CONFIG = AnomalyConfig(
    stuck_ms=1000,
    stuck_records=10,
    burst_records=10,
    burst_ms=1000,
    record_lock_duration_ms=100,
    loop_releases=2,
    count_records=2,
    gap_ms=1000,
    cold_ms=1000,
    cold_records=100,
)


def found(log: MadeUpLog, config: AnomalyConfig = CONFIG) -> list[analysis.Anomaly]:
    anomalies = list(analysis.find_anomalies(log.rows, config))
    assert all(row.evidence and row.advice for row in anomalies)
    assert all(row.kind in list(AnomalyKind) and row.severity in list(Severity) for row in anomalies)
    return anomalies


def but_stuck(rows: list[analysis.Anomaly]) -> list[analysis.Anomaly]:
    """The start offset stands meanwhile in some logs, and rightly is told."""
    return [row for row in rows if row.kind != AnomalyKind.START_OFFSET_STUCK]


def begun(partition: int = 0) -> MadeUpLog:
    log = MadeUpLog()
    log.snapshot(0, partition=partition)
    return log


def stuck(*, held: bool = True, slow: bool = True, many: bool = True) -> MadeUpLog:
    """Offset 0 is given back twice while those after it are accepted."""
    log = begun()
    log.update(100, [(0, 0, AVAILABLE if held else ACKNOWLEDGED, 1)])
    for i in range(12 if many else 3):
        log.update(100 + (i + 1) * (100 if slow else 10), [(i + 1, i + 1, ACKNOWLEDGED, 1)])
    return log


def test_a_start_offset_that_stands_while_deliveries_go_on() -> None:
    [row] = found(stuck())
    assert (row.kind, row.severity, row.first_offset) == (AnomalyKind.START_OFFSET_STUCK, Severity.CRITICAL, 0)
    assert (row.since_timestamp, row.until_timestamp) == (100, None)
    assert "0 holds it: available after 1 delivery" in row.evidence
    log = stuck()
    log.update(2000, start=1)
    [row] = found(log)
    assert (row.severity, row.until_timestamp) == (Severity.WARNING, 2000)


def test_a_stuck_start_offset_names_what_holds_it() -> None:
    log = begun()
    log.update(100, [(0, 4, ACKNOWLEDGED, 1), (6, 20, AVAILABLE, 1)])
    log.update(1200, [(6, 20, ACKNOWLEDGED, 2)])
    [row] = [row for row in found(log) if row.kind == AnomalyKind.START_OFFSET_STUCK]
    assert row.first_offset == 5
    assert "nothing was ever written about it" in row.evidence
    log = begun()
    log.update(100, [(0, 0, ARCHIVING, 1), (1, 20, AVAILABLE, 1)])
    log.update(1200, [(1, 20, ACKNOWLEDGED, 2)])
    [row] = found(log)
    assert "dead-letter write" in row.evidence


@pytest.mark.parametrize("log", [stuck(held=False), stuck(slow=False), stuck(many=False)], ids=["settled", "soon", "few"])
def test_a_start_offset_that_is_not_stuck(log: MadeUpLog) -> None:
    assert found(log) == []


def test_a_group_that_was_idle_is_not_stuck() -> None:
    log = begun()
    log.update(100, start=0, complete=0)
    log.update(900_000, [(0, 30, AVAILABLE, 1)], complete=0)
    log.update(900_100, [(1, 30, ACKNOWLEDGED, 2)], complete=30)
    assert found(log) == []


def archived(records: int, *, count: int, apart_ms: int) -> MadeUpLog:
    """Log whose records are released one by one until `count` - 1 and then archived, quicker than a lock runs out."""
    log = begun()
    for i in range(records):
        ms = 1000 + i * apart_ms
        for delivery in range(1, count):
            log.update(ms, [(i, i, AVAILABLE, delivery)])
        log.update(ms, [(i, i, ARCHIVED, count)])
    return log


def test_a_record_that_is_archived_at_the_limit_is_poison() -> None:
    log = archived(2, count=4, apart_ms=10)
    rows = found(log)
    assert [(row.kind, row.first_offset, row.last_offset) for row in rows] == [
        (AnomalyKind.POISON_RECORD, 0, 0),
        (AnomalyKind.POISON_RECORD, 1, 1),
    ]
    assert rows[0].severity == Severity.WARNING
    assert "after 4 deliveries; the limit is 4, by what the log shows" in rows[0].evidence
    [row, _] = found(log, AnomalyConfig(delivery_count_limits={"g": 4}, delivery_count_limit=9))
    assert "the limit is 4, as configured" in row.evidence


def test_a_record_on_its_way_to_the_dead_letter_queue_is_told_once() -> None:
    log = begun()
    log.update(1, [(3, 3, AVAILABLE, 1)])
    log.update(2, [(3, 3, ARCHIVING, 2)])
    log.update(3, [(3, 3, ARCHIVED, 2)])
    [row] = found(log)
    assert (row.kind, row.since_offset) == (AnomalyKind.POISON_RECORD, 2)


def test_a_rejected_record_is_not_poison() -> None:
    log = begun()
    log.update(1, [(0, 0, ARCHIVED, 1), (1, 1, AVAILABLE, 1)])
    log.update(2, [(1, 1, ARCHIVED, 2), (2, 2, AVAILABLE, 3)])
    log.update(3, [(2, 2, ACKNOWLEDGED, 4)])
    assert found(log) == []
    assert found(archived(2, count=4, apart_ms=10), AnomalyConfig(delivery_count_limit=5)) == []


def test_many_records_archived_in_a_short_time_are_a_burst() -> None:
    [row] = but_stuck(found(archived(15, count=3, apart_ms=50)))
    assert (row.kind, row.severity) == (AnomalyKind.ARCHIVE_BURST, Severity.CRITICAL)
    assert (row.first_offset, row.last_offset) == (0, 14)
    assert (row.since_timestamp, row.until_timestamp) == (1000, 1700)
    assert row.evidence.startswith("15 records were archived at the delivery limit within 700 ms")


def test_two_bursts_are_two_and_what_is_between_is_poison() -> None:
    log = archived(30, count=3, apart_ms=0)
    later = begun(partition=1)
    for ms, first, last in ((1000, 0, 12), (9000, 13, 13), (20000, 14, 30)):
        for delivery in (1, 2):
            later.update(ms, [(first, last, AVAILABLE, delivery)], partition=1)
        later.update(ms, [(first, last, ARCHIVED, 3)], partition=1)
    assert [row.kind for row in found(log)] == [AnomalyKind.ARCHIVE_BURST]
    assert [row.kind for row in but_stuck(found(later))] == [
        AnomalyKind.ARCHIVE_BURST,
        AnomalyKind.POISON_RECORD,
        AnomalyKind.ARCHIVE_BURST,
    ]


def test_as_many_records_archived_slowly_are_no_burst() -> None:
    rows = found(archived(15, count=3, apart_ms=200))
    assert [row.kind for row in rows] == [AnomalyKind.POISON_RECORD] * 15


def released(times: list[int]) -> MadeUpLog:
    log = begun()
    for count, ms in enumerate(times, start=1):
        log.update(ms, [(4, 6, AVAILABLE, count)])
    return log


def test_deliveries_that_end_a_lock_duration_apart_are_a_loop() -> None:
    log = released([100, 210, 330])
    [row] = found(log)
    assert (row.kind, row.first_offset, row.last_offset) == (AnomalyKind.LOCK_EXPIRY_LOOP, 4, 6)
    assert (row.since_timestamp, row.until_timestamp) == (210, None)
    assert "came back 2 times in a row after at least 100 ms" in row.evidence
    log.update(340, [(5, 5, ACKNOWLEDGED, 4)])
    log.update(430, [(6, 6, ARCHIVED, 4)])
    rows = {row.first_offset: row for row in found(log) if row.kind == AnomalyKind.LOCK_EXPIRY_LOOP}
    assert {offset: row.until_timestamp for offset, row in rows.items()} == {5: 340, 6: 430, 4: None}
    assert "came back 3 times" in rows[6].evidence


@pytest.mark.parametrize("times", [[100, 130, 160, 190], [100, 210], [100, 210, 800, 910]], ids=["quick", "once", "idle"])
def test_releases_that_are_no_loop(times: list[int]) -> None:
    assert found(released(times)) == []


def test_a_start_offset_that_goes_back() -> None:
    log = begun()
    log.update(1, start=10)
    log.update(2, start=4)
    [row] = found(log)
    assert (row.kind, row.severity) == (AnomalyKind.START_OFFSET_WENT_BACK, Severity.CRITICAL)
    assert (row.first_offset, row.last_offset) == (4, 9)
    log = begun()
    log.snapshot(3, epochs=(1, 1, 0), start=-1)
    assert [row.kind for row in found(log)] == [AnomalyKind.START_OFFSET_WENT_BACK]


def test_a_start_offset_that_an_administrator_resets_does_not_go_back() -> None:
    log = begun()
    log.update(1, start=10)
    log.snapshot(2, epochs=(1, 2, 0), start=4)
    log.tombstone(3)
    log.snapshot(4, epochs=(0, 1, 0), start=0)
    assert found(log) == []


@pytest.mark.parametrize(
    ("write", "evidence"),
    [
        (lambda log: log.update(9, epochs=(3, 4), complete=1), "the leader epoch goes from 5 back to 4"),
        (lambda log: log.update(9, epochs=(2, 5), complete=1), "an update names another snapshot than the last"),
        (lambda log: log.snapshot(9, epochs=(3, 7, 5), complete=1), "a snapshot of epoch 3 follows one of no lower epoch"),
        (lambda log: log.snapshot(9, epochs=(4, 6, 5)), "the state epoch goes from 7 back to 6"),
    ],
    ids=["leader", "update", "snapshot", "state"],
)
def test_an_epoch_that_goes_back(write: Callable[[MadeUpLog], None], evidence: str) -> None:
    log = MadeUpLog()
    log.snapshot(0, epochs=(0, 7, 0))
    log.snapshot(1, epochs=(3, 7, 5))
    assert found(log) == []
    write(log)
    [row] = found(log)
    assert (row.kind, row.severity) == (AnomalyKind.EPOCH_WENT_BACK, Severity.CRITICAL)
    assert row.evidence.startswith(evidence)


def test_epochs_that_rise_or_begin_anew_do_not_go_back() -> None:
    log = MadeUpLog()
    log.snapshot(0, epochs=(0, 1, 5))
    log.update(1, epochs=(0, 6), complete=1)
    log.snapshot(2, epochs=(1, 2, 0))
    log.tombstone(3)
    log.snapshot(4, epochs=(0, 1, 0))
    assert found(log) == []


def test_a_snapshot_that_takes_back_what_was_written() -> None:
    log = begun()
    log.update(1, [(0, 9, ACKNOWLEDGED, 2)])
    log.snapshot(2, [(0, 4, AVAILABLE, 1)], epochs=(1, 1, 0))
    rows = found(log)
    assert [(row.kind, row.first_offset, row.last_offset) for row in rows] == [
        (AnomalyKind.STATE_WENT_BACK, 0, 4),
        (AnomalyKind.STATE_WENT_BACK, 5, 9),
    ]
    assert rows[0].evidence == "a snapshot takes acknowledged×2 back to available×1"
    log = begun()
    log.update(1, [(0, 9, ACKNOWLEDGED, 2)])
    log.snapshot(2, [(5, 9, ACKNOWLEDGED, 2)], epochs=(1, 1, 0), start=5)
    assert found(log) == []


def counted(complete: list[int]) -> MadeUpLog:
    log = begun()
    for i, count in enumerate(complete):
        log.update(i + 1, [(i, i, ACKNOWLEDGED, 1)], complete=count)
    return log


def test_a_count_below_what_is_settled_disagrees() -> None:
    [row] = found(counted([1, 1, 1]))
    assert (row.kind, row.severity, row.until_timestamp) == (AnomalyKind.COUNT_DISAGREES, Severity.CRITICAL, None)
    assert row.evidence == "the delivery complete count is 1, but 3 records from 0 on are settled"
    [row] = found(counted([1, 1, 1, 4]))
    assert (row.severity, row.until_timestamp) == (Severity.WARNING, 4)


@pytest.mark.parametrize("complete", [[1, 1, 3], [9, 9, 9], [-1, -1, -1]], ids=["once", "more", "unknown"])
def test_a_count_that_does_not_disagree(complete: list[int]) -> None:
    assert found(counted(complete)) == []


def test_offsets_of_which_nothing_was_written_for_long_are_a_gap() -> None:
    log = begun()
    log.update(100, [(0, 1, AVAILABLE, 1), (5, 9, AVAILABLE, 1)])
    log.update(1050, [(9, 9, ACKNOWLEDGED, 2)])
    assert found(log) == []
    log.snapshot(1200, partition=1)
    [row] = found(log)
    assert (row.kind, row.severity) == (AnomalyKind.GAP, Severity.INFO)
    assert (row.first_offset, row.last_offset, row.since_timestamp) == (2, 4, 100)
    log.update(1300, [(2, 4, ACKNOWLEDGED, 1)])
    assert but_stuck(found(log)) == []


def test_updates_without_a_snapshot() -> None:
    log = MadeUpLog()
    log.update(1, [(0, 1, AVAILABLE, 1)])
    [row] = found(log)
    assert (row.kind, row.severity) == (AnomalyKind.MISSING_SNAPSHOT, Severity.CRITICAL)
    log.snapshot(2, [(0, 1, AVAILABLE, 1)], epochs=(1, 1, 0))
    assert found(log) == []


def cold(*, records: int, ms: int) -> MadeUpLog:
    log = begun(partition=0)
    log.snapshot(10, partition=1)
    log.skip(records)
    log.snapshot(ms, epochs=(1, 1, 0), partition=1)
    return log


def test_a_share_partition_that_keeps_the_log_from_being_pruned() -> None:
    [row] = found(cold(records=200, ms=2000))
    assert (row.kind, row.severity, row.partition) == (AnomalyKind.COLD_KEY, Severity.WARNING, 0)
    assert (row.since_offset, row.since_timestamp) == (0, 0)
    assert "it alone keeps 202 records" in row.evidence


@pytest.mark.parametrize("log", [cold(records=20, ms=2000), cold(records=200, ms=500)], ids=["few", "young"])
def test_a_share_partition_that_keeps_little(log: MadeUpLog) -> None:
    assert found(log) == []


def test_a_deleted_share_partition_keeps_nothing() -> None:
    log = cold(records=200, ms=2000)
    log.tombstone(2001)
    log.skip(50)
    log.snapshot(2002, epochs=(2, 1, 0), partition=1)
    assert found(log) == []


def test_what_lasts_until_a_deletion_is_over_then() -> None:
    log = stuck()
    log.update(1400, [(20, 20, AVAILABLE, 1)])
    log.tombstone(5000)
    [row] = found(log)
    assert (row.severity, row.until_timestamp) == (Severity.WARNING, 5000)


def test_a_threshold_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="stuck_ms is 0; expected at least 1"):
        AnomalyConfig(stuck_ms=0)
    with pytest.raises(ValueError, match="delivery_count_limit is -1; expected at least 1"):
        AnomalyConfig(delivery_count_limit=-1)
    with pytest.raises(ValueError, match="record_lock_durations_ms"):
        AnomalyConfig(record_lock_durations_ms={"g": 0})


def test_a_limit_that_others_have_seen() -> None:
    log = archived(2, count=4, apart_ms=10)
    assert [row.kind for row in found(log, AnomalyConfig(highest_released={"g": 3}))] == [AnomalyKind.POISON_RECORD] * 2
    assert found(log, AnomalyConfig(highest_released={"g": 4})) == []
    assert len(found(log, AnomalyConfig(highest_released={"other": 4}))) == 2


def test_names_and_thresholds_are_those_of_the_rules() -> None:
    assert [str(kind) for kind in AnomalyKind] == ss._core.ANOMALY_KINDS
    assert [str(severity) for severity in Severity] == ss._core.SEVERITIES
    assert asdict(AnomalyConfig()) == ss._core.ANOMALY_DEFAULTS


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"cause": "eaten"}, ValueError),
        ({"first_offset": 5, "last_offset": 4}, ValueError),
        ({"topic_id": "x"}, ValueError),
        ({"at_offset": None}, TypeError),
        ({"partition": 2**31}, OverflowError),
        ({"to_state": 0, "to_count": 2**15}, OverflowError),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_row_that_cannot_be_is_refused(change: dict[str, object], error: type[Exception]) -> None:
    row = begun().rows[0]._replace(**change)  # type: ignore[arg-type]
    with pytest.raises(error):
        list(analysis.find_anomalies([row]))
    with pytest.raises(error):
        list(analysis.states_of_rows([row]))
    with pytest.raises(ValueError, match="has 19 fields, not 3"):
        list(analysis.find_anomalies([row[:3]]))  # type: ignore[list-item]
