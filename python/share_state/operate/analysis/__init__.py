"""Reading and analysis of logs: states, history and anomalies of share partitions, as rows.

A running engine needs none of it. Each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from share_state._core import History, HistoryScan, Scan, fold_path, scan_path

if TYPE_CHECKING:
    from share_state.operate.analysis.anomaly import Anomaly, AnomalyConfig, AnomalyKind, Severity
    from share_state.operate.analysis.history_row import HistoryCause, HistoryRow
    from share_state.operate.analysis.read_history import history
    from share_state.operate.analysis.read_states import StateRow, states, states_of_rows
    from share_state.operate.analysis.search import anomalies, find_anomalies

_MODULES = {
    "anomaly": ("Anomaly", "AnomalyConfig", "AnomalyKind", "Severity"),
    "history_row": ("HistoryCause", "HistoryRow"),
    "read_history": ("history",),
    "read_states": ("StateRow", "states", "states_of_rows"),
    "search": ("anomalies", "find_anomalies"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Anomaly",
    "AnomalyConfig",
    "AnomalyKind",
    "History",
    "HistoryCause",
    "HistoryRow",
    "HistoryScan",
    "Scan",
    "Severity",
    "StateRow",
    "anomalies",
    "find_anomalies",
    "fold_path",
    "history",
    "scan_path",
    "states",
    "states_of_rows",
]


def __getattr__(name: str) -> object:
    """Import a name at its first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"share_state.operate.analysis.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return every name, also those that are not imported yet."""
    return sorted({*globals(), *__all__})
