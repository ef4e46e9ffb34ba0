"""Plan of the demo: the facts that the parent and the serving process share."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from share_state import GroupConfig, SharePartitionKey

#: The shortest lock that Kafka lets a group have, on a broker that allows it: the demo waits for locks to run out.
LOCK_DURATION_MS = 1_000
#: Kafka's default. The delivery with this count is a record's last.
DELIVERY_COUNT_LIMIT = 5


class Fate(Enum):
    """Fate of a worker that tries to process a record."""

    #: It is processed: the worker accepts it.
    FINE = "fine"
    #: Processing fails, perhaps not the next time: the worker releases it.
    FAILS = "fails"
    #: It can never be processed: the worker rejects it.
    MALFORMED = "malformed"
    #: It takes longer than the lock lasts: the worker renews its lock meanwhile.
    SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Plan:
    """Share partition to serve to its end, and the records that make trouble."""

    directory: Path
    key: SharePartitionKey
    #: The offsets in question: the recorded start offset up to, and not including, the end of the topic's log.
    start_offset: int
    log_end: int
    #: Records not yet settled when the state is taken over.
    unsettled: int
    #: A leader's epoch grows with each serving process: its first read fences the one before it.
    recorded_leader_epoch: int
    #: The record whose processing always fails.
    poison: int
    slow: frozenset[int]

    @property
    def offsets(self) -> range:
        """Every offset in question."""
        return range(self.start_offset, self.log_end)

    @property
    def name(self) -> str:
        """The share partition as text."""
        return f"{self.key.group}, topic {self.key.topic_id}, partition {self.key.partition}"

    @property
    def state(self) -> Path:
        """The embedded log."""
        return self.directory / "state"

    @property
    def result(self) -> Path:
        """File with what the demo found, as JSON."""
        return self.directory / "result.json"

    def leader_epoch(self, serving: int) -> int:
        """Return the epoch under which the first or second serving process leads."""
        return self.recorded_leader_epoch + serving

    def journal(self, serving: int) -> Path:
        """File in which the workers of the first or second serving process write down what they saw."""
        return self.directory / f"serving-{serving}.jsonl"

    def fate(self, offset: int, delivery_count: int) -> Fate:
        """Say what happens at this delivery of a record."""
        if offset == self.poison:
            return Fate.FAILS
        if offset in self.slow:
            return Fate.SLOW
        if offset % 41 == 0:
            return Fate.MALFORMED
        return Fate.FAILS if (offset + delivery_count) % 17 == 0 else Fate.FINE


def group_config() -> GroupConfig:
    """Read the group's configuration under Kafka's names, and check it as a broker does."""
    return GroupConfig.from_kafka(
        {
            "share.record.lock.duration.ms": str(LOCK_DURATION_MS),
            "share.delivery.count.limit": str(DELIVERY_COUNT_LIMIT),
        },
        broker={"group.share.min.record.lock.duration.ms": str(LOCK_DURATION_MS)},
    )
