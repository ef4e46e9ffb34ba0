"""Records for a run, each with the offset that the cluster gave it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from confluent_kafka import KafkaError, Message, Producer

from tests.histories.system import Line

_PATIENCE_S: Final = 60.0


class Producing:
    """A producer whose bursts become events.

    Args:
        bootstrap: the cluster with the records.
        topic: its one topic.
    """

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 5, "enable.idempotence": False})

    def burst(self, partition: int, count: int) -> list[Line]:
        """Produce so many records.

        Raises:
            RuntimeError: nobody knows whether they are there.
        """
        offsets = Offsets()
        for number in range(count):
            self._producer.produce(self._topic, b"%d" % number, partition=partition, on_delivery=offsets.answered)
        left = self._producer.flush(_PATIENCE_S)
        if left or offsets.failed:
            raise RuntimeError(f"records were produced of which nobody knows whether they are there: {offsets.failed[:3]}")
        return produced(self._topic, offsets.of)


class Offsets:
    """What the cluster answers."""

    def __init__(self) -> None:
        self.of: defaultdict[int, list[int]] = defaultdict(list)
        self.failed: list[KafkaError] = []

    def answered(self, error: KafkaError | None, message: Message) -> None:
        """Take the answer for one record."""
        partition, offset = message.partition(), message.offset()
        if error is not None or partition is None or offset is None:
            self.failed.append(error or KafkaError(KafkaError._FAIL))
        else:
            self.of[partition].append(offset)


def produced(topic: str, offsets: dict[int, list[int]]) -> list[Line]:
    """The events of records that are there now."""
    t = time.monotonic_ns()
    return [
        {"type": "produce", "t": t, "topic": topic, "partition": partition, "first": first, "last": last}
        for partition, found in offsets.items()
        for first, last in spans(found)
    ]


def spans(offsets: Iterable[int]) -> list[tuple[int, int]]:
    """Consecutive offsets as ranges, both ends inclusive."""
    found: list[tuple[int, int]] = []
    for offset in sorted(offsets):
        if found and found[-1][1] == offset - 1:
            found[-1] = (found[-1][0], offset)
        else:
            found.append((offset, offset))
    return found
