"""Whatever a log tells, it can be fitted and simulated, or is refused with a reason."""

from __future__ import annotations

import random
from collections import Counter

import share_state as ss
from share_state.operate import analysis
from share_state.operate.simulation import Arrivals, EmptyHistoryError, Recorded, Settings, fit, simulate
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, ARCHIVING, AVAILABLE, MadeUpLog
from tests.operate.simulation.made_up_runs import BEGIN

_LOGS = 150


def any_log(chance: random.Random) -> list[analysis.HistoryRow]:
    """Records that no broker would write in this order: times go back, counts jump, states are taken back."""
    log = MadeUpLog()
    log.snapshot(BEGIN, start=chance.choice((-1, 0, 5)))
    for _ in range(chance.randrange(20)):
        at = BEGIN + chance.randrange(-5000, 50_000)
        partition = chance.randrange(2)
        first = chance.randrange(50)
        batch = (
            first,
            first + chance.randrange(10),
            chance.choice((AVAILABLE, ACKNOWLEDGED, ARCHIVED, ARCHIVING)),
            chance.randrange(1, 6),
        )
        kind = chance.random()
        if kind < 0.05:
            log.tombstone(at, partition=partition)
        elif kind < 0.2:
            log.snapshot(at, [batch], epochs=(chance.randrange(3), chance.randrange(3), 0), start=first, partition=partition)
        else:
            log.update(at, [batch], start=chance.choice((-1, first)), partition=partition)
    return log.rows


def any_settings(chance: random.Random) -> Settings:
    return Settings(
        lock_duration_ms=chance.choice((1000, 30_000)),
        delivery_limit=chance.randrange(5, 9),
        members=chance.randrange(1, 6),
        mode=chance.choice(("batch", "record")),
        max_poll_records=chance.choice((1, 3, 500)),
    )


def test_any_history_is_simulated_to_its_end_or_refused() -> None:
    found: Counter[str] = Counter()
    for seed in range(_LOGS):
        chance = random.Random(seed)  # noqa: S311 - a test
        try:
            recorded = Recorded(any_log(chance))
        except EmptyHistoryError:
            found["empty"] += 1
            continue
        ends = sorted((BEGIN + chance.randrange(50_000), chance.randrange(60)) for _ in range(chance.randrange(5)))
        try:
            arrivals = {place: Arrivals(ends) for place in recorded.places()}
        except ss.ConfigError:
            found["refused"] += 1
            arrivals = {}
        model, told = fit(recorded, any_settings(chance), arrivals=arrivals, log_batch=chance.randrange(1, 20))
        assert told.deliveries >= model.records > 0
        figures = simulate(model, any_settings(chance), seed).figures
        assert figures.accepted + figures.rejected + figures.archived_at_limit == model.records
        found["simulated"] += 1
    assert found["simulated"] > _LOGS / 2
    assert found["empty"] > 0
    assert found["refused"] > 0
