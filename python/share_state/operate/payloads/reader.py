"""Reads records of data topics by offset: no group is joined and nothing committed.

It needs READ on the topic and no other right.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Final, NamedTuple, Self

from share_state.errors import ArgumentRangeError, ConfigError, UnknownPartitionError
from share_state.kafka.client.log_reader import Record
from share_state.kafka.codes import OFFSET_OUT_OF_RANGE
from share_state.operate.payloads.payload import UNREADABLE_HEADERS, Missing, Payload, Reason
from share_state.operate.reading.asking import ClusterReader
from share_state.operate.reading.failures import ClusterReadError

__all__ = ["PayloadReader"]

#: Offsets that are read past to come to the next one; what is farther away is asked for anew.
_NEAR: Final = 500
_MAX_OFFSET: Final = 2**63 - 1
#: Bounds of what is fetched at once, in bytes.
_LEAST_BYTES, _MOST_BYTES = 1024, 1_000_000_000


class _Log(NamedTuple):
    """Log of one partition: from `start`, below `end`."""

    topic: str
    partition: int
    start: int
    end: int

    def reason(self, offset: int) -> Reason | None:
        """Say why an offset is outside of it; None where it is not."""
        if offset < self.start:
            return Reason.BELOW_LOG_START
        return Reason.AT_OR_AFTER_LOG_END if offset >= self.end else None


class PayloadReader:
    """Reads records by topic, partition and offset. A context manager, for one thread at a time.

    It is a member of nothing, acquires nothing, and changes nothing in the cluster.

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
        self._reader = ClusterReader(bootstrap, client_config, timeout, committed=read_committed, max_bytes=max_bytes)

    def __enter__(self) -> Self:
        """Make the client; the cluster is asked by the first reading.

        Raises:
            ClusterReadError: an invalid address, or a setting that is not known.
        """
        self._reader.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connections."""
        self._reader.__exit__(kind, error, trace)

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
        ahead = _Ahead()
        try:
            for offset in offsets:
                self._reader.check_open()
                if log is None:
                    self._check(topic, partition)
                    log = self._log(topic, partition)
                reason = log.reason(offset)
                try:
                    record = None if reason else self._at(log, ahead, offset)
                except ClusterReadError as error:
                    if error.kafka_code != OFFSET_OUT_OF_RANGE:
                        raise
                    # The log is another one than a moment ago.
                    ahead.close()
                    log = self._log(topic, partition)
                    reason, record = log.reason(offset), None
                yield Missing(topic, partition, offset, reason or Reason.NOT_THERE) if record is None else _payload(log, record)
        finally:
            ahead.close()

    def _check(self, topic: str, partition: int) -> None:
        """Refuse a topic or a partition that is not there."""
        there = self._reader.partitions(topic)
        if there is None:
            raise UnknownPartitionError(f"topic {topic} is not in the cluster", field="topic", value=topic)
        if not 0 <= partition < there:
            text = f"topic {topic} has no partition {partition}; it has {there}, from 0"
            raise UnknownPartitionError(text, field="partition", value=partition)

    def _log(self, topic: str, partition: int) -> _Log:
        return _Log(topic, partition, *self._reader.bounds(topic, partition))

    def _at(self, log: _Log, ahead: _Ahead, offset: int) -> Record | None:
        """Find the record at an offset; None where there is none."""
        if not ahead.reaches(offset):
            ahead.begin(self._reader.records(log.topic, log.partition, offset, log.end), offset)
        return ahead.at(offset)


class _Ahead:
    """Records that are read in one go for ascending offsets: the next one at or after the last question."""

    def __init__(self) -> None:
        self._records: Generator[Record] | None = None
        self._asked = 0
        self._next: Record | None = None
        self._is_over = False

    def begin(self, records: Generator[Record], offset: int) -> None:
        """Read from an offset on."""
        self.close()
        self._records, self._asked, self._next, self._is_over = records, offset, None, False

    def reaches(self, offset: int) -> bool:
        """Return whether a question is answered by reading on, and not too far."""
        reached = self._asked if self._next is None else self._next[0]
        return self._records is not None and self._asked <= offset and (self._is_over or offset - reached <= _NEAR)

    def at(self, offset: int) -> Record | None:
        """Return the record at an offset; None where there is none."""
        self._asked = offset
        while not self._is_over and self._records is not None and (self._next is None or self._next[0] < offset):
            self._next = next(self._records, None)
            self._is_over = self._next is None
        return self._next if self._next is not None and self._next[0] == offset else None

    def close(self) -> None:
        """Read no more."""
        if self._records is not None:
            self._records.close()
            self._records = None


def _payload(log: _Log, record: Record) -> Payload:
    offset, timestamp, key, value, headers = record
    try:
        named = tuple((name.decode(), content) for name, content in headers)
    except UnicodeDecodeError:
        # A producer may write such a name, and no text can show it.
        named = UNREADABLE_HEADERS
    return Payload(log.topic, log.partition, offset, timestamp if timestamp >= 0 else None, key, value, named)
