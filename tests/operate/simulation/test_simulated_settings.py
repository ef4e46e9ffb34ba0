"""The settings that are tried: how they are read, what their bounds are, and how a wrong one is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import share_state as ss
from share_state.operate.simulation import Settings, parse_processing_time
from share_state.operate.simulation.settings import milliseconds


@pytest.mark.parametrize(
    ("text", "ms"), [("200ms", 200.0), ("1.5s", 1500.0), ("2m", 120_000.0), ("1h", 3_600_000.0), ("0.25ms", 0.25)]
)
def test_durations_are_read(text: str, ms: float) -> None:
    assert milliseconds("x", text) == ms


@pytest.mark.parametrize("text", ["", "200", "ms", "-1s", "1 s", "1e3ms", "\u0661s", "nan", "1s1s"])
def test_what_is_no_duration_is_refused_by_field_and_value(text: str) -> None:
    with pytest.raises(ss.ConfigError) as refused:
        milliseconds("lock-duration", text)
    assert (refused.value.field, refused.value.value) == ("lock-duration", text)


#: Field, its option, a value that is still allowed, and one that is not.
BOUNDS = [
    ("lock_duration_ms", "lock-duration", 1000, 999),
    ("lock_duration_ms", "lock-duration", 3_600_000, 3_600_001),
    ("delivery_limit", "delivery-limit", 2, 1),
    ("delivery_limit", "delivery-limit", 25, 26),
    ("max_record_locks", "max-record-locks", 100, 99),
    ("max_record_locks", "max-record-locks", 10_000, 10_001),
    ("members", "members", 1, 0),
    ("members", "members", 1000, 1001),
    ("max_poll_records", "max-poll-records", 1, 0),
    ("max_poll_records", "max-poll-records", 2**31 - 1, 2**31),
]


@pytest.mark.parametrize(("field", "option", "allowed", "refused"), BOUNDS)
def test_kafkas_bounds_hold(field: str, option: str, allowed: int, refused: int) -> None:
    changes: dict[str, Any] = {field: allowed}
    assert getattr(replace(Settings(), **changes), field) == allowed
    with pytest.raises(ss.ConfigError) as error:
        replace(Settings(), **(changes | {field: refused}))
    assert (error.value.field, error.value.value) == (option, refused)
    assert allowed in {error.value.minimum, error.value.maximum}


def test_the_engine_gets_what_was_asked_for() -> None:
    config = Settings(lock_duration_ms=1234, delivery_limit=25, max_record_locks=10_000).group_config()
    told = (config.record_lock_duration_ms, config.delivery_count_limit, config.partition_max_record_locks)
    assert told == (1234, 25, 10_000)
    assert Settings().group_config() == ss.GroupConfig()


def test_changes_are_read_and_told_again() -> None:
    text = "lock-duration=1500ms,delivery-limit=3,max-record-locks=200,members=4,mode=record,max-poll-records=7"
    changed = Settings().with_changes(text)
    assert changed == Settings(
        lock_duration_ms=1500, delivery_limit=3, max_record_locks=200, members=4, mode="record", max_poll_records=7
    )
    assert changed.differences(Settings()) == text
    assert changed.differences(changed) == ""
    assert Settings().with_changes("lock-duration=2m").differences(Settings()) == "lock-duration=120s"
    assert changed.acquire_mode is ss.AcquireMode.RECORD_LIMIT


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("", "", ""),
        ("members", "members", ""),
        ("members=", "members", ""),
        ("members=two", "members", "two"),
        ("members=-1", "members", "-1"),
        ("members=²", "members", "²"),
        ("members=1,members=2", "members", "2"),
        ("lock=1s", "lock", "1s"),
        ("lock-duration=30", "lock-duration", "30"),
        ("mode=fast", "mode", "fast"),
        ("members=2,", "", ""),
    ],
)
def test_wrong_changes_are_refused_by_field_and_value(text: str, field: str, value: str) -> None:
    with pytest.raises(ss.ConfigError) as refused:
        Settings().with_changes(text)
    assert (refused.value.field, refused.value.value) == (field, value)


def test_what_a_cluster_says_is_taken_over() -> None:
    configs = {"share.record.lock.duration.ms": "45000", "share.delivery.count.limit": "7", "share.auto.offset.reset": "latest"}
    assert Settings(members=3).with_kafka(configs) == Settings(lock_duration_ms=45_000, delivery_limit=7, members=3)
    assert Settings().with_limit(3).delivery_limit == 3
    assert Settings().with_limit(40).delivery_limit == 5


def test_a_processing_time_is_one_or_two_percentiles() -> None:
    assert parse_processing_time("200ms").describe() == {"kind": "given", "record_p50_ms": 200.0, "record_p99_ms": 200.0}
    given = parse_processing_time("p50=100ms,p99=2s").describe()
    assert given == {"kind": "given", "record_p50_ms": 100.0, "record_p99_ms": 2000.0}
    assert parse_processing_time("p99=2s,p50=100ms").describe() == given


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("fast", "processing-time", "fast"),
        ("0ms", "processing-time", "0ms"),
        ("p50=1s", "processing-time", "p50=1s"),
        ("p50=1s,p99=2s,p50=1s", "processing-time", "p50=1s,p99=2s,p50=1s"),
        ("p50=1s,p90=2s", "processing-time", "p50=1s,p90=2s"),
        ("p50=0s,p99=2s", "p50", "0s"),
        ("p50=2s,p99=1s", "p99", "1s"),
        ("p50=2s,p99=x", "p99", "x"),
    ],
)
def test_a_wrong_processing_time_is_refused_by_field_and_value(text: str, field: str, value: str) -> None:
    with pytest.raises(ss.ConfigError) as refused:
        parse_processing_time(text)
    assert (refused.value.field, refused.value.value) == (field, value)
