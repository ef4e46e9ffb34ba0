"""A cluster with share groups for a test: a mock cluster that keeps the records, and a gateway in front of it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from share_state.errors import ShareStateError
from share_state.gateway import GatewayOptions, ShareGateway, serve_in_thread, split_properties
from share_state.kafka.client.peers import parse_bootstrap
from share_state.testing.mock_cluster import MockCluster

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

__all__ = ["ProduceError", "ShareCluster", "share_cluster"]

#: Defaults for tests, where they differ from Kafka's; ``config`` overrides them.
_CONFIG: Final = {
    # A test that produces before it consumes needs to see its records.
    "share.auto.offset.reset": "earliest",
    # A second member gets its partitions at once, and the first soon learns that it lost them.
    "group.share.assignment.interval.ms": "0",
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.heartbeat.interval.ms": "500",
    # Lets a test use short locks; the default stays half a minute.
    "group.share.min.record.lock.duration.ms": "1000",
}
_FLUSH_S: Final = 30.0
#: ``RD_KAFKA_PARTITION_UA``.
_ANY_PARTITION: Final = -1


class ProduceError(ShareStateError):
    """The mock cluster did not accept a record."""


class ShareCluster:
    """A running cluster for a test; :func:`share_cluster` creates it.

    Attributes:
        bootstrap_servers: the address for share consumers, producers and tools.
        upstream_servers: the mock cluster itself, without share groups.
        gateway: the gateway, for inspection.
    """

    def __init__(self, gateway: ShareGateway, mock: MockCluster) -> None:
        self.gateway = gateway
        self.bootstrap_servers = gateway.bootstrap_servers
        self.upstream_servers = mock.bootstrap_servers
        self._mock = mock

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic. Without this call, producing creates it with four partitions.

        Raises:
            ConfigError: ``partitions`` is not positive.
            MockClusterError: the topic exists.
        """
        self._mock.create_topic(name, partitions)

    def produce(self, topic: str, values: Iterable[bytes | str], partition: int | None = None) -> None:
        """Produce records in order, and return when all are in the log.

        Args:
            topic: their topic.
            values: their values; text becomes UTF-8.
            partition: their partition; ``None`` spreads them.

        Raises:
            ProduceError: a record was refused, or not accepted within half a minute.
        """
        from confluent_kafka import Producer  # noqa: PLC0415  the mock cluster has seen to it that it is there

        refused: list[str] = []

        def delivered(error: KafkaError | None, _message: Message) -> None:
            if error is not None:
                refused.append(str(error))

        producer = Producer({"bootstrap.servers": self.upstream_servers, "linger.ms": 5, "log_level": 0})
        place = _ANY_PARTITION if partition is None else partition
        for value in values:
            while True:
                try:
                    producer.produce(topic, value, partition=place, on_delivery=delivered)
                    break
                except BufferError:  # the queue is full: have some of it sent
                    producer.poll(0.1)
            producer.poll(0)
        left = producer.flush(_FLUSH_S)
        if refused or left:
            reason = refused[0] if refused else f"{left} records were not taken in {_FLUSH_S:g} s"
            raise ProduceError(f"records for topic {topic!r}: {reason}", field="topic", value=topic)


@contextlib.contextmanager
def share_cluster(
    *,
    topics: Mapping[str, int] | None = None,
    config: Mapping[str, str] | None = None,
    path: Path | None = None,
    brokers: int = 1,
) -> Iterator[ShareCluster]:
    """Run a cluster with share groups inside the ``with``, in threads of this process.

    Args:
        topics: topics to create, with their numbers of partitions.
        config: configurations of the broker (``group.share.…``) and defaults of groups (``share.…``), under Kafka's names. By
            default, a group reads from the earliest record, partitions are assigned at once, and locks may be as short as a
            second.
        path: directory for the state of groups; ``None`` for a temporary one.
        brokers: brokers of the mock cluster. With one, producers may use ``bootstrap_servers`` too; with several they need
            ``upstream_servers``.

    Raises:
        MissingPackageError: confluent-kafka is not installed.
        ConfigError: a configuration is unknown, or its value is out of bounds.
    """
    broker, groups = split_properties({**_CONFIG, **(config or {})})
    with contextlib.ExitStack() as stack:
        mock = stack.enter_context(MockCluster(brokers))
        for name, partitions in (topics or {}).items():
            mock.create_topic(name, partitions)
        directory = path or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="share-state-")))
        options = GatewayOptions(
            upstream=tuple(parse_bootstrap(mock.bootstrap_servers)),
            path=directory,
            # The state of a test need not survive a crash of the machine.
            sync="never",
            relay=brokers == 1,
            broker=broker,
            groups=groups,
        )
        yield ShareCluster(stack.enter_context(serve_in_thread(options)), mock)
