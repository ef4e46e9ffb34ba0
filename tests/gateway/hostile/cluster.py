"""Topics and leaders of a hostile upstream. Its methods are called from the test's thread, under :attr:`lock`."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.gateway.hostile.log import PartitionLog


@dataclass
class Partition:
    """A partition: its log, and who has led it in which epoch; the last leads now."""

    log: PartitionLog = field(default_factory=PartitionLog)
    #: Broker ids by epoch; -1 is nobody.
    leaders: list[int] = field(default_factory=lambda: [1])

    @property
    def leader(self) -> int:
        """Present leader."""
        return self.leaders[-1]

    @property
    def epoch(self) -> int:
        """The epoch of the leader."""
        return len(self.leaders) - 1


@dataclass
class Topic:
    """A topic in one of its lives."""

    name: str
    topic_id: str
    partitions: list[Partition]
    #: Brokers that have not heard of it, or have forgotten it.
    unknown_to: set[int] = field(default_factory=set)
    configs: dict[str, str] = field(default_factory=dict)


class Cluster:
    """State that the brokers share."""

    def __init__(self, brokers: int) -> None:
        self.cluster_id = f"hostile-{uuid.uuid4()}"
        self.brokers = list(range(1, brokers + 1))
        self.topics: dict[str, Topic] = {}
        self.lock = threading.RLock()
        #: Called when something has changed: fetches that wait look again.
        self.changed: Callable[[], None] = lambda: None

    def create(self, name: str, partitions: int = 1) -> Topic:
        """Make a topic; its leaders take turns. One of this name that is there goes first: it is then another topic."""
        with self.lock:
            made = [Partition(leaders=[self.brokers[number % len(self.brokers)]]) for number in range(partitions)]
            topic = self.topics[name] = Topic(name, str(uuid.uuid4()), made)
        self.changed()
        return topic

    def delete(self, name: str) -> None:
        """Delete a topic."""
        with self.lock:
            del self.topics[name]
        self.changed()

    def grow(self, name: str, partitions: int) -> None:
        """Give a topic more partitions."""
        with self.lock:
            topic = self.topics[name]
            for number in range(len(topic.partitions), partitions):
                topic.partitions.append(Partition(leaders=[self.brokers[number % len(self.brokers)]]))
        self.changed()

    def forget(self, name: str, *brokers: int) -> None:
        """Have brokers, or all, answer as if they did not know a topic."""
        with self.lock:
            self.topics[name].unknown_to |= set(brokers or self.brokers)
        self.changed()

    def remember(self, name: str) -> None:
        """Have all know it again."""
        with self.lock:
            self.topics[name].unknown_to.clear()
        self.changed()

    def move_leader(self, name: str, partition: int, to: int) -> None:
        """Another broker leads from now on, in the next epoch; -1 is nobody."""
        with self.lock:
            self.topics[name].partitions[partition].leaders.append(to)
        self.changed()

    def append(self, name: str, partition: int, values: Sequence[bytes | None], *, producer_id: int = -1) -> int:
        """Append one batch; its base offset."""
        with self.lock:
            found = self.topics[name].partitions[partition]
            base = found.log.append(values, leader_epoch=found.epoch, producer_id=producer_id)
        self.changed()
        return base

    def end_transaction(self, name: str, partition: int, producer_id: int, *, commit: bool) -> int:
        """Append the marker; its offset."""
        with self.lock:
            found = self.topics[name].partitions[partition]
            at = found.log.end_transaction(producer_id, commit=commit, leader_epoch=found.epoch)
        self.changed()
        return at

    def change(self, name: str, partition: int, do: Callable[[PartitionLog], object]) -> None:
        """Do something to a log: ``lambda log: log.truncate(5)``."""
        with self.lock:
            do(self.topics[name].partitions[partition].log)
        self.changed()

    def by_id(self, topic_id: str) -> Topic | None:
        """The topic with this id, if it lives."""
        return next((topic for topic in self.topics.values() if topic.topic_id == topic_id), None)
