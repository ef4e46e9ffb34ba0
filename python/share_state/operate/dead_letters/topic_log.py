"""Partitions of a topic read from an offset to an end: a dead-letter queue, or the tail of a target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import NamedTuple, Self

from share_state.kafka.client.log_reader import Bounds
from share_state.operate.reading.asking import ClusterReader

__all__ = ["Bounds", "Record", "TopicLog"]


class Record(NamedTuple):
    """A record, as far as it matters here."""

    partition: int
    offset: int
    #: Ms since the epoch.
    timestamp: int
    headers: list[tuple[str, bytes | None]]
    has_value: bool


class TopicLog:
    """Reads partitions of topics. A context manager, for one thread. It needs READ on the topics and no other right.

    Records of open and aborted transactions count too: share groups read them, by default.

    Args:
        source: ``kafka://HOST:PORT[,...]``.
        settings: further settings of the client, in librdkafka's names.
        timeout: seconds to wait for an answer of the cluster.
    """

    def __init__(self, source: str, settings: Mapping[str, object] | None, timeout: float) -> None:
        self._reader = ClusterReader(source, settings, timeout)

    def __enter__(self) -> Self:
        self._reader.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._reader.__exit__(kind, error, trace)

    def partitions(self, topic: str) -> list[int] | None:
        """Return the partitions of a topic, in order; None where there is no such topic.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        there = self._reader.partitions(topic)
        return None if there is None else list(range(there))

    def bounds(self, topic: str, partition: int) -> Bounds:
        """Return where a partition, which there is, begins and ends.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        return self._reader.bounds(topic, partition)

    def records(self, topic: str, partition: int, bounds: Bounds) -> Iterator[Record]:
        """Return the records of a partition within bounds, in order.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        for offset, timestamp, _, value, headers in self._reader.remaining(topic, partition, *bounds):
            named = [(name.decode(errors="replace"), content) for name, content in headers]
            yield Record(partition, offset, timestamp, named, value is not None)
