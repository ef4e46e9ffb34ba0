"""The limits of a share group by its configuration, and what anomalies are looked for with by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state import _core
from share_state.operate.analysis.anomaly import AnomalyConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DELIVERY_LIMIT",
    "LOCK_DURATION",
    "RECORD_LOCKS",
    "WINDOW_S",
    "delivery_limit_of",
    "number_of",
    "reads_committed",
    "thresholds",
]

#: An anomaly that was over longer ago is not shown any more, seconds.
WINDOW_S: Final = 900.0
#: Kafka's ``group.share.delivery.count.limit`` by default.
_KAFKA_DELIVERY_LIMIT: Final = _core.GroupConfig().delivery_count_limit
#: The name of a limit of a group, and of the brokers' for groups without one of their own.
DELIVERY_LIMIT: Final = ("share.delivery.count.limit", "group.share.delivery.count.limit")
LOCK_DURATION: Final = ("share.record.lock.duration.ms", "group.share.record.lock.duration.ms")
RECORD_LOCKS: Final = ("share.partition.max.record.locks", "group.share.partition.max.record.locks")


def number_of(configs: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    """Return the first of these that is there and is a number of at least 1; None where none is."""
    for name in names:
        value = configs.get(name, "")
        if value.isascii() and value.isdecimal() and int(value) > 0:
            return int(value)
    return None


def delivery_limit_of(configs: Mapping[str, str]) -> int:
    """Return the delivery limit of a group by its configuration; Kafka's default where it is not known."""
    return number_of(configs, DELIVERY_LIMIT) or _KAFKA_DELIVERY_LIMIT


def reads_committed(configs: Mapping[str, str]) -> bool:
    """Return whether a group is given committed records only; by Kafka's default, and where it is not known, it is not."""
    return configs.get("share.isolation.level", "").strip().lower() == "read_committed"


def thresholds(configs: Mapping[str, Mapping[str, str]]) -> AnomalyConfig:
    """Return what anomalies are looked for with.

    Args:
        configs: of each group. A group that is not there has the delivery limit of Kafka's default, as in the health words.
    """
    return AnomalyConfig(
        delivery_count_limit=delivery_limit_of({}),
        delivery_count_limits={group: delivery_limit_of(values) for group, values in configs.items()},
        record_lock_durations_ms=_told(configs, LOCK_DURATION),
        max_record_locks_by_group=_told(configs, RECORD_LOCKS),
    )


def _told(configs: Mapping[str, Mapping[str, str]], names: tuple[str, ...]) -> dict[str, int]:
    numbers = ((group, number_of(values, names)) for group, values in configs.items())
    return {group: number for group, number in numbers if number is not None}
