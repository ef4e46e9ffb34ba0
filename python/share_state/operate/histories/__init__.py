"""Histories of what clients of share groups saw, checked against what share groups promise.

A history is JSON, one event a line, in order of time. Any broker, gateway or fake can be recorded and checked: the checker
knows no engine. Every step of a server lies between a request and its answer; a violation is reported only if no order of the
steps within these times explains the answers. The events and the checks are described in ``docs/histories.md``.
"""

from share_state.operate.histories.checking import DELIVERY_LIMIT, SKEW_MS, WITHIN_MS, check_history
from share_state.operate.histories.violation import CHECKS, HistoryReport, Lateness, Violation

__all__ = [
    "CHECKS",
    "DELIVERY_LIMIT",
    "SKEW_MS",
    "WITHIN_MS",
    "HistoryReport",
    "Lateness",
    "Violation",
    "check_history",
]
