"""Reads records of data topics by offset, through a consumer that joins no group and commits nothing. Needs confluent-kafka.

It needs READ on the topic and no other right.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from operator import methodcaller
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self, cast

from share_state.errors import ArgumentRangeError, ConfigError, UnknownPartitionError
from share_state.payloads.payload import UNREADABLE_HEADERS, Missing, Payload, Reason
from share_state.reading import state_topic
from share_state.reading.asking import Connecting, topics
from share_state.reading.cluster import SCHEME
from share_state.reading.failures import ClusterReadError, NoAnswerError
from share_state.reading.watermarks import watermarks

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

__all__ = ["PayloadReader"]

#: Seconds of one wait for records: a Ctrl-C is noticed between two.
_POLL: Final = 0.1
#: Offsets that are read past to come to the next one; what is farther away is asked for anew.
_NEAR: Final = 500
_MAX_OFFSET: Final = 2**63 - 1
#: Over a name that is not UTF-8, confluent-kafka 2.16 returns a list with a hole and leaves an exception. A call by C code finds
#: that and raises; a call by name, once the interpreter has specialised it, does not, and whoever looks at the list crashes.
_call_headers: Final = methodcaller("headers")
#: Bounds of librdkafka's own settings, in bytes.
_LEAST_BYTES, _MOST_BYTES = 1024, 1_000_000_000
_UNKNOWN_TOPIC: Final = 3


class _Log(NamedTuple):
    """One partition: from `start`, below `end`."""

    topic: str
    partition: int
    start: int
    end: int

    def reason(self, offset: int) -> Reason | None:
        """Say why an offset is outside of it; None where it is not."""
        if offset < self.start:
            return Reason.BELOW_LOG_START
        return Reason.AT_OR_AFTER_LOG_END if offset >= self.end else None


class _Found(NamedTuple):
    """What is at or after an offset: the log has no record between the two places."""

    asked: int
    #: Where the record is, or, where there is none, the end that was reached.
    offset: int
    message: Message | None


class PayloadReader:
    """Reads records by topic, partition and offset. A context manager, for one thread at a time.

    It has a manual assignment: it is a member of nothing, acquires nothing, and changes nothing in the cluster.

    Args:
        bootstrap: ``host:port[,host:port...]`` of some brokers, or the same after ``kafka://``.
        client_config: further settings of the client, in librdkafka's names.
        read_committed: leave out records of open and aborted transactions, as share groups with
            ``share.isolation.level=read_committed`` do; by default they are read, as in share groups.
        max_bytes: records are fetched ahead up to so many bytes; one that is larger comes whole, by itself.
        timeout: seconds to wait for an answer of the cluster.

    Raises:
        ConfigError: an argument is out of its bounds.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        client_config: Mapping[str, object] | None = None,
        read_committed: bool = False,
        max_bytes: int = 1 << 20,
        timeout: float = 10.0,
    ) -> None:
        if not _LEAST_BYTES <= max_bytes <= _MOST_BYTES:
            text = f"max_bytes is {max_bytes}; expected {_LEAST_BYTES} to {_MOST_BYTES}"
            raise ConfigError(text, field="max_bytes", value=max_bytes, minimum=_LEAST_BYTES, maximum=_MOST_BYTES)
        if not timeout > 0:
            raise ConfigError(f"timeout is {timeout}; expected more than 0", field="timeout", value=timeout)
        self._settings = {**(client_config or {}), "bootstrap.servers": bootstrap.removeprefix(SCHEME)}
        self._ours: dict[str, object] = {
            "isolation.level": "read_committed" if read_committed else "read_uncommitted",
            # A log that begins later, or ends before, is asked again for where it begins and ends.
            "auto.offset.reset": "error",
            "max.partition.fetch.bytes": max_bytes,
            "queued.max.messages.kbytes": max_bytes // 1024,
            "queued.min.messages": 1,
            # By default a full queue would hold up the next question by a second.
            "fetch.queue.backoff.ms": 10,
        }
        self._patience = timeout
        self._connecting = Connecting()
        self._open: tuple[ModuleType, Consumer] | None = None
        #: What the consumer is assigned.
        self._assigned: _Log | None = None
        #: Where the consumer stands: after what was found.
        self._stands: tuple[_Log, _Found] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Make the consumer; the cluster is asked by the first reading.

        Raises:
            ClientMissingError: confluent-kafka is not there.
            ClusterReadError: an invalid address, or settings that the client refuses.
        """
        self._open = self._stack.enter_context(state_topic.consumer(self._settings, self._connecting, self._ours))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        """Close the consumer."""
        self._open = None
        return self._stack.__exit__(kind, error, trace)

    def read(self, topic: str, partition: int, offsets: Sequence[int]) -> Iterator[Payload | Missing]:
        """Read the records at offsets, in the order in which they are asked for, with one answer an offset.

        Ascending offsets are the quickest. Where the log begins and ends is as of the start of the reading.

        Raises:
            ArgumentRangeError: an offset is negative, or none that Kafka has.
            UnknownPartitionError: there is no such topic, or no such partition of it; `field` says which.
            ReadNotAllowedError: the principal may not read the topic.
            NoAnswerError: no answer came in time.
            ClusterReadError: any other failure, with Kafka's code if it has one.
        """
        for offset in offsets:
            if not 0 <= offset <= _MAX_OFFSET:
                text = f"offset is {offset}; expected 0 to {_MAX_OFFSET}"
                raise ArgumentRangeError(text, value=offset, minimum=0, maximum=_MAX_OFFSET)
        return self._answers(topic, partition, offsets)

    def _answers(self, topic: str, partition: int, offsets: Sequence[int]) -> Iterator[Payload | Missing]:
        log: _Log | None = None
        try:
            for offset in offsets:
                client, consumer = self._opened()
                with state_topic.failing_as_ours(client, consumer, self._connecting, topic):
                    if log is None:
                        self._check(client, consumer, topic, partition)
                        log = self._log(client, consumer, topic, partition)
                    reason = log.reason(offset)
                    found = None if reason else self._at_or_after(client, consumer, log, offset)
                    if reason is None and found is None:
                        # The log is another one than a moment ago.
                        self._rest()
                        log = self._log(client, consumer, topic, partition)
                        reason = log.reason(offset)
                if found is not None and found.message is not None and found.offset == offset:
                    yield _payload(log, offset, found.message)
                else:
                    yield Missing(topic, partition, offset, reason or Reason.NOT_THERE)
        finally:
            # An older reading may end, or be forgotten, while another one goes on.
            if log is not None and self._assigned is log:
                self._rest()

    def _rest(self) -> None:
        """Fetch nothing more until the next reading."""
        self._stands = self._assigned = None
        if self._open is not None:
            self._open[1].unassign()

    def _opened(self) -> tuple[ModuleType, Consumer]:
        if self._open is None:
            raise ClusterReadError("the reader of payloads is not open; it is a context manager")
        return self._open

    def _check(self, client: ModuleType, consumer: Consumer, topic: str, partition: int) -> None:
        """Refuse a topic or a partition that is not there: of one the client would wait in vain."""
        known = topics(client, consumer, self._connecting, self._patience, topic)[topic]
        if known.error is not None and known.error.code() == _UNKNOWN_TOPIC:
            raise UnknownPartitionError(f"topic {topic} is not in the cluster", field="topic", value=topic)
        if known.error is not None:
            raise client.KafkaException(known.error)
        if partition not in known.partitions:
            text = f"topic {topic} has no partition {partition}; it has {len(known.partitions)}, from 0"
            raise UnknownPartitionError(text, field="partition", value=partition)

    def _log(self, client: ModuleType, consumer: Consumer, topic: str, partition: int) -> _Log:
        place = client.TopicPartition(topic, partition)
        return _Log(topic, partition, *watermarks(client, consumer, place, self._patience))

    def _at_or_after(self, client: ModuleType, consumer: Consumer, log: _Log, offset: int) -> _Found | None:
        """Find the first record at or after an offset; None where the log has no such offset any more."""
        before = self._stands[1] if self._stands is not None and self._stands[0] is log else None
        if before is not None and before.asked <= offset <= before.offset:
            return before
        self._stands = None
        if before is None or before.message is None or not 0 < offset - before.offset <= _NEAR:
            consumer.assign([client.TopicPartition(log.topic, log.partition, offset)])
            self._assigned = log
        found = self._next(client, consumer, log, offset)
        if found is not None:
            self._stands = log, found
        return found

    def _next(self, client: ModuleType, consumer: Consumer, log: _Log, offset: int) -> _Found | None:
        waited_from = time.monotonic()
        while True:
            message = consumer.poll(_POLL)
            if message is None:
                if time.monotonic() - waited_from > self._patience:
                    raise NoAnswerError(self._patience, f" for {log.topic}-{log.partition}")
                continue
            error = message.error()
            if error is None:
                waited_from = time.monotonic()
                at = message.offset()
                if at is not None and at >= offset:
                    return _Found(offset, at, message)
            elif error.code() == client.KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001  the client's own name for it
                return None
            elif state_topic.is_end(client, error):
                return _Found(offset, max(offset, log.end - 1), None)


def _payload(log: _Log, offset: int, message: Message) -> Payload:
    timestamp = message.timestamp()[1]
    return Payload(
        log.topic,
        log.partition,
        offset,
        timestamp if timestamp >= 0 else None,
        _bytes(message.key()),
        _bytes(message.value()),
        _headers(message),
    )


def _headers(message: Message) -> tuple[tuple[str, bytes | None], ...]:
    try:
        return tuple(cast("list[tuple[str, bytes | None]]", _call_headers(message) or []))
    except (SystemError, UnicodeDecodeError):
        # The client's own failure over a name that is not UTF-8, which a producer may write.
        return UNREADABLE_HEADERS


def _bytes(value: bytes | str | None) -> bytes | None:
    """Take what the client gives: bytes, although its types allow for text."""
    return value.encode() if isinstance(value, str) else value
