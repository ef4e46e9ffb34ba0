"""The state topic of a running cluster, read through a consumer that joins no group and commits nothing.

Each state partition is read from its log start to the end that it had when reading began. Needs the `kafka` extra.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from share_state import _core
from share_state.cli.source import Finding, LogRecord, Progress, ShareState
from share_state.errors import ShareStateError

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
    #: Further settings of the client, a file with lines NAME=VALUE.
    command_config: Path | None = None
    progress: Progress | None = None
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
            **_properties(self.command_config),
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
        ranges = list(_ranges(client, consumer))
        total = sum(one.end - one.start for one in ranges)
        done = 0
        for one in ranges:
            for record in _partition(client, consumer, one):
                if self.progress is not None and done % _REPORT_EVERY == 0:
                    self.progress(done, total)
                done += 1
                yield record
        if self.progress is not None:
            self.progress(total, total)


def fold_cluster(scan: ClusterScan) -> tuple[list[ShareState], list[Finding]]:
    """Fold the state topic of a cluster; the states come in order of group, topic id and partition."""
    coordinators: dict[int, _core.ShareCoordinator] = {}
    for record in scan:
        coordinator = coordinators.setdefault(record.partition, _core.ShareCoordinator())
        try:
            coordinator.replay(record.offset, record.key, record.value)
        except ShareStateError as error:
            message = f"the record at offset {record.offset} cannot be decoded and is passed over: {error}"
            scan.findings.append(
                {"file": f"{_TOPIC}-{record.partition}", "position": record.offset, "kind": "record", "message": message}
            )
    states = [state for partition in sorted(coordinators) for state in coordinators[partition].states()]
    states.sort(key=lambda state: (state["group"], state["topic_id"], state["partition"]))
    return cast("list[ShareState]", states), scan.findings


def _properties(path: Path | None) -> dict[str, str]:
    """Read lines NAME=VALUE; empty ones and those that begin with # are passed over."""
    if path is None:
        return {}
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ClusterReadError(f"{path} cannot be read: {error}") from None
    properties = {}
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            # The line itself is not shown: it may be a password.
            raise ClusterReadError(f"{path}, line {number}: it is not NAME=VALUE")
        properties[name.strip()] = value.strip()
    return properties


def _client() -> ModuleType:
    try:
        return importlib.import_module("confluent_kafka")
    except ImportError:
        raise ClientMissingError(
            "reading a cluster needs the package confluent-kafka: pip install 'share-state[kafka]'"
        ) from None


def _ranges(client: ModuleType, consumer: Consumer) -> Iterator[_Range]:
    topic = consumer.list_topics(_TOPIC, _PATIENCE).topics[_TOPIC]
    if topic.error is not None:
        raise ClusterReadError(
            f"the topic {_TOPIC}: {topic.error.str()} (a cluster makes it when its first share group comes)",
            kafka_code=topic.error.code(),
        )
    for partition in sorted(topic.partitions):
        place = client.TopicPartition(_TOPIC, partition)
        start, end = consumer.get_watermark_offsets(place, _PATIENCE)
        yield _Range(partition, start, end)


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
