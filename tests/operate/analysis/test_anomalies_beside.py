"""Anomalies that need what the log does not hold: log end offsets, and which topics there are."""

import json
from typing import Any

import pytest

from share_state.operate import analysis
from share_state.operate.analysis import AnomalyConfig, AnomalyKind, Severity, beside
from tests.made_up_log import TOPIC_ID, MadeUpLog

CONFIG = AnomalyConfig(lag_ms=1000, lag_records=50)
TOPIC = (TOPIC_ID, 0)


def begun() -> MadeUpLog:
    log = MadeUpLog()
    log.snapshot(0)
    return log


def lagging(*, complete: int = 0) -> MadeUpLog:
    """Offset 10 is the start from 100 ms on, and 20 from 2000 ms on."""
    log = begun()
    log.update(100, start=10, complete=complete)
    log.update(2000, start=20, complete=complete)
    log.snapshot(9000, partition=1)
    return log


def lag_of(samples: list[tuple[int, int]], log: MadeUpLog | None = None) -> list[analysis.Anomaly]:
    log = log or lagging()
    rows = list(analysis.find_anomalies(log.rows, CONFIG, log_end_offsets={TOPIC: samples}))
    assert list(analysis.find_anomalies(log.rows, CONFIG)) == []
    return rows


def test_a_lag_that_grows_to_the_end() -> None:
    [row] = lag_of([(500, 30), (1500, 60), (2500, 150)])
    assert (row.kind, row.severity, row.partition) == (AnomalyKind.GROWING_LAG, Severity.WARNING, 0)
    # The start offset moved to 20 meanwhile.
    assert row.evidence == "the lag rose from 20 to 130 records in 2000 ms and did not fall meanwhile"
    assert (row.since_offset, row.since_timestamp, row.until_timestamp) == (1, 500, None)
    assert lag_of([(2500, 150), (500, 30), (1500, 60)]) == [row]


def test_a_lag_that_grew_until_it_fell() -> None:
    [row] = lag_of([(500, 30), (1600, 90), (2500, 40)])
    assert (row.evidence.split(" records")[0], row.until_timestamp) == ("the lag rose from 20 to 80", 2500)
    log = lagging()
    log.tombstone(9500)
    [row] = lag_of([(500, 30), (1600, 90)], log)
    assert row.until_timestamp == 9500


@pytest.mark.parametrize(
    "samples",
    [[(500, 30), (1400, 90)], [(500, 30), (1600, 70)], [(500, 30), (1000, 20), (1600, 75)], [(-5, 0), (1600, 90)], [(500, 90)]],
    ids=["soon", "little", "fell", "before", "once"],
)
def test_a_lag_that_does_not_grow(samples: list[tuple[int, int]]) -> None:
    assert lag_of(samples) == []


def test_a_lag_that_is_not_known_does_not_grow() -> None:
    assert lag_of([(500, 30), (1600, 900)], lagging(complete=-1)) == []
    assert list(analysis.find_anomalies(lagging().rows, CONFIG, log_end_offsets={(TOPIC_ID, 7): [(500, 30), (1600, 900)]})) == []


def test_the_state_of_a_topic_that_is_no_more() -> None:
    other = "00000000-0000-0000-0000-000000000007"
    [row] = analysis.find_anomalies(begun().rows, CONFIG, live_topics=[other])
    assert (row.kind, row.severity, row.until_timestamp) == (AnomalyKind.DELETED_TOPIC, Severity.WARNING, None)
    assert TOPIC_ID in row.evidence
    assert list(analysis.find_anomalies(begun().rows, CONFIG, live_topics=iter([other, TOPIC_ID]))) == []
    log = begun()
    log.tombstone(5)
    assert list(analysis.find_anomalies(log.rows, CONFIG, live_topics=[])) == []
    with pytest.raises(ValueError, match='topic_id is "orders"'):
        analysis.find_anomalies([], live_topics=["orders"])


def test_rows_of_a_file_and_of_json_are_read_alike() -> None:
    of_json = f'[["{TOPIC_ID}", 0, 500, 30], ["{TOPIC_ID}", 1, -5, 9], ["{TOPIC_ID}", 0, 1500, 60]]'
    of_file = [[TOPIC_ID, "0", "500", "30"], [f" {TOPIC_ID}", " 1", "-5 ", "9"], [TOPIC_ID, "0", "1500", "60"]]
    expected = {(TOPIC_ID, 0): [(500, 30), (1500, 60)], (TOPIC_ID, 1): [(-5, 9)]}
    assert beside.parse_log_end_offsets(of_json) == beside.log_end_offsets(of_file) == expected
    assert beside.parse_log_end_offsets(beside.as_json(expected)) == expected
    assert beside.parse_log_end_offsets("[]") == {}
    assert beside.parse_live_topics(f'["{TOPIC_ID} "]') == beside.live_topics([TOPIC_ID]) == (TOPIC_ID,)
    assert beside.parse_live_topics(beside.as_json([])) == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Expecting value"),
        ("{}", "expected a JSON array"),
        ("[7]", "row 1 is 7; expected TOPIC_ID,PARTITION,MS,LOG_END_OFFSET"),
        (f'[["{TOPIC_ID}", 0, 5]]', "row 1 is"),
        (f'[["{TOPIC_ID}", 0, 5, 6, 7]]', "row 1 is"),
        ("[[0, 0, 5, 6]]", "row 1 is"),
        (f'[["{TOPIC_ID}", 0, 5, 6], ["{TOPIC_ID}", 0, 5, 6.5]]', "row 2 is 6.5; expected a whole number"),
        (f'[["{TOPIC_ID}", true, 5, 6]]', "row 1 is True; expected a whole number"),
        (f'[["{TOPIC_ID}", "1_0", 5, 6]]', "row 1 is '1_0'; expected a whole number"),
        (f'[["{TOPIC_ID}", null, 5, 6]]', "row 1 is None; expected a whole number"),
        (f'[["{TOPIC_ID}", 2147483648, 5, 6]]', "row 1 is 2147483648; expected a number of 32 bits"),
        (f'[["{TOPIC_ID}", 0, 5, 9223372036854775808]]', "row 1 is 9223372036854775808; expected a number of 64 bits"),
        ('[["orders", 0, 5, 6]]', 'topic_id is "orders"'),
        ('[["\\ud800", 0, 5, 6]]', "surrogates"),
    ],
)
def test_measurements_that_are_none_are_refused_by_their_row(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        beside.parse_log_end_offsets(text)
    assert told in str(refused.value)


@pytest.mark.parametrize("text", ["", "{}", "null", "[7]", '["orders"]', json.dumps([TOPIC_ID, None]), f'"{TOPIC_ID}"'])
def test_topics_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        beside.parse_live_topics(text)


@pytest.mark.parametrize("numbers", [(0, 500, 30), ("0", "500", "30")])
def test_what_is_read_is_what_the_finder_takes(numbers: tuple[Any, Any, Any]) -> None:
    told = beside.log_end_offsets([[TOPIC_ID, *numbers], [TOPIC_ID, 0, 1500, 90]])
    assert [row.kind for row in analysis.find_anomalies(lagging().rows, CONFIG, log_end_offsets=told)] == [
        AnomalyKind.GROWING_LAG
    ]
