"""Plan of the demo: the facts that the parent and the members share."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from share_state import AcknowledgeType

TOPIC = "orders"
GROUP = "order-workers"
#: As many as a topic of the mock cluster has at least to have: a partition of it keeps 5 MiB.
PARTITIONS = 4
#: Members that work to the end; one more stalls once, and one more is killed.
WORKERS = 4
#: The shortest lock that Kafka lets a group have, on a broker that allows it: the demo waits for locks to run out.
LOCK_DURATION_MS = 1_000
#: Kafka's default. The delivery with this count is a record's last.
DELIVERY_COUNT_LIMIT = 5
#: Make-believe work on the records of one poll. Without it one member is done before the next has started.
WORK_SECONDS = 0.05

#: The gateway's configuration, by Kafka's names.
PROPERTIES = f"""\
group.share.min.record.lock.duration.ms={LOCK_DURATION_MS}
share.record.lock.duration.ms={LOCK_DURATION_MS}
share.delivery.count.limit={DELIVERY_COUNT_LIMIT}
share.auto.offset.reset=earliest
"""


class Place(NamedTuple):
    """Place of a record."""

    partition: int
    offset: int


class Part(Enum):
    """Part of a member: what it does apart from its work."""

    #: Nothing.
    WORKS = "works"
    #: It sits on the records of its first poll until their locks have run out and another member has got one of them.
    STALLS = "stalls"
    #: It waits, with records in its hands, for the SIGKILL that ends it.
    IS_KILLED = "is killed"


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a run: a number of records, spread evenly over the partitions of one topic."""

    directory: Path
    records: int

    @property
    def log_end(self) -> int:
        """End offset of each partition."""
        return self.records // PARTITIONS

    @property
    def places(self) -> set[Place]:
        """Every record."""
        return {Place(partition, offset) for partition in range(PARTITIONS) for offset in range(self.log_end)}

    @property
    def poison(self) -> set[Place]:
        """Records whose processing always fails."""
        return {Place(partition, self.log_end // 3) for partition in range(PARTITIONS)}

    @property
    def at_once(self) -> int:
        """Approximate number of records of one poll: a small job has polls enough for a kill half-way as well."""
        return max(16, min(500, self.records // 300))

    @property
    def state(self) -> Path:
        """The gateway's directory."""
        return self.directory / "state"

    @property
    def result(self) -> Path:
        """File with what the demo found, as JSON."""
        return self.directory / "result.json"

    @property
    def go(self) -> Path:
        """A file that is there when the members may begin."""
        return self.directory / "go"

    @property
    def lost(self) -> Path:
        """A file that is there when the member that stalls has lost a record to another."""
        return self.directory / "lost"

    @property
    def done(self) -> Path:
        """A file that is there when nothing is left to do."""
        return self.directory / "done"

    def journal(self, member: str) -> Path:
        """File in which a member writes down what it sees."""
        return self.directory / f"{member}.jsonl"

    def value(self, place: Place) -> bytes:
        """Give the value of a record, 100 bytes that name it."""
        return f"order {place.partition}/{place.offset} ".encode().ljust(100, b".")

    def answer(self, place: Place, delivery_count: int) -> AcknowledgeType:
        """Say how this delivery of a record ends."""
        if place in self.poison:
            return AcknowledgeType.RELEASE
        if place.offset % 211 == 100:
            return AcknowledgeType.REJECT
        return AcknowledgeType.RELEASE if (place.offset + delivery_count) % 97 == 0 else AcknowledgeType.ACCEPT


def members() -> dict[str, Part]:
    """Name the members of the group, each with its part."""
    workers = {f"worker-{number}": Part.WORKS for number in range(1, WORKERS + 1)}
    return {**workers, "stalling": Part.STALLS, "killed": Part.IS_KILLED}
