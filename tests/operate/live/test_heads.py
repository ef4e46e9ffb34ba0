"""Facts that only the log tells: markers and aborted records at the head, open transactions, records that nobody settles."""

from __future__ import annotations

from pathlib import Path

import pytest

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.live import Health
from tests.gateway.wire.batches import marker, record_batch
from tests.made_up_log import ACKNOWLEDGED, AVAILABLE, Batch
from tests.operate.live.fake_cluster import FakeCluster
from tests.operate.live.made_up_cluster import ORDERS, looked_at, now_ms, written

PRODUCER = 7
#: Records, aborted ones, a record that is none of them, more of the aborted ones, the marker: 0-9, 10-14, 15, 16-19, 20.
TAIL = [
    record_batch(0, 10),
    record_batch(10, 5, producer_id=PRODUCER),
    record_batch(15, 1),
    record_batch(16, 4, producer_id=PRODUCER),
    marker(20, PRODUCER, commit=False),
]
END = 21
ALL_BUT_ABORTED: list[Batch] = [(0, 9, ACKNOWLEDGED, 1), (15, 15, ACKNOWLEDGED, 1)]


def stood(
    directory: Path, batches: list[Batch], *, complete: int, logs: list[bytes] | None, end: int = END, age_ms: int = 600_000
) -> FakeCluster:
    """A share partition of a group that reads committed records, last written so long ago."""
    fake = written(directory, [(age_ms, batches, complete)], end=end, logs=logs)
    fake.configs["g"]["share.isolation.level"] = "read_committed"
    fake.aborted = {("orders", 0): [(PRODUCER, 10)]}
    return fake


@pytest.mark.parametrize(
    ("complete", "logs"),
    [
        # All is settled by Kafka's own count.
        (END, None),
        # The count was written before the last aborted records were fetched, and the log tells what they are ...
        (16, TAIL),
        # ... or, where it may not be read, the count covers what is before the last record.
        (16, None),
        # With the leader changed, not even these are counted.
        (11, TAIL),
    ],
    ids=["lag-0", "gap", "gap-by-count", "not-counted"],
)
def test_a_topic_that_ends_in_an_aborted_transaction_is_fine(tmp_path: Path, complete: int, logs: list[bytes] | None) -> None:
    fake = stood(tmp_path, ALL_BUT_ABORTED, complete=complete, logs=logs)
    [one], found = looked_at(fake)
    assert (one.verdict.health, one.lag) == (Health.OK, END - complete)
    assert one.row is not None
    # So that no alert looks at it.
    assert (one.row.held_offset, one.row.held_since) == (None, None)
    assert one.anomalies == ()
    assert found == []
    # Nor where nobody is there: there is nothing to deliver.
    fake.members["g"] = []
    if logs is not None or complete == END:
        assert looked_at(fake)[0][0].verdict.health is Health.OK


@pytest.mark.parametrize(
    ("batches", "complete", "logs", "isolation", "health", "held"),
    [
        # A member has held record 9 since its first delivery.
        ([(0, 8, ACKNOWLEDGED, 1), (15, 15, ACKNOWLEDGED, 1)], 20, TAIL, "read_committed", Health.STUCK, 9),
        ([(0, 8, ACKNOWLEDGED, 1), (15, 15, ACKNOWLEDGED, 1)], 15, None, "read_committed", Health.STUCK, 9),
        # Aborted records are records for a group that reads uncommitted ones.
        (ALL_BUT_ABORTED, 16, TAIL, "read_uncommitted", Health.STUCK, 10),
        # What was committed is no gap.
        (ALL_BUT_ABORTED, 11, [*TAIL[:-1], marker(20, PRODUCER, commit=True)], "read_committed", Health.STUCK, 10),
        # A record that came back is one, whatever the count says.
        ([(0, 8, ACKNOWLEDGED, 1), (9, 9, AVAILABLE, 1), (15, 15, ACKNOWLEDGED, 1)], 20, TAIL, "", Health.STUCK, 9),
    ],
    ids=["hung", "hung-unread", "uncommitted", "committed", "available"],
)
def test_a_record_at_the_head_is_none(  # noqa: PLR0917  the columns
    tmp_path: Path, batches: list[Batch], complete: int, logs: list[bytes] | None, isolation: str, health: Health, held: int
) -> None:
    fake = stood(tmp_path, batches, complete=complete, logs=logs)
    fake.configs["g"]["share.isolation.level"] = isolation
    if "committed" not in isolation or isolation == "read_uncommitted" or (logs and logs[-1] != TAIL[-1]):
        fake.aborted = {}
    [one], found = looked_at(fake)
    assert one.row is not None
    assert (one.verdict.health, one.row.held_offset) == (health, held)
    assert [(finding.check, finding.severity) for finding in found] == [("start_offset", Severity.CRITICAL)]


def test_an_open_transaction_is_found(tmp_path: Path) -> None:
    began = now_ms() - 400_000
    logs = [record_batch(0, 10), record_batch(10, 5, producer_id=PRODUCER, ms=began), record_batch(15, 100)]
    fake = stood(tmp_path, [(0, 9, ACKNOWLEDGED, 1)], complete=10, logs=logs, end=115)
    fake.aborted, fake.stable = {}, {("orders", 0): 10}
    [one], [found] = looked_at(fake)
    assert one.verdict.health is Health.STALLED
    assert "a transaction is open since 20" in one.verdict.why
    assert one.verdict.why.endswith("Z, and 105 offsets wait behind its first record, 10")
    assert (found.check, found.severity, found.topic, found.partition) == ("open_transaction", Severity.CRITICAL, "orders", 0)
    assert found.evidence == {
        "last_stable_offset": 10,
        "log_end_offset": 115,
        "waiting": 105,
        "since_timestamp": began,
        "producer_id": PRODUCER,
    }
    log = "--topic orders --partition 0"
    assert found.commands == (f"kafka-transactions.sh --bootstrap-server kafka:9092 find-hanging {log}",)
    assert f"kafka-transactions.sh --bootstrap-server kafka:9092 abort {log} --start-offset 10" in found.advice
    # Records before it are still delivered: it is known before it stops the group.
    fake.logs = {("orders", 0): logs}
    early = stood(tmp_path / "early", [(0, 4, ACKNOWLEDGED, 1)], complete=5, logs=logs, end=115, age_ms=1_000)
    early.aborted, early.stable = {}, fake.stable
    [one], [found] = looked_at(early)
    assert (one.verdict.health, found.check, found.severity) == (Health.OK, "open_transaction", Severity.WARNING)
    # A group that reads uncommitted records does not wait for it.
    fake.configs["g"]["share.isolation.level"] = "read_uncommitted"
    [one], found_then = looked_at(fake)
    assert one.transaction is None
    assert {each.check for each in found_then} == {"members"}


def test_a_transaction_that_has_just_begun_is_none(tmp_path: Path) -> None:
    logs = [record_batch(0, 10), record_batch(10, 5, producer_id=PRODUCER, ms=now_ms() - 20_000)]
    fake = stood(tmp_path, [(0, 9, ACKNOWLEDGED, 1)], complete=10, logs=logs, end=15)
    fake.aborted, fake.stable = {}, {("orders", 0): 10}
    [one], found = looked_at(fake)
    assert (one.verdict.health, found) == (Health.OK, [])


@pytest.mark.parametrize(
    ("age_ms", "waits_ms", "lock_ms", "health"),
    [
        (600_000, 600_000, 30_000, Health.STALLED),
        # A group that was idle, with a record that has just come.
        (600_000, 2_000, 30_000, Health.OK),
        # It is at work.
        (2_000, 600_000, 30_000, Health.OK),
        # Members may take so long.
        (600_000, 600_000, 400_000, Health.OK),
    ],
    ids=["stalled", "idle", "at-work", "slow-work"],
)
def test_members_that_settle_nothing(tmp_path: Path, age_ms: int, waits_ms: int, lock_ms: int, health: Health) -> None:
    logs = [record_batch(0, 10), record_batch(10, 5, ms=now_ms() - waits_ms)]
    fake = stood(tmp_path, [(0, 9, ACKNOWLEDGED, 1)], complete=10, logs=logs, end=15, age_ms=age_ms)
    fake.configs["g"]["share.record.lock.duration.ms"] = str(lock_ms)
    fake.aborted = {}
    [one], found = looked_at(fake)
    assert one.verdict.health is health
    assert [(each.check, each.severity) for each in found] == (
        [("members", Severity.CRITICAL)] if health is Health.STALLED else []
    )
    for each in found:
        assert each.text.startswith("no delivery has ended for 60")
        assert each.text.endswith("s, and record 10 waits, with 1 member")
        assert each.commands == ("kafka-share-groups.sh --bootstrap-server kafka:9092 --describe --group g --members",)


def test_a_long_run_of_aborted_records_is_read_to_its_end(tmp_path: Path) -> None:
    # Several requests: batches that are cut off, and one that is larger than what is asked for.
    aborted = [record_batch(10 + number * 100, 100, size=4_000, producer_id=PRODUCER) for number in range(20)]
    aborted.append(record_batch(2010, 10, size=200_000, producer_id=PRODUCER))
    logs = [record_batch(0, 10), *aborted, marker(2020, PRODUCER, commit=False)]
    fake = stood(tmp_path, [(0, 9, ACKNOWLEDGED, 1)], complete=10, logs=logs, end=2021)
    assert looked_at(fake)[0][0].verdict == (
        Health.OK,
        "no record waits: 2,011 offsets hold none for the group (markers, aborted records)",
    )
    # The one record after them is found.
    logs.append(record_batch(2021, 1))
    fake.ends = {("orders", ORDERS): [2022]}
    [one], _ = looked_at(fake)
    assert (one.verdict.health, one.head is not None and one.head.offset) == (Health.STALLED, 2021)
