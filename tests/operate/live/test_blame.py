"""The blame for records that come back: locks that run out, single records, full windows, a skewed topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from share_state.operate.analysis.anomaly import AnomalyKind, Severity
from share_state.operate.live import Health
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, AVAILABLE, Batch, MadeUpLog
from tests.operate.live.fake_cluster import FakeCluster
from tests.operate.live.fake_configs import member
from tests.operate.live.made_up_cluster import ORDERS, looked_at, now_ms, written
from tests.operate.live.test_doctor import group_config

LOCK_MS = 30_000
Write = tuple[int, list[Batch], None]


def delivered(
    first: int, last: int, *, times: int, apart_ms: int, ends: int | None = ARCHIVED, last_ms: int = 1_000
) -> list[Write]:
    """Records that came back so often, and then were archived at the limit, or (None) wait."""
    writes: list[Write] = [
        (last_ms + (times - count) * apart_ms, [(first, last, AVAILABLE, count)], None)
        for count in range(1, times + (ends is None))
    ]
    if ends is not None:
        writes.append((last_ms, [(first, last, ends, times)], None))
    return writes


def accepted(first: int, last: int, ms_ago: int) -> Write:
    return ms_ago, [(first, last, ACKNOWLEDGED, 1)], None


def in_order(*writes: Write) -> list[Write]:
    return sorted(writes, key=lambda write: -write[0])


def with_lock(fake: FakeCluster) -> FakeCluster:
    fake.configs["g"]["share.record.lock.duration.ms"] = str(LOCK_MS)
    return fake


@pytest.mark.parametrize("ends", [ARCHIVED, None], ids=["lost", "waiting"])
def test_locks_that_explain_what_comes_back_are_one_finding(tmp_path: Path, ends: int | None) -> None:
    writes = delivered(0, 156, times=5 if ends else 4, apart_ms=LOCK_MS + 500, ends=ends)
    [one], [found] = looked_at(with_lock(written(tmp_path, writes, end=200)))
    assert one.verdict == (Health.EXPIRING, "157 records came back because locks ran out")
    assert (found.check, found.severity, found.group, found.partition) == ("lock_duration", Severity.CRITICAL, "g", 0)
    assert found.commands == (group_config("share.record.lock.duration.ms=60000", "g"),)
    assert ("157 records given up, 0 accepted" in found.text) == (ends is not None)


def test_locks_that_no_longer_run_out_are_no_word_for_now(tmp_path: Path) -> None:
    writes = delivered(0, 156, times=4, apart_ms=LOCK_MS + 500, ends=None, last_ms=300_000)
    # Until the lock duration was raised.
    writes.append((200_000, [(0, 156, ACKNOWLEDGED, 5)], None))
    [one], [found] = looked_at(with_lock(written(tmp_path, writes, end=157)))
    assert one.verdict == (Health.OK, "everything is settled")
    assert (found.check, found.severity) == ("lock_duration", Severity.WARNING)


def test_all_share_partitions_of_a_group_are_one_finding(tmp_path: Path) -> None:
    log = MadeUpLog()
    for partition in range(3):
        log.snapshot(now_ms() - 200_000, complete=0, partition=partition)
        for age_ms, batches, _ in delivered(0, 50, times=4, apart_ms=LOCK_MS + 500, ends=None):
            log.update(now_ms() - age_ms, batches, start=0, complete=0, partition=partition)
    fake = with_lock(written(tmp_path / "one", [(1_000, [], None)], end=60))
    fake.log, fake.ends = log.written(tmp_path / "three"), {("orders", ORDERS): [60, 60, 60]}
    found_by, [found] = looked_at(fake)
    assert [one.verdict.health for one in found_by] == [Health.EXPIRING] * 3
    assert (found.check, found.topic, found.partition) == ("lock_duration", "orders", None)
    assert "3 such findings within 15 minutes, about 153 records" in found.text


def test_a_record_that_members_hang_on_while_others_are_accepted_is_poison(tmp_path: Path) -> None:
    writes = in_order(*delivered(0, 0, times=5, apart_ms=LOCK_MS + 500), *(accepted(at, at, 40_000 - at) for at in range(1, 9)))
    [one], [found] = looked_at(with_lock(written(tmp_path, writes, end=9)))
    assert one.by_locks == ""
    assert (found.check, found.severity) == ("poison_record", Severity.WARNING)
    assert "members hang on it" in found.advice
    # Where what was accepted was so before, it is the locks.
    writes = in_order(*delivered(0, 0, times=5, apart_ms=LOCK_MS + 500), *(accepted(at, at, 400_000 - at) for at in range(1, 9)))
    [one], [found] = looked_at(with_lock(written(tmp_path / "before", writes, end=9)))
    assert (one.by_locks, found.check) == ("1 record came back because locks ran out", "lock_duration")


def test_records_that_come_back_at_once_are_poison_and_not_given_more_deliveries(tmp_path: Path) -> None:
    writes: list[Write] = []
    for offset in range(12):
        # One a time, so that they are no burst.
        writes += delivered(offset, offset, times=5, apart_ms=20, last_ms=800_000 - offset * 60_000)
    writes += [accepted(12 + at, 12 + at, 790_000 - at * 60_000) for at in range(13)]
    _, found = looked_at(with_lock(written(tmp_path, in_order(*writes), end=30)))
    by_check = {one.check: one for one in found}
    assert by_check.keys() == {"poison_record", "delivery_limit"}
    assert by_check["delivery_limit"].commands == ()
    assert "More deliveries would end as these did" in by_check["delivery_limit"].advice


@pytest.mark.parametrize(("last", "end", "health"), [(199, 300, Health.FULL), (198, 300, Health.OK), (199, 200, Health.OK)])
def test_a_full_window_is_seen_by_all(tmp_path: Path, last: int, end: int, health: Health) -> None:
    writes = [(1_000, [(0, 0, AVAILABLE, 1), (1, last, ACKNOWLEDGED, 1)], None)]
    fake = written(tmp_path, writes, end=end)
    fake.configs["g"]["share.partition.max.record.locks"] = "200"
    [one], found = looked_at(fake)
    assert one.verdict.health is health
    is_full = last == 199
    assert (AnomalyKind.WINDOW_FULL in dict(one.anomalies)) == is_full
    assert [each.check for each in found] == (["record_locks"] if health is Health.FULL else [])
    if health is Health.FULL:
        assert one.verdict.why == "200 offsets are in flight, the limit is 200, and 100 records wait after them"


@pytest.mark.parametrize(
    ("ends", "severity"),
    [
        ([2_000, 3, 0], Severity.WARNING),
        ([200, 3, 0], Severity.INFO),
        ([90, 0, 0], None),
        ([2_000, 900, 800], None),
        ([2_000], None),
    ],
)
def test_a_skewed_topic(tmp_path: Path, ends: list[int], severity: Severity | None) -> None:
    fake, log = written(tmp_path / "one", [(1_000, [], None)], end=0), MadeUpLog()
    for partition in range(len(ends)):
        log.snapshot(now_ms() - 1_000, complete=0, partition=partition)
    fake.log, fake.ends = log.written(tmp_path / "all"), {("orders", ORDERS): ends}
    fake.members["g"] = [member(f"m-{partition}", {ORDERS: [partition]}) for partition in range(len(ends))]
    _, found = looked_at(fake)
    assert [(one.check, one.severity) for one in found] == ([] if severity is None else [("skew", severity)])
    for one in found:
        assert (one.partition, one.evidence["lag"], one.evidence["partitions"]) == (0, ends[0], len(ends))
