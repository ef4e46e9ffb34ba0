"""Records for a run, each with the offset that the cluster gave it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from confluent_kafka import KafkaError, Message, Producer

from tests.proof.histories.system import Line

_PATIENCE_S: Final = 60.0


class Producing:
    """A producer whose bursts become events.

    Args:
        bootstrap: the cluster with the records.
        topic: its one topic.
    """

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer({
            "bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 5, "enable.idempotence": False,
            "reconnect.backoff.max.ms": 500,
        })  # fmt: skip

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


class Transactions:
    """Transactions on the same topic, one at a time: aborted, or open for a while.

    Attributes:
        aborted: spans of records that nobody who reads committed ones may be given, by partition.
    """

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.aborted: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        self._bootstrap, self._topic = bootstrap, topic
        self._producer: Producer | None = None
        #: Offsets that the open transaction has written, and the lines of what was written after it.
        self._open: Offsets | None = None
        self._after: list[Line] = []

    def write(self, partition: int, count: int) -> None:
        """Write records of a transaction, which is begun if there is none."""
        if self._producer is None:
            self._producer = Producer({
                "bootstrap.servers": self._bootstrap, "log_level": 0, "transactional.id": "tx", "transaction.timeout.ms": 600_000,
            })  # fmt: skip
            self._producer.init_transactions(_PATIENCE_S)
        if self._open is None:
            self._producer.begin_transaction()
            self._open = Offsets()
        for number in range(count):
            self._producer.produce(self._topic, b"tx %d" % number, partition=partition, on_delivery=self._open.answered)
        if self._producer.flush(_PATIENCE_S) or self._open.failed:
            raise RuntimeError(f"records of a transaction were not answered: {self._open.failed[:3]}")

    def readable(self, lines: list[Line]) -> list[Line]:
        """Keep back the events of records after the open transaction: nobody is given them before it ends."""
        held = [line for line in lines if self._open is not None and line["partition"] in self._open.of]
        self._after += held
        return [line for line in lines if line not in held]

    def commit(self) -> list[Line]:
        """End the open transaction, if there is one: its records, and those after it, are there from now on."""
        if self._producer is None or self._open is None:
            return []
        found, self._open = self._open.of, None
        # Told before: they may be delivered before the producer has its answer.
        after, self._after = self._after, []
        lines = [*produced(self._topic, found), *({**line, "t": time.monotonic_ns()} for line in after)]
        self._producer.commit_transaction(_PATIENCE_S)
        return lines

    def abort(self) -> None:
        """End the open transaction: its records are never there."""
        if self._producer is not None and self._open is not None:
            for partition, offsets in self._open.of.items():
                self.aborted[partition] += spans(offsets)
            self._open = None
            self._producer.abort_transaction(_PATIENCE_S)


class Offsets:
    """Offsets that the cluster answers."""

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


def without_records(lines: Iterable[Line], aborted: Mapping[int, Iterable[tuple[int, int]]]) -> list[str]:
    """Find deliveries of records that nobody may be given: those of aborted transactions.

    Args:
        lines: a history.
        aborted: offsets of these transactions, by partition.
    """
    none = {(number, offset) for number, found in aborted.items() for first, last in found for offset in range(first, last + 1)}
    given = {
        (line["partition"], offset)
        for line in lines
        if line["type"] == "grant"
        for offset in range(line["first"], line["last"] + 1)
    }
    wrong = sorted(none & given)
    return [f"{len(wrong)} records of aborted transactions were delivered, the first is {wrong[0]}"] if wrong else []
