"""Checking a history, from a file or from lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from share_state import _core
from share_state.errors import ConfigError
from share_state.operate.histories.violation import HistoryReport, Lateness, Violation

__all__ = ["DELIVERY_LIMIT", "SKEW_MS", "WITHIN_MS", "check_history"]

#: Kafka's default of ``group.share.delivery.count.limit``.
DELIVERY_LIMIT: Final = _core.GroupConfig().delivery_count_limit
#: Greatest difference between the clocks of two members, ms.
SKEW_MS: Final = 50
#: Longest time that an available record may wait, ms.
WITHIN_MS: Final = 60_000


def check_history(
    lines: Iterable[bytes],
    *,
    delivery_limit: int = DELIVERY_LIMIT,
    skew_ms: int = SKEW_MS,
    within_ms: int = WITHIN_MS,
) -> HistoryReport:
    """Check a history.

    Args:
        lines: chunks of whole lines, JSON in UTF-8, such as a file opened for reading bytes.
        delivery_limit: the most deliveries of a record, at least 1.
        skew_ms: how far the clocks of two members may be apart, ms, at least 0.
        within_ms: how long an available record may wait while members poll and nothing is locked, ms, at least 1.

    Raises:
        NotAHistoryError: a line is none of a history; it has the line and the field.
        ConfigError: a setting is out of its range.
    """
    for name, value, minimum in (("delivery_limit", delivery_limit, 1), ("skew_ms", skew_ms, 0), ("within_ms", within_ms, 1)):
        if value < minimum:
            raise ConfigError(f"{name} is {value}; expected at least {minimum}", field=name, value=value, minimum=minimum)
    checker = _core.HistoryChecker()
    for chunk in lines:
        checker.take(chunk)
    found, (locks, shortest, longest), share_partitions, events = checker.check(delivery_limit, skew_ms, within_ms)
    violations = tuple(Violation(*one[:-1], tuple(map(json.loads, one[-1]))) for one in found)
    return HistoryReport(violations, Lateness(locks, shortest / 1e6, longest / 1e6), share_partitions, events)
