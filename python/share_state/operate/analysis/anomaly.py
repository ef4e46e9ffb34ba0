"""The anomalies that the history of a share partition shows: the rows, and the thresholds with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Anomaly", "AnomalyConfig", "AnomalyKind", "Severity"]


class Severity(StrEnum):
    """The urgency of an anomaly."""

    #: Normal in some groups.
    INFO = "info"
    #: Members are, or were, affected.
    WARNING = "warning"
    #: The share partition makes no progress, or its state is impossible.
    CRITICAL = "critical"


class AnomalyKind(StrEnum):
    """The kind of an anomaly."""

    #: The start offset has not moved while deliveries continued after it.
    START_OFFSET_STUCK = "start_offset_stuck"
    #: A record reached the delivery limit, and each time a member released or rejected it.
    POISON_RECORD = "poison_record"
    #: A record reached the delivery limit, and a lock may have expired on it: a member may have accepted it too late. The log
    #: does not say.
    LATE_OR_POISON = "late_or_poison"
    #: Many such records in a short time: a failure of something that the members depend on.
    ARCHIVE_BURST = "archive_burst"
    #: Deliveries of a record end one after another, each about a lock duration after the previous one.
    LOCK_EXPIRY_LOOP = "lock_expiry_loop"
    #: As many offsets are in flight as the limit allows: nothing after them is delivered until the start offset moves.
    WINDOW_FULL = "window_full"
    #: The start offset went back without a new state epoch.
    START_OFFSET_WENT_BACK = "start_offset_went_back"
    #: A leader epoch, state epoch or snapshot epoch went back, or an update names another snapshot than the last.
    EPOCH_WENT_BACK = "epoch_went_back"
    #: A snapshot contradicts what was written about records, or omits them.
    STATE_WENT_BACK = "state_went_back"
    #: The delivery complete count is lower than the number of terminal records.
    COUNT_DISAGREES = "count_disagrees"
    #: Offsets about which nothing was ever written, although later ones have been known for long.
    GAP = "gap"
    #: Updates without the snapshot below them.
    MISSING_SNAPSHOT = "missing_snapshot"
    #: A share partition whose last snapshot keeps the state topic from being pruned.
    COLD_KEY = "cold_key"
    #: The lag grows from measurement to measurement; needs ``log_end_offsets``.
    GROWING_LAG = "growing_lag"
    #: The state of a topic that no longer exists; needs ``live_topics``.
    DELETED_TOPIC = "deleted_topic"


class Anomaly(NamedTuple):
    """Anomaly in the state of a share partition."""

    #: An :class:`AnomalyKind`.
    kind: str
    #: A :class:`Severity`.
    severity: str
    group: str
    #: Hyphenated UUID.
    topic_id: str
    partition: int
    #: The offsets concerned, inclusive; None for the share partition as a whole.
    first_offset: int | None
    last_offset: int | None
    state_partition: int
    #: The record of the state topic with which it began, and its time in ms since the epoch; of a growing lag the time of the
    #: first measurement.
    since_offset: int
    since_timestamp: int
    #: Time at which it ended, in ms since the epoch; None if it lasts until the end of the log.
    until_timestamp: int | None
    #: The figures that the log shows.
    evidence: str
    #: Advice: what to check or do.
    advice: str


@dataclass(frozen=True, slots=True)
class AnomalyConfig:
    """Thresholds. Times are ms between timestamps of records of the state topic: no clock is read.

    Attributes:
        stuck_ms: how long a start offset does not move before it counts as stuck; five of Kafka's lock durations.
        stuck_records: the number of records after it that were released, accepted or archived meanwhile.
        delivery_count_limit: ``share.delivery.count.limit`` of the groups. None infers it: one more than the highest count with
            which a record of the group was released, and at least 2, Kafka's minimum.
        delivery_count_limits: the same for single groups, by group id.
        highest_released: the highest delivery count with which a record of a group was released in state partitions outside
            the input, by group id. An inferred limit needs all state partitions.
        burst_records: the number of records archived at the limit that makes a burst ...
        burst_ms: ... if they were archived within this time.
        record_lock_duration_ms: ``share.record.lock.duration.ms`` of the groups. None uses Kafka's default, 30,000, to find
            loops, and Kafka's minimum, 1,000, to decide whether a member may have answered too late.
        record_lock_durations_ms: the same for single groups, by group id.
        max_record_locks: ``share.partition.max.record.locks`` of the groups. None finds full windows by Kafka's default, 2,000.
        max_record_locks_by_group: the same for single groups, by group id.
        loop_releases: the number of consecutive deliveries without an acceptance that makes a loop, each ending one to two lock
            durations after the previous one.
        count_records: the number of consecutive records with a wrong delivery complete count before it is reported.
        gap_ms: how long later offsets have been known before the missing ones count as a gap.
        cold_ms: how much older than the end of the log the snapshot of a cold key is; two of the intervals after which
            brokers write a new one (``share.coordinator.cold.partition.snapshot.interval.ms``).
        cold_records: the number of records of the state topic that only it keeps from being pruned.
        lag_ms: how long the lag does not fall ...
        lag_records: ... and the number of records by which it rises meanwhile.
    """

    stuck_ms: int = 150_000
    stuck_records: int = 100
    delivery_count_limit: int | None = None
    delivery_count_limits: Mapping[str, int] = field(default_factory=dict)
    highest_released: Mapping[str, int] = field(default_factory=dict)
    burst_records: int = 20
    burst_ms: int = 10_000
    record_lock_duration_ms: int | None = None
    record_lock_durations_ms: Mapping[str, int] = field(default_factory=dict)
    max_record_locks: int | None = None
    max_record_locks_by_group: Mapping[str, int] = field(default_factory=dict)
    loop_releases: int = 2
    count_records: int = 3
    gap_ms: int = 300_000
    cold_ms: int = 600_000
    cold_records: int = 10_000
    lag_ms: int = 300_000
    lag_records: int = 1_000

    def __post_init__(self) -> None:
        """Refuse thresholds below 1, which would find everything."""
        for name in self.__slots__:
            value = getattr(self, name)
            numbers = value.values() if isinstance(value, Mapping) else [value]
            if any(number is not None and number < 1 for number in numbers):
                raise ValueError(f"{name} is {value!r}; expected at least 1")
