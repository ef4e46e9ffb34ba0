"""The state topic of a running cluster, read through a consumer that joins no group and commits nothing.

Each state partition is read from its log start to its end as of the start of the reading, or to the requested end. Needs the
`kafka` extra.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard, cast

from share_state import _core
from share_state.errors import ShareStateError
from share_state.reading import state_topic
from share_state.reading.as_of import AsOf
from share_state.reading.asking import Connecting
from share_state.reading.failures import ClusterReadError, NoAnswerError
from share_state.reading.plain import Finding, LogRecord, Progress, ShareState, undecodable
from share_state.reading.state_topic import STATE_TOPIC, ClientMissingError, ReadNotAllowedError
from share_state.reading.watermarks import watermarks
from share_state.types import SharePartitionKey

if TYPE_CHECKING:
    from confluent_kafka import Consumer

__all__ = [
    "SCHEME",
    "ClientMissingError",
    "ClusterReadError",
    "ClusterScan",
    "NoAnswerError",
    "ReadNotAllowedError",
    "fold_cluster",
    "is_cluster",
]

#: The prefix of a cluster source; `HOST:PORT` of one or more brokers follow, separated by commas.
SCHEME = "kafka://"

#: Seconds to wait for an answer of the cluster before giving up.
_PATIENCE = 10.0
#: Seconds of one wait for records: a Ctrl-C is noticed between two.
_POLL = 0.1
#: Records between two reports of progress.
_REPORT_EVERY = 512


def is_cluster(source: str | PathLike[str]) -> TypeGuard[str]:
    """Whether a source is a running cluster, and not a path."""
    return isinstance(source, str) and source.startswith(SCHEME)


@dataclass(frozen=True, slots=True)
class _Range:
    """The offsets to read of one state partition: from `start`, below `end`."""

    partition: int
    start: int
    end: int


@dataclass
class ClusterScan:
    """Records in order of partition and offset, each with `None` for its segment."""

    address: str
    #: Further settings of the client, in librdkafka's names.
    client_config: Mapping[str, object] | None = None
    on_progress: Progress | None = None
    as_of: AsOf = field(default_factory=AsOf)
    #: Seconds to wait for an answer of the cluster; None for the default.
    timeout: float | None = None
    #: Read only the state partition that keeps the state of this share partition; None reads all.
    of: SharePartitionKey | None = None
    #: Records read so far, and their total.
    progress: tuple[int, int] = (0, 0)
    #: The end of each state partition, once reading has begun: the offset after its last record.
    ends: dict[int, int] = field(default_factory=dict)
    #: Always empty: brokers deliver no damaged records, and the caller finds those that cannot be decoded.
    findings: list[Finding] = field(default_factory=list)

    def __iter__(self) -> Iterator[LogRecord]:
        """Read one state partition after the other."""
        servers = self.address.removeprefix(SCHEME)
        if not servers or "/" in servers:
            raise ClusterReadError("expected kafka://HOST:PORT[,HOST:PORT...]")
        connecting = Connecting()
        settings = {**(self.client_config or {}), "bootstrap.servers": servers}
        with state_topic.consumer(settings, connecting) as (client, consumer):
            there = state_topic.state_partitions(client, consumer, self._patience, connecting)
            wanted = there if self.of is None else [_core.state_partition(*self.of, len(there))]
            yield from self._records(client, consumer, [self._range(client, consumer, one) for one in wanted])

    def _records(self, client: ModuleType, consumer: Consumer, ranges: list[_Range]) -> Iterator[LogRecord]:
        total = sum(one.end - one.start for one in ranges)
        done = 0
        for one in ranges:
            prefix = self.as_of.prefix(one.partition)
            for record in _partition(client, consumer, one, self._patience):
                if not prefix.reaches(record.offset, record.timestamp):
                    break
                self._report(done, total)
                done += 1
                yield record
        self._report(total, total)

    @property
    def _patience(self) -> float:
        return _PATIENCE if self.timeout is None else self.timeout

    def _range(self, client: ModuleType, consumer: Consumer, partition: int) -> _Range:
        start, end = watermarks(client, consumer, client.TopicPartition(STATE_TOPIC, partition), self._patience)
        self.ends[partition] = end
        last = self.as_of.prefix(partition).last_offset
        return _Range(partition, start, end if last is None else max(start, min(end, last + 1)))

    def _report(self, done: int, total: int) -> None:
        self.progress = done, total
        if self.on_progress is not None and (done % _REPORT_EVERY == 0 or done == total):
            self.on_progress(done, total)


def fold_cluster(scan: ClusterScan) -> tuple[list[ShareState], list[Finding]]:
    """Fold the state topic of a cluster; the states come in order of group, topic id and partition."""
    coordinators: dict[int, _core.ShareCoordinator] = {}
    for record in scan:
        coordinator = coordinators.setdefault(record.partition, _core.ShareCoordinator())
        try:
            coordinator.replay(record.offset, record.key, record.value)
        except ShareStateError as error:
            scan.findings.append(undecodable(record, error))
    states = [
        {**state, "state_partition": partition}
        for partition in sorted(coordinators)
        for state in coordinators[partition].states()
    ]
    states.sort(key=lambda state: (state["group"], state["topic_id"], state["partition"]))
    return cast("list[ShareState]", states), scan.findings


def _partition(client: ModuleType, consumer: Consumer, one: _Range, patience: float) -> Iterator[LogRecord]:
    if one.start >= one.end:
        return
    consumer.assign([client.TopicPartition(STATE_TOPIC, one.partition, one.start)])
    waited_from = time.monotonic()
    while True:
        message = consumer.poll(_POLL)
        if message is None:
            if time.monotonic() - waited_from > patience:
                raise NoAnswerError(patience, f" for {STATE_TOPIC}-{one.partition}")
            continue
        error = message.error()
        if error is not None:
            # The end comes early if the last records of the log are gone.
            if state_topic.is_end(client, error):
                return
            continue
        waited_from = time.monotonic()
        # The client's types allow for messages without a place; these have one.
        offset = cast("int", message.offset())
        if offset < one.end:
            timestamp = message.timestamp()[1] or 0
            yield LogRecord(one.partition, None, offset, timestamp, message.key() or b"", message.value())
        if offset >= one.end - 1:
            return
