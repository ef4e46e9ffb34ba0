"""Partitions of a topic read from an offset to an end, by a consumer that joins no group: a queue, or the tail of a target."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from share_state.reading import state_topic
from share_state.reading.asking import Connecting, topics
from share_state.reading.cluster import SCHEME
from share_state.reading.failures import ClusterReadError, NoAnswerError
from share_state.reading.watermarks import watermarks

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

__all__ = ["Bounds", "Record", "TopicLog"]

#: Seconds of one wait for records: a Ctrl-C is noticed between two.
_POLL = 0.1
_AT_ONCE = 500
_UNKNOWN_TOPIC = 3


class Bounds(NamedTuple):
    """What of a partition can be read: from `start`, below `end`."""

    start: int
    end: int


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

    Args:
        source: ``kafka://HOST:PORT[,...]``.
        settings: further settings of the client, in librdkafka's names.
        timeout: seconds to wait for an answer of the cluster.
    """

    def __init__(self, source: str, settings: Mapping[str, object] | None, timeout: float) -> None:
        self._settings = {**(settings or {}), "bootstrap.servers": source.removeprefix(SCHEME)}
        self._patience = timeout
        self._connecting = Connecting()
        self._stack = ExitStack()
        self._open: tuple[ModuleType, Consumer] | None = None

    def __enter__(self) -> Self:
        # Records of open and aborted transactions count too: share groups read them, by default.
        ours = {"isolation.level": "read_uncommitted"}
        self._open = self._stack.enter_context(state_topic.consumer(self._settings, self._connecting, ours))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open = None
        self._stack.__exit__(kind, error, trace)

    def partitions(self, topic: str) -> list[int] | None:
        """Return the partitions of a topic, in order; None where there is no such topic.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        client, consumer = self._opened()
        with state_topic.failing_as_ours(client, consumer, self._connecting, topic):
            known = topics(client, consumer, self._connecting, self._patience, topic)[topic]
            if known.error is None:
                return sorted(known.partitions)
            if known.error.code() == _UNKNOWN_TOPIC:
                return None
            raise client.KafkaException(known.error)

    def bounds(self, topic: str, partition: int) -> Bounds:
        """Return where a partition, which there is, begins and ends.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        client, consumer = self._opened()
        with state_topic.failing_as_ours(client, consumer, self._connecting, topic):
            return Bounds(*watermarks(client, consumer, client.TopicPartition(topic, partition), self._patience))

    def records(self, topic: str, partition: int, bounds: Bounds) -> Iterator[Record]:
        """Return the records of a partition within bounds, in order.

        Raises:
            ClusterReadError: the cluster does not answer, or refuses.
        """
        client, consumer = self._opened()
        if bounds.start >= bounds.end:
            return
        with state_topic.failing_as_ours(client, consumer, self._connecting, topic):
            consumer.assign([client.TopicPartition(topic, partition, bounds.start)])
            try:
                yield from self._until(client, consumer, topic, partition, bounds.end)
            finally:
                consumer.unassign()

    def _until(self, client: ModuleType, consumer: Consumer, topic: str, partition: int, end: int) -> Iterator[Record]:
        waited_from = time.monotonic()
        while True:
            messages = consumer.consume(_AT_ONCE, _POLL)
            if messages:
                waited_from = time.monotonic()
            elif time.monotonic() - waited_from > self._patience:
                raise NoAnswerError(self._patience, f" for {topic}-{partition}")
            for message in messages:
                error = message.error()
                if error is not None:
                    # The end comes early if the last records of the log are gone.
                    if state_topic.is_end(client, error):
                        return
                    continue
                record = _record(partition, message)
                if record.offset < end:
                    yield record
                if record.offset >= end - 1:
                    return

    def _opened(self) -> tuple[ModuleType, Consumer]:
        if self._open is None:
            raise ClusterReadError("the reader of a topic is not open; it is a context manager")
        return self._open


def _record(partition: int, message: Message) -> Record:
    headers = cast("list[tuple[str, bytes | None]]", message.headers() or [])
    # The client's types allow for messages without a place; these have one.
    offset = cast("int", message.offset())
    return Record(partition, offset, message.timestamp()[1], headers, message.value() is not None)
