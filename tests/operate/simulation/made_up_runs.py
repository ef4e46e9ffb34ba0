"""Logs whose truth is known: what the simulator itself writes while members with given habits work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import share_state as ss
from share_state.operate import analysis
from share_state.operate.simulation import (
    Arrivals,
    Figures,
    FittedProcessing,
    LogNormalProcessing,
    Model,
    Processing,
    Recorded,
    Settings,
    simulate,
)
from share_state.operate.simulation.failures import Failures
from share_state.operate.simulation.recorded import Place
from tests.made_up_log import TOPIC_ID, MadeUpLog

PLACE: Place = (TOPIC_ID, 0)
#: When a made-up log begins, in ms since the epoch.
BEGIN = 1_700_000_000_000
#: Members that stall now and then, longer than a short lock and not longer than a long one.
STALLING = FittedProcessing(5.0, 10.0, (0.8, 0.9, 1.0, 1.1, 1.25), stall_chance=0.005, stalls_ms=tuple(range(600, 2500, 100)))
STEADY = LogNormalProcessing(20.0, 0.4)


def truth(
    records: int = 1500,
    processing: Processing = STALLING,
    failures: Failures | None = None,
    arrivals: Mapping[Place, Arrivals] | None = None,
    places: Sequence[Place] = (PLACE,),
) -> Model:
    """Members and records as they are."""
    return Model(
        group="g",
        offsets={place: range(records) for place in places},
        arrivals=arrivals or {},
        begin_ms=BEGIN,
        processing=processing,
        failures=failures or Failures(),
    )


def write_log(model: Model, settings: Settings, seed: int) -> tuple[list[analysis.HistoryRow], Figures]:
    """State topic after a run, and the figures of that run."""
    log = MadeUpLog()
    for _, partition in sorted(model.offsets):
        log.snapshot(BEGIN, partition=partition)

    def take(at_ms: float, place: Place, write: ss.WriteState) -> None:
        log.update(
            round(BEGIN + at_ms),
            [(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count) for one in write.state_batches],
            start=write.start_offset,
            complete=write.delivery_complete_count,
            partition=place[1],
        )

    run = simulate(model, settings, seed, take)
    return log.rows, run.figures


def recorded_run(model: Model, settings: Settings, seed: int) -> tuple[Recorded, Figures]:
    """The same, as the simulator takes it."""
    rows, figures = write_log(model, settings, seed)
    return Recorded(rows), figures
