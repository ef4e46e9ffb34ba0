"""What is wrong with a share partition, as far as its history tells: the rows, and the thresholds with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Anomaly", "AnomalyConfig", "AnomalyKind", "Severity"]


class Severity(StrEnum):
    """How soon somebody should look."""

    #: Normal in some groups; know it.
    INFO = "info"
    #: Members suffer, or did.
    WARNING = "warning"
    #: The share partition stands still, or the state tells what cannot be.
    CRITICAL = "critical"


class AnomalyKind(StrEnum):
    """What is wrong."""

    #: The start offset has not moved while deliveries continued after it.
    START_OFFSET_STUCK = "start_offset_stuck"
    #: A record was delivered as often as the limit allows, and each time a member gave it back or rejected it.
    POISON_RECORD = "poison_record"
    #: A record was delivered as often as the limit allows, and a lock may have run out on it: whether a member accepted it too
    #: late or nobody did, the log cannot tell.
    LATE_OR_POISON = "late_or_poison"
    #: Many such records in a short time: not one bad record, but something behind the members.
    ARCHIVE_BURST = "archive_burst"
    #: Delivery after delivery of a record ends about a lock duration after the one before.
    LOCK_EXPIRY_LOOP = "lock_expiry_loop"
    #: The start offset went back without a new state epoch.
    START_OFFSET_WENT_BACK = "start_offset_went_back"
    #: A leader epoch, state epoch or snapshot epoch went back, or an update names another snapshot than the last.
    EPOCH_WENT_BACK = "epoch_went_back"
    #: A snapshot takes back what was written of records, or no longer tells of them.
    STATE_WENT_BACK = "state_went_back"
    #: The delivery complete count is less than the records that are settled.
    COUNT_DISAGREES = "count_disagrees"
    #: Offsets of which nothing was ever written, though later ones are long known.
    GAP = "gap"
    #: Updates without the snapshot below them.
    MISSING_SNAPSHOT = "missing_snapshot"
    #: A share partition whose last snapshot keeps the state topic from being pruned.
    COLD_KEY = "cold_key"
    #: The lag grows from measurement to measurement; needs ``log_end_offsets``.
    GROWING_LAG = "growing_lag"
    #: The state of a topic that is no more; needs ``live_topics``.
    DELETED_TOPIC = "deleted_topic"


class Anomaly(NamedTuple):
    """One thing that is wrong."""

    #: An :class:`AnomalyKind`.
    kind: str
    #: A :class:`Severity`.
    severity: str
    group: str
    #: Hyphenated UUID.
    topic_id: str
    partition: int
    #: The offsets it is about, inclusive; None for the share partition as a whole.
    first_offset: int | None
    last_offset: int | None
    state_partition: int
    #: The record of the state topic with which it began, and its time in ms since the epoch; of a growing lag the time of the
    #: first measurement.
    since_offset: int
    since_timestamp: int
    #: When it was over, in ms since the epoch; None: it lasts at the end of the log.
    until_timestamp: int | None
    #: What the log shows, in figures.
    evidence: str
    #: What to look at, or to do.
    advice: str


@dataclass(frozen=True, slots=True)
class AnomalyConfig:
    """Thresholds. Times are ms between timestamps of records of the state topic: no clock is read.

    Attributes:
        stuck_ms: how long a start offset stands before it is stuck; five of Kafka's lock durations.
        stuck_records: how many records after it were released, accepted or archived meanwhile.
        delivery_count_limit: ``share.delivery.count.limit`` of the groups; None takes one more than the highest count with
            which a record of the group was released, at least 2, Kafka's least.
        delivery_count_limits: the same of single groups, by their ids.
        highest_released: the highest delivery count with which a record of a group was released in state partitions that are
            not among those that are looked at, by the ids of the groups: a limit that the log tells is reported by all of them.
        burst_records: how many records archived at the limit make a burst ...
        burst_ms: ... when no more than this lies between each and the one so many before it.
        record_lock_duration_ms: ``share.record.lock.duration.ms`` of the groups; None looks for loops with Kafka's default,
            30,000, and doubts that a member answered in time with Kafka's least, 1,000.
        record_lock_durations_ms: the same of single groups, by their ids.
        loop_releases: how many deliveries in a row that end without an acceptance, each at least one and at most two lock
            durations after the one before, are a loop.
        count_records: for how many records in a row the delivery complete count disagrees before it is told.
        gap_ms: how long later offsets are known before what is missing between them is a gap.
        cold_ms: how much older than the end of the log the snapshot of a cold key is; two of the intervals after which
            brokers write a new one (``share.coordinator.cold.partition.snapshot.interval.ms``).
        cold_records: how many records of the state topic it alone keeps.
        lag_ms: for how long the lag does not fall ...
        lag_records: ... and by how many records it rises meanwhile.
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
