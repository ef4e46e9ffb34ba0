"""Simulation of a share group's records under other settings: its history, replayed through the engine.

The engine, :class:`share_state.SharePartition`, decides who may hold which record. What is simulated is the rest of the world:
when members fetch, how long their work takes, and how it ends.
"""

from share_state.operate.simulation.arrivals import Arrivals
from share_state.operate.simulation.model import ASSUMPTIONS, Model
from share_state.operate.simulation.processing import FittedProcessing, LogNormalProcessing, Processing, parse_processing_time
from share_state.operate.simulation.recorded import EmptyHistoryError, Recorded
from share_state.operate.simulation.result import Figures, Spread, Waits, recorded_figures
from share_state.operate.simulation.settings import Settings
from share_state.operate.simulation.simulate import Prediction, fit, predict, simulate

__all__ = [
    "ASSUMPTIONS",
    "Arrivals",
    "EmptyHistoryError",
    "Figures",
    "FittedProcessing",
    "LogNormalProcessing",
    "Model",
    "Prediction",
    "Processing",
    "Recorded",
    "Settings",
    "Spread",
    "Waits",
    "fit",
    "parse_processing_time",
    "predict",
    "recorded_figures",
    "simulate",
]
