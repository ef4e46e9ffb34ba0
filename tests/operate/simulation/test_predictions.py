"""Predictions held to what came true: on logs that the simulator made, and on recorded runs of a broker."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from share_state.operate import analysis
from share_state.operate.simulation import Model, Prediction, Recorded, Settings, fit, predict
from share_state.operate.simulation.failures import Failures
from tests.operate.simulation.made_up_runs import recorded_run, truth
from tests.recordings import REPOSITORY

RECORDING = REPOSITORY / "tests" / "data" / "kafka-state" / "simulated-4.4.0"
FAILING = Failures(poison=0.01, release=0.06, reject=0.02)
BEFORE = Settings(lock_duration_ms=1000, delivery_limit=3, members=2, max_poll_records=10)
AFTER = [
    "lock-duration=5s",
    "delivery-limit=6",
    "members=5",
    "max-poll-records=40",
    "lock-duration=3s,delivery-limit=2,members=3",
]
#: docs/operate.md states these: how far the mean of a prediction may be from what was observed.
REDELIVERIES_ERROR, DRAIN_ERROR, RUNS = 0.25, 0.20, 60


TRUTH = truth(2000, failures=FAILING)


@pytest.fixture(scope="module")
def fitted() -> list[Model]:
    """Models of the same world, each from the log of another run."""
    return [fit(recorded_run(TRUTH, BEFORE, seed)[0], BEFORE)[0] for seed in range(20)]


@pytest.mark.parametrize("change", AFTER)
def test_other_settings_are_predicted_from_logs_that_the_simulator_wrote(change: str, fitted: list[Model]) -> None:
    """The mean over several logs is held to the truth, as a single log has few stalls."""
    after = BEFORE.with_changes(change)
    happened = predict(TRUTH, after, runs=20, seed=500)
    predicted = [predict(model, after, runs=2, seed=seed) for seed, model in enumerate(fitted)]
    for name, error in (("redeliveries", 0.15), ("drain_ms", 0.15), ("archived_at_limit", 0.20)):
        mean = sum(one.spread(name).mean for one in predicted) / len(predicted)
        assert mean == pytest.approx(happened.spread(name).mean, rel=error), name


def runs() -> dict[str, dict[str, Any]]:
    told = json.loads((RECORDING / "runs.json").read_text(encoding="utf-8"))
    return {run["group"]: run for run in told}


def settings_of(run: dict[str, Any]) -> Settings:
    return Settings(lock_duration_ms=run["lock_ms"], delivery_limit=run["limit"], members=run["members"], max_poll_records=10)


@pytest.fixture(scope="module")
def recorded() -> dict[str, Recorded]:
    return {group: Recorded(analysis.history(RECORDING, group=group)) for group in runs()}


def test_each_recorded_run_is_predicted_from_each_other(recorded: dict[str, Recorded]) -> None:
    fitted = {group: fit(recorded[group], settings_of(run), log_batch=10) for group, run in runs().items()}
    errors: dict[tuple[str, str, str], float] = {}
    for before, after in permutations(runs(), 2):
        prediction = predict(fitted[before][0], settings_of(runs()[after]), runs=RUNS)
        # Observed by the members themselves.
        errors[before, after, "redeliveries"] = off(prediction, "redeliveries", runs()[after]["redeliveries"])
        drain_ms = fitted[after][1].drain_ms
        assert drain_ms is not None
        errors[before, after, "drain_ms"] = off(prediction, "drain_ms", drain_ms)
    assert len(errors) == 24
    for (before, after, name), error in errors.items():
        assert error <= (REDELIVERIES_ERROR if name == "redeliveries" else DRAIN_ERROR), (before, after, name)


def off(prediction: Prediction, name: str, observed: float) -> float:
    """Distance of the mean from what was observed, which lies within what the runs led to."""
    spread = prediction.spread(name)
    assert spread.low <= observed <= spread.high, (name, spread, observed)
    return abs(spread.mean - observed) / observed


def test_the_settings_are_what_makes_the_difference(recorded: dict[str, Recorded]) -> None:
    """Whoever predicts that nothing changes is further off than the errors that are stated."""
    told = runs()
    assert told["long-locks"]["redeliveries"] / told["short-locks"]["redeliveries"] < 1 - REDELIVERIES_ERROR
    drains = {}
    for group in ("short-locks", "more-members"):
        drains[group] = fit(recorded[group], settings_of(told[group]))[1].drain_ms or 0
    assert drains["more-members"] / drains["short-locks"] < 1 - DRAIN_ERROR


def test_todays_settings_reproduce_each_recording(recorded: dict[str, Recorded]) -> None:
    for group, run in runs().items():
        model, figures = fit(recorded[group], settings_of(run), log_batch=10)
        assert predict(model, settings_of(run), runs=20).misses(figures) == [], group


def test_the_log_tells_what_the_members_saw(recorded: dict[str, Recorded]) -> None:
    for group, run in runs().items():
        _, figures = fit(recorded[group], settings_of(run))
        assert (figures.deliveries, figures.redeliveries) == (run["deliveries"], run["redeliveries"])


def test_a_wrong_number_of_members_shows() -> None:
    """The model does not reproduce a recording that does not fit what is said of it."""
    recorded, _ = recorded_run(TRUTH, BEFORE, 1)
    right, figures = fit(recorded, BEFORE)
    assert predict(right, BEFORE, runs=10).misses(figures) == []
    wrong = BEFORE.with_changes("members=12")
    fitted, figures = fit(recorded, wrong)
    assert predict(fitted, wrong, runs=10).misses(figures) != []
