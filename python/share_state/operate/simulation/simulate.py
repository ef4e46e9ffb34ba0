"""From a history to predictions: fit once, then run under any settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median_high
from typing import Final

from share_state.operate.simulation.arrivals import Arrivals
from share_state.operate.simulation.assigned import crews
from share_state.operate.simulation.failures import fit_failures
from share_state.operate.simulation.fit import fit_processing
from share_state.operate.simulation.model import Model
from share_state.operate.simulation.polls import polls
from share_state.operate.simulation.processing import Processing
from share_state.operate.simulation.reconstruction import all_ran_out, merged, reconstruct
from share_state.operate.simulation.recorded import Place, Recorded
from share_state.operate.simulation.result import Figures, Spread, Waits, recorded_figures
from share_state.operate.simulation.settings import Settings
from share_state.operate.simulation.world import Log, Run, World

__all__ = ["Prediction", "fit", "predict", "simulate"]

#: Figures by which a simulation of today's settings is held to what was recorded.
_COUNTED: Final = ("redeliveries", "archived_at_limit", "lock_expiries", "drain_ms")

#: Reason for which the log does not tell how long members work.
_RAN_OUT: Final = "every delivery ran into its lock"

#: The range of long recordings is narrow: so far off is still close.
_CLOSE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction from several runs under the same settings.

    Attributes:
        settings: the settings.
        runs: each run.
    """

    settings: Settings
    runs: tuple[Run, ...]

    def misses(self, figures: Figures) -> list[str]:
        """Return the figures of a recorded run that lie outside what all runs led to, by more than a small part of it."""
        missed = []
        for name in _COUNTED:
            happened, spread = getattr(figures, name), self.spread(name)
            if happened is not None and not spread.low * (1 - _CLOSE) <= happened <= spread.high * (1 + _CLOSE):
                missed.append(name)
        return missed

    def spread(self, name: str) -> Spread:
        """Return the mean of a figure of :class:`Figures`, or of the :class:`Waits` in it, and its least and greatest value."""
        return Spread.of([_figure(run.figures, name) for run in self.runs])


def _figure(figures: Figures, name: str) -> float:
    return float(getattr(figures.waits if name in Waits._fields else figures, name) or 0.0)


def fit(
    recorded: Recorded,
    today: Settings,
    *,
    arrivals: Mapping[Place, Arrivals] | None = None,
    processing: Processing | None = None,
    log_batch: int = 1,
) -> tuple[Model, Figures]:
    """Reduce a history to a model, and return the figures of what was recorded too.

    Args:
        recorded: the deliveries of the history.
        today: the settings under which it was recorded; what is inferred depends on them.
        arrivals: when the records of share partitions came, as far as it is known.
        processing: how long a record takes, instead of what the log shows.
        log_batch: how many neighbouring records the producer wrote as one batch.
    """
    there = dict(arrivals or {})
    found = [
        (polls(recorded, today.delivery_limit, crew.places), crew.members) for crew in crews(recorded.places(), today.members)
    ]
    told = merged(reconstruct(of_crew, members, today.lock_duration_ms, there) for of_crew, members in found)
    ran_out = all(all_ran_out(of_crew, today.lock_duration_ms, is_answered=bool(told.worked)) for of_crew, _ in found)
    model = Model(
        group=recorded.group,
        offsets={place: recorded.offsets(place) for place in recorded.places()},
        arrivals=there,
        begin_ms=told.begin_ms,
        processing=processing or fit_processing(told, today.lock_duration_ms),
        failures=fit_failures(recorded, told.expired, today.delivery_limit),
        log_batch=log_batch,
        unexplained=told.unexplained,
        unknown_work=_RAN_OUT if processing is None and ran_out else "",
    )
    return model, recorded_figures(recorded, told.expired, today.delivery_limit, told.begin_ms)


def usual_poll(recorded: Recorded, today: Settings) -> int:
    """Return how many records a fetch brings as a rule: what half of the records came with, or fewer."""
    found = [polls(recorded, today.delivery_limit, crew.places) for crew in crews(recorded.places(), today.members)]
    sizes = sorted(poll.records for of_crew in found for poll in of_crew for _ in range(poll.records))
    return median_high(sizes)


def simulate(model: Model, settings: Settings, seed: int, log: Log | None = None) -> Run:
    """Run once. The same arguments give the same run; ``log`` is told of every write of state."""
    return World(model, settings, seed, log).run()


def predict(
    model: Model, settings: Settings, *, runs: int = 20, seed: int = 0, progress: Callable[[int, int], object] | None = None
) -> Prediction:
    """Run several times, each with a seed of its own; ``progress`` is called with the runs done and their total."""
    done = []
    for number in range(runs):
        done.append(simulate(model, settings, seed + number))
        if progress is not None:
            progress(number + 1, runs)
    return Prediction(settings, tuple(done))
