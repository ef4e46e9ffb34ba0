"""The state topic of a running cluster, read through a consumer that joins no group and commits nothing.

Each state partition is read from its log start to the end that it had when reading began, or that is asked for. Needs the
`kafka` extra.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard, cast

from share_state import _core
from share_state.errors import ShareStateError
from share_state.reading.as_of import AsOf
from share_state.reading.plain import Finding, LogRecord, Progress, ShareState, undecodable
from share_state.reading.watermarks import watermarks

if TYPE_CHECKING:
    from confluent_kafka import Consumer

#: What a source in a cluster begins with; behind it stand `HOST:PORT` of one or more brokers, with commas between.
SCHEME = "kafka://"

_TOPIC = "__share_group_state"
#: Seconds to wait for an answer of the cluster before giving up.
_PATIENCE = 10.0
#: Seconds of one wait for records: a Ctrl-C is noticed between two.
_POLL = 0.2
#: Records between two reports of progress.
_REPORT_EVERY = 512


def is_cluster(source: str | PathLike[str]) -> TypeGuard[str]:
    """Whether a source is a running cluster, and not a path."""
    return isinstance(source, str) and source.startswith(SCHEME)


class ClusterReadError(ShareStateError):
    """The state topic of a cluster could not be read."""


class ClientMissingError(ClusterReadError):
    """Reading a cluster needs confluent-kafka, which is not installed."""


@dataclass(frozen=True, slots=True)
class _Range:
    """What there is to read of one state partition: offsets from `start`, below `end`."""

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
    #: Records read so far, and those that there are.
    progress: tuple[int, int] = (0, 0)
    #: Nothing that a broker hands out is damaged; what cannot be decoded is for the caller to find.
    findings: list[Finding] = field(default_factory=list)

    def __iter__(self) -> Iterator[LogRecord]:
        """Read one state partition after the other."""
        servers = self.address.removeprefix(SCHEME)
        client = _client()
        if not servers or "/" in servers:
            raise ClusterReadError("it is not kafka://HOST:PORT, with more HOST:PORT behind commas")
        last_error: list[str] = []
        settings = {
            **(self.client_config or {}),
            "bootstrap.servers": servers,
            # A name is asked for; by `assign` no group is joined, and nothing is committed.
            "group.id": "share-state",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            # Where the broker prunes while we read, the log begins later.
            "auto.offset.reset": "earliest",
            "allow.auto.create.topics": False,
            # Its errors are told by us, once.
            "error_cb": lambda error: last_error.append(error.str()),
            "log_level": 0,
        }
        try:
            consumer = client.Consumer(settings)
        except client.KafkaException as error:
            raise ClusterReadError(f"the client's settings: {error.args[0].str()}") from None
        try:
            yield from self._records(client, consumer)
        except client.KafkaException as error:
            # What the client has to say of its connections comes by its callback, and that only by a poll.
            consumer.poll(0)
            reason = error.args[0]
            text = f"{reason.str()}: {last_error[-1]}" if last_error else reason.str()
            raise ClusterReadError(text, kafka_code=reason.code() if reason.code() > 0 else None) from None
        finally:
            consumer.close()

    def _records(self, client: ModuleType, consumer: Consumer) -> Iterator[LogRecord]:
        ranges = list(_ranges(client, consumer, self.as_of))
        total = sum(one.end - one.start for one in ranges)
        latest = self.as_of.latest_ms()
        done = 0
        for one in ranges:
            for record in _partition(client, consumer, one):
                if latest is not None and record.timestamp > latest:
                    break
                self._report(done, total)
                done += 1
                yield record
        self._report(total, total)

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
    states = [state for partition in sorted(coordinators) for state in coordinators[partition].states()]
    states.sort(key=lambda state: (state["group"], state["topic_id"], state["partition"]))
    return cast("list[ShareState]", states), scan.findings


def _client() -> ModuleType:
    try:
        return importlib.import_module("confluent_kafka")
    except ImportError:
        raise ClientMissingError(
            "reading a cluster needs the package confluent-kafka: pip install 'share-state[kafka]'"
        ) from None


def _ranges(client: ModuleType, consumer: Consumer, as_of: AsOf) -> Iterator[_Range]:
    topic = consumer.list_topics(_TOPIC, _PATIENCE).topics[_TOPIC]
    if topic.error is not None:
        raise ClusterReadError(
            f"the topic {_TOPIC}: {topic.error.str()} (a cluster makes it when its first share group comes)",
            kafka_code=topic.error.code(),
        )
    for partition in sorted(topic.partitions):
        place = client.TopicPartition(_TOPIC, partition)
        start, end = watermarks(client, consumer, place, _PATIENCE)
        last = as_of.last_offset(partition)
        yield _Range(partition, start, end if last is None else max(start, min(end, last + 1)))


def _partition(client: ModuleType, consumer: Consumer, one: _Range) -> Iterator[LogRecord]:
    if one.start >= one.end:
        return
    consumer.assign([client.TopicPartition(_TOPIC, one.partition, one.start)])
    waited_from = time.monotonic()
    while True:
        message = consumer.poll(_POLL)
        if message is None:
            if time.monotonic() - waited_from > _PATIENCE:
                raise ClusterReadError(f"no answer for {_TOPIC}-{one.partition} in {_PATIENCE:.0f} seconds")
            continue
        waited_from = time.monotonic()
        error = message.error()
        if error is not None:
            # The end comes early where the log's last records are no longer there.
            if error.code() == client.KafkaError._PARTITION_EOF:  # noqa: SLF001  the client's own name for it
                return
            raise client.KafkaException(error)
        # The client's types allow for messages without a place; these have one.
        offset = cast("int", message.offset())
        if offset < one.end:
            timestamp = message.timestamp()[1] or 0
            yield LogRecord(one.partition, None, offset, timestamp, message.key() or b"", message.value())
        if offset >= one.end - 1:
            return
