"""The word for a share partition: each rule at its edge, and which comes first."""

from __future__ import annotations

from typing import Any

import pytest

from share_state.operate.live import Health, Rates
from share_state.operate.live.health import Seen, health_of
from share_state.operate.live.rates import RecentTotals
from tests.operate.top.made_up import row as live_row

NOW_MS = 10_000_000
QUIET = Rates(60.0, accepted=100, released=0, archiving=0, rejected=0, at_limit=0, lag_rise=0)
ROW = live_row(
    "workers", state_epoch=0, start_offset=10, end_offset=20, available=1, acknowledged=10, delivery_counts=((1, 11),),
    held_offset=10, held_state=0, held_count=1, held_since=NOW_MS - 1_000, start_since=NOW_MS - 1_000, oldest_write=0,
    newest_write=NOW_MS, accepted_total=10, released_total=1,
)  # fmt: skip
SEEN = Seen(row=ROW, lag=5, has_members=True, delivery_limit=5, rates=QUIET, now_ms=NOW_MS)


def seen(*, row: dict[str, Any] | None = None, rates: dict[str, Any] | None = None, **changed: Any) -> Seen:
    return SEEN._replace(**{"row": ROW._replace(**(row or {})), "rates": QUIET._replace(**(rates or {})), **changed})


@pytest.mark.parametrize(
    ("given", "health", "why"),
    [
        (seen(), Health.OK, "5 records are not settled"),
        (seen(lag=0), Health.OK, "everything is settled"),
        (seen(lag=None), Health.OK, ""),
        (seen(row={"held_count": 3}), Health.OK, "5 records are not settled"),
        (seen(row={"held_count": 4}), Health.POISON, "record 10 is available after 4 deliveries, and the limit is 5"),
        (
            seen(row={"held_count": 2}, delivery_limit=2),
            Health.POISON,
            "record 10 is available after 2 deliveries, and the limit is 2",
        ),
        (seen(row={"held_count": 4, "held_state": 3}), Health.OK, "5 records are not settled"),
        (seen(rates={"at_limit": 3}), Health.POISON, "3 records were archived at the delivery limit in the last 60 s"),
        (seen(row={"held_since": NOW_MS - 149_999}), Health.OK, "5 records are not settled"),
        (seen(row={"held_since": NOW_MS - 150_000}), Health.STUCK, "for 150 s record 10 is available after 1 delivery"),
        (
            seen(row={"held_since": NOW_MS - 200_000, "held_state": None, "held_count": None}),
            Health.STUCK,
            "for 200 s offset 10 was never settled: acquired for the first time, or never delivered",
        ),
        (seen(has_members=False), Health.NO_MEMBERS, "the group has no members, and 5 records are not settled"),
        (seen(has_members=False, lag=0), Health.OK, "everything is settled"),
        (seen(has_members=False, lag=None), Health.NO_MEMBERS, "the group has no members"),
        (seen(has_members=False, lag=None, row={"held_offset": None}), Health.OK, ""),
        (seen(has_members=None), Health.OK, "5 records are not settled"),
        (Seen(None, 5, True, 5, None, NOW_MS), Health.NO_STATE, "a member is assigned it"),
        (seen(rates={"released": 100}), Health.OK, "5 records are not settled"),
        (seen(rates={"released": 101}), Health.EXPIRING, "101 records came back in the last 60 s"),
        (seen(rates={"lag_rise": 999}), Health.OK, "5 records are not settled"),
        (seen(rates={"lag_rise": 1_000}), Health.SLOW, "the lag grew by 1000 records in the last 60 s"),
        (seen(rates={"lag_rise": None}), Health.OK, "5 records are not settled"),
        # A full window, and one that is full but moves on, or after which nothing waits.
        (seen(record_locks=11, log_end=30), Health.OK, "5 records are not settled"),
        (
            seen(record_locks=11, log_end=30, row={"start_since": 0}),
            Health.FULL,
            "11 offsets are in flight, the limit is 11, and 9 records wait after them",
        ),
        (SEEN._replace(record_locks=11, log_end=30, rates=None), Health.FULL, "11 offsets"),
        (seen(record_locks=11, log_end=21), Health.OK, "5 records are not settled"),
        (seen(record_locks=12, log_end=30), Health.OK, "5 records are not settled"),
        (seen(has_members=True, by_locks="locks ran out", rates={"at_limit": 3}), Health.EXPIRING, "locks ran out"),
        (seen(has_members=False, by_locks="locks ran out"), Health.NO_MEMBERS, "the group"),
        (seen(lag=1), Health.OK, "1 record is not settled"),
        # The likeliest trouble first.
        (seen(row={"held_count": 4, "held_since": 0}, has_members=False), Health.POISON, "record 10"),
        (seen(row={"held_since": 0}, has_members=False), Health.STUCK, "for 10000 s"),
        (seen(has_members=False, rates={"released": 101, "lag_rise": 1_000}), Health.NO_MEMBERS, "the group"),
        (seen(rates={"released": 101, "lag_rise": 1_000}), Health.EXPIRING, "101 records"),
    ],
)
def test_the_word_and_why(given: Seen, health: Health, why: str) -> None:
    verdict = health_of(given)
    assert verdict.health is health
    assert verdict.why.startswith(why)
    assert bool(verdict.why) == bool(why)


def test_rates_are_over_a_minute_and_of_one_life() -> None:
    recent, key = RecentTotals(), ("workers", ROW.topic_id, 0)
    assert recent.rates(0.0, key, ROW, 5, limit=5) is None
    for second in range(0, 200, 2):
        row = ROW._replace(accepted_total=second, archived_totals=((2, second), (5, 2 * second)))
        recent.note(float(second), {key: row}, {key: second})
    now = ROW._replace(accepted_total=200, released_total=7, archived_totals=((2, 200), (5, 400), (6, 1)))
    rates = recent.rates(200.0, key, now, 190, limit=5)
    assert rates is not None
    began = 200 - rates.seconds
    assert 60 <= rates.seconds <= 72
    assert rates == Rates(
        seconds=rates.seconds,
        accepted=int(200 - began),
        released=6,
        archiving=0,
        rejected=int(200 - began),
        at_limit=int(400 - 2 * began) + 1,
        lag_rise=int(190 - began),
    )
    assert recent.rates(200.0, key, now._replace(state_epoch=1), 190, limit=5) is None
    assert recent.rates(200.0, key, now._replace(oldest_write=1), 190, limit=5) is None
    assert recent.rates(200.0, ("others", ROW.topic_id, 0), now, 190, limit=5) is None
    # One that came meanwhile is compared with the first moment that knows it.
    newer = ("newer", ROW.topic_id, 0)
    recent.note(210.0, {key: now, newer: ROW}, {})
    since = recent.rates(215.0, newer, ROW._replace(accepted_total=12), None, limit=5)
    assert since is not None
    assert (since.seconds, since.accepted) == (5.0, 2)
    unknown = recent.rates(200.0, key, now, None, limit=5)
    assert unknown is not None
    assert unknown.lag_rise is None
