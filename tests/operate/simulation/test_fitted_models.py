"""Fits to logs whose truth is known, and to records that were made up."""

from __future__ import annotations

import random
from itertools import product

import pytest

import share_state as ss
from share_state.operate.simulation import (
    Arrivals,
    EmptyHistoryError,
    FittedProcessing,
    LogNormalProcessing,
    Recorded,
    Settings,
    fit,
    simulate,
)
from share_state.operate.simulation.failures import Failures
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, AVAILABLE, TOPIC_ID, MadeUpLog
from tests.operate.simulation.made_up_runs import BEGIN, PLACE, STALLING, STEADY, recorded_run, truth, write_log

#: Short locks, so that stalls outlast them.
SHORT = Settings(lock_duration_ms=1000, delivery_limit=3, members=2, max_poll_records=10)
FAILING = Failures(poison=0.01, release=0.06, reject=0.02)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("failures", [Failures(), FAILING], ids=["clean", "failing"])
def test_the_log_of_a_run_tells_its_figures(failures: Failures, seed: int) -> None:
    recorded, figures = recorded_run(truth(failures=failures), SHORT, seed)
    model, told = fit(recorded, SHORT)
    for name in ("deliveries", "redeliveries", "accepted"):
        assert getattr(told, name) == getattr(figures, name)
    # A rejection of the last delivery looks like the limit.
    assert told.rejected + told.archived_at_limit == figures.rejected + figures.archived_at_limit
    assert abs(told.archived_at_limit - figures.archived_at_limit) <= 4
    # Which locks expired is inferred: nothing in the log says so.
    assert figures.lock_expiries > 0
    assert told.lock_expiries == pytest.approx(figures.lock_expiries, rel=0.05)
    assert told.drain_ms == pytest.approx(figures.drain_ms, abs=100)
    assert told.waits.longest_ms == pytest.approx(figures.waits.longest_ms, abs=100)
    assert model.unexplained <= 5


def test_the_truth_is_found_again_on_the_average_of_some_logs() -> None:
    found = [fit(recorded_run(truth(3000, failures=FAILING), SHORT, seed)[0], SHORT)[0] for seed in range(6)]
    fitted = [model.processing for model in found if isinstance(model.processing, FittedProcessing)]
    assert len(fitted) == 6

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    assert mean([one.usual(10) for one in fitted]) == pytest.approx(STALLING.usual(10), rel=0.05)
    assert mean([one.stall_chance for one in fitted]) == pytest.approx(STALLING.stall_chance, rel=0.25)
    lengths = [length for one in fitted for length in one.stalls_ms]
    assert mean(lengths) == pytest.approx(mean(list(STALLING.stalls_ms)), rel=0.15)
    assert mean([model.failures.poison for model in found]) == pytest.approx(FAILING.poison, rel=0.25)
    assert mean([model.failures.release for model in found]) == pytest.approx(FAILING.release, rel=0.15)
    assert mean([model.failures.reject for model in found]) == pytest.approx(FAILING.reject, rel=0.25)


def test_more_records_at_once_do_not_differ_as_much_as_few() -> None:
    recorded, _ = recorded_run(truth(processing=STEADY), SHORT, 1)
    fitted = fit(recorded, SHORT)[0].processing
    chance = random.Random(1)  # noqa: S311 - a simulation
    spreads = {}
    for records in (10, 160):
        drawn = [fitted.draw(records, chance) / records for _ in range(400)]
        middle = sum(drawn) / len(drawn)
        spreads[records] = (sum((one - middle) ** 2 for one in drawn) / len(drawn)) ** 0.5
    assert spreads[160] == pytest.approx(spreads[10] / 4, rel=0.3)


def test_the_same_seed_gives_the_same_run_and_another_does_not() -> None:
    model = truth(failures=FAILING)
    runs = [simulate(model, SHORT, seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0].figures != runs[2].figures
    assert write_log(model, SHORT, 3)[0] == write_log(model, SHORT, 3)[0]


def test_every_record_is_settled_whatever_the_settings() -> None:
    cases = list(product((1000, 30_000), (2, 7), (1, 6), ("batch", "record"), (1, 33)))
    for lock, limit, members, mode, poll in cases:
        settings = Settings(
            lock_duration_ms=lock, delivery_limit=limit, members=members, mode=mode, max_poll_records=poll, max_record_locks=100
        )
        run = simulate(truth(300, failures=FAILING), settings, 7)
        figures = run.figures
        assert figures.accepted + figures.rejected + figures.archived_at_limit == 300, settings
        assert figures.deliveries - figures.redeliveries == 300
        assert run.open_records[0] == (0.0, 300)
        assert run.open_records[-1][1] == 0
        assert figures.utilisation is not None
        assert 0 < figures.utilisation <= 1
    assert len(cases) == 32


def test_locks_shorter_than_the_work_archive_everything() -> None:
    slow = truth(40, processing=LogNormalProcessing(2000.0))
    figures = simulate(slow, Settings(lock_duration_ms=1000, delivery_limit=3, max_poll_records=1), 1).figures
    assert (figures.archived_at_limit, figures.accepted, figures.lock_expiries) == (40, 0, 120)


def test_log_batches_stay_whole_unless_records_are_limited() -> None:
    settings = Settings(max_poll_records=3)
    model = truth(40)
    for mode, most in (("batch", 10), ("record", 3)):
        taken: list[int] = []
        whole = type(model)(**{**{name: getattr(model, name) for name in model.__slots__}, "log_batch": 10})

        def note(_at: float, _place: object, write: ss.WriteState, taken: list[int] = taken) -> None:
            taken.append(sum(one.last_offset - one.first_offset + 1 for one in write.state_batches))

        simulate(whole, Settings(max_poll_records=settings.max_poll_records, mode=mode), 1, note)
        assert max(taken) == most


def test_records_that_come_later_are_taken_later() -> None:
    arrivals = {PLACE: Arrivals([(BEGIN, 0), (BEGIN + 60_000, 600)])}
    model = truth(600, processing=STEADY, arrivals=arrivals)
    quick = Settings(members=20, max_poll_records=10)
    recorded, figures = recorded_run(model, quick, 1)
    assert figures.drain_ms is not None
    assert 60_000 <= figures.drain_ms < 61_000
    assert figures.utilisation is not None
    assert figures.utilisation < 0.05
    known, _ = fit(recorded, quick, arrivals=arrivals)
    # A fetch of one record; without arrivals, waiting would count as work.
    chance = random.Random(1)  # noqa: S311 - a simulation
    assert max(known.processing.draw(1, chance) for _ in range(20)) < 100
    unknown, _ = fit(recorded, quick)
    assert sum(unknown.processing.draw(1, chance) for _ in range(20)) / 20 > 500
    assert known.assumptions()[-1] != unknown.assumptions()[-1]


@pytest.mark.parametrize("points", [[(5, 1), (4, 2)], [(4, 2), (5, 1)]])
def test_end_offsets_must_ascend(points: list[tuple[int, int]]) -> None:
    with pytest.raises(ss.ConfigError) as refused:
        Arrivals(points)
    assert (refused.value.field, refused.value.value) == ("end_offsets", points[1])


def test_records_come_evenly_between_measurements() -> None:
    arrivals = Arrivals([(1000, 10), (2000, 20), (3000, 20)])
    assert arrivals.of(9) == float("-inf")
    assert [arrivals.of(offset) for offset in (10, 14, 19)] == [1100, 1500, 2000]
    assert arrivals.of(20) == 2000
    assert not Arrivals().known


def test_several_share_partitions_are_worked_on_together() -> None:
    places = [(TOPIC_ID, number) for number in range(3)]
    settings = Settings(lock_duration_ms=1000, delivery_limit=3, members=2, max_poll_records=10)
    recorded, figures = recorded_run(truth(500, failures=FAILING, places=places), settings, 3)
    assert recorded.places() == places
    model, told = fit(recorded, settings)
    assert model.records == 1500
    assert told.redeliveries == figures.redeliveries
    again = simulate(model, settings, 1).figures
    assert again.redeliveries == pytest.approx(figures.redeliveries, rel=0.4)
    assert again.drain_ms == pytest.approx(figures.drain_ms, rel=0.3)


def test_poison_is_told_from_bad_luck() -> None:
    log = MadeUpLog()
    log.snapshot(BEGIN)
    # Record 5 is released by all, the others once at most.
    for offset in range(20):
        log.update(BEGIN + 10 * offset, [(offset, offset, AVAILABLE if offset in {5, 7} else ACKNOWLEDGED, 1)])
    log.update(BEGIN + 300, [(5, 5, AVAILABLE, 2), (7, 7, ACKNOWLEDGED, 2)])
    log.update(BEGIN + 400, [(5, 5, ARCHIVED, 3)])
    recorded = Recorded(log.rows)
    assert recorded.delivery_limit() == 3
    failures = fit(recorded, Settings(delivery_limit=3, max_poll_records=1))[0].failures
    chance = random.Random(1)  # noqa: S311 - a simulation
    assert sum(failures.is_poison(PLACE, 5, chance) for _ in range(100)) > 95
    assert not any(failures.is_poison(PLACE, 7, chance) for _ in range(100))
    assert failures.release == pytest.approx(1 / 21, rel=0.1)


def test_the_last_life_of_a_share_partition_that_had_deliveries_counts() -> None:
    log = MadeUpLog()
    log.snapshot(BEGIN)
    with pytest.raises(EmptyHistoryError) as nothing:
        Recorded(log.rows)
    assert (nothing.value.field, nothing.value.value) == ("group", "g")
    log.update(BEGIN + 1, [(0, 9, ACKNOWLEDGED, 1)])
    log.tombstone(BEGIN + 2)
    assert Recorded(log.rows).offsets(PLACE) == list(range(10))
    log.snapshot(BEGIN + 3, start=50)
    assert Recorded(log.rows).offsets(PLACE) == list(range(10))
    log.update(BEGIN + 4, [(50, 51, ACKNOWLEDGED, 1)])
    assert Recorded(log.rows).offsets(PLACE) == [50, 51]


def test_a_log_of_more_records_than_can_be_simulated_is_refused() -> None:
    log = MadeUpLog()
    log.snapshot(BEGIN)
    log.update(BEGIN + 1, [(0, 2**62, ACKNOWLEDGED, 1)])
    with pytest.raises(ss.ConfigError) as refused:
        Recorded(log.rows)
    assert (refused.value.field, refused.value.value) == ("offsets", (0, 2**62))


def test_stalls_that_end_before_their_lock_are_told_from_usual_work() -> None:
    patient = Settings(lock_duration_ms=10_000, delivery_limit=3, members=2, max_poll_records=10)
    recorded, figures = recorded_run(truth(3000), patient, 2)
    assert figures.lock_expiries == 0
    fitted = fit(recorded, patient)[0].processing
    assert isinstance(fitted, FittedProcessing)
    assert max(fitted.factors) < 2
    assert len(fitted.stalls_ms) == pytest.approx(3000 * STALLING.stall_chance, rel=0.6)
    assert min(STALLING.stalls_ms) - 100 <= min(fitted.stalls_ms) <= max(fitted.stalls_ms) <= max(STALLING.stalls_ms) * 2


def test_no_share_partition_starves() -> None:
    places = [(TOPIC_ID, number) for number in range(3)]
    order: list[int] = []
    model = truth(40, places=places)
    simulate(model, Settings(max_poll_records=10), 1, lambda _at, place, _write: order.append(place[1]))
    assert [sorted(order[at : at + 3]) for at in (0, 3, 6, 9)] == [[0, 1, 2]] * 4
