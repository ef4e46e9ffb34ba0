"""The state topic of a running cluster, read by a consumer that joins no group and commits nothing.

It needs READ on the topic and no other right. The client asks for the coordinator of its group as soon as it has an assignment. A
principal without rights on the group is refused there, which does not matter, because this client joins no group.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

from share_state.errors import ConfigError
from share_state.extras import how_to_install
from share_state.reading.asking import Connecting, in_background, topics
from share_state.reading.failures import ClusterReadError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError

__all__ = [
    "STATE_TOPIC",
    "ClientMissingError",
    "ReadNotAllowedError",
    "client_module",
    "consumer",
    "failing_as_ours",
    "is_end",
    "state_partitions",
]

STATE_TOPIC = "__share_group_state"
#: Kafka's TOPIC_AUTHORIZATION_FAILED and GROUP_AUTHORIZATION_FAILED.
_NOT_THE_TOPIC = 29
_NOT_THE_GROUP = 30


class ClientMissingError(ClusterReadError):
    """Reading a cluster needs confluent-kafka, which is not installed."""


class ReadNotAllowedError(ClusterReadError):
    """The principal lacks the right that reading needs.

    Attributes:
        operation: Kafka's name for it, which goes into an ACL.
        topic: the topic that it applies to.
    """

    operation = "READ"
    topic = STATE_TOPIC


@contextmanager
def consumer(
    settings: Mapping[str, object], connecting: Connecting, further: Mapping[str, object] | None = None
) -> Iterator[tuple[ModuleType, Consumer]]:
    """Provide the client's module and a consumer, and turn errors within the block into ours.

    `connecting` receives the connection errors of the client. `further` are settings that the caller insists on.

    Raises:
        ClientMissingError: confluent-kafka is not there.
        ReadNotAllowedError: the principal may not read the topic.
        ClusterReadError: an invalid address, settings that the client refuses, or any other failure, with Kafka's code if it
            has one.
    """
    client = client_module()
    _check_addresses(settings)
    ours = {
        # A name is asked for; by `assign` no group is joined, and nothing is committed.
        "group.id": "share-state",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        # Where the broker prunes while we read, the log begins later.
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": False,
        # A broker holds a fetch at the end of one partition for so long, and the next partition has to wait for it.
        "fetch.wait.max.ms": 10,
        # Its errors are told by us, once.
        "error_cb": connecting,
        "log_level": 0,
    }
    try:
        made = client.Consumer({**settings, **ours, **(further or {})})
    except client.KafkaException as error:
        raise ClusterReadError(f"the client's settings: {error.args[0].str()}") from None
    close: Callable[[], object] = made.close
    try:
        with failing_as_ours(client, made, connecting, STATE_TOPIC):
            yield client, made
    except KeyboardInterrupt:
        # A call may still wait in its thread, and the client does not close before that is over.
        close = partial(in_background, made.close)
        raise
    finally:
        close()


@contextmanager
def failing_as_ours(client: ModuleType, made: Consumer, connecting: Connecting, topic: str) -> Iterator[None]:
    """Turn the client's errors within the block, which reads a topic, into ours.

    Raises:
        ReadNotAllowedError: the principal may not read the topic.
        ClusterReadError: any other failure, with Kafka's code if it has one.
    """
    try:
        yield
    except client.KafkaException as error:
        # What the client has to say of its connections comes by its callback, and that only by a poll.
        made.poll(0)
        raise _failure(error.args[0], connecting.last, topic) from None


def _check_addresses(settings: Mapping[str, object]) -> None:
    """Refuse an invalid address: of a port that is too large, the client would use the low 16 bits."""
    # Imported late: who reads paths needs nothing of what talks to brokers.
    from share_state.kafka.client import parse_bootstrap  # noqa: PLC0415

    try:
        parse_bootstrap(str(settings.get("bootstrap.servers", "")))
    except ConfigError as wrong:
        raise ClusterReadError(str(wrong)) from None


def state_partitions(client: ModuleType, asked: Consumer, patience: float, connecting: Connecting) -> list[int]:
    """Ask which partitions the topic has, in order.

    `connecting` is the one that the consumer was made with: a connection that fails ends the wait, and the error names it.
    """
    topic = topics(client, asked, connecting, patience, STATE_TOPIC)[STATE_TOPIC]
    if topic.error is None:
        return sorted(topic.partitions)
    if topic.error.code() == _NOT_THE_TOPIC:
        raise client.KafkaException(topic.error)
    raise ClusterReadError(
        f"the topic {STATE_TOPIC}: {topic.error.str()} (a cluster makes it when its first share group comes)",
        kafka_code=topic.error.code(),
    )


def is_end(client: ModuleType, error: KafkaError) -> bool:
    """Tell the end of a state partition from what matters not (see above), and raise for anything else."""
    if error.code() == _NOT_THE_GROUP:
        return False
    if error.code() == client.KafkaError._PARTITION_EOF:  # noqa: SLF001  the client's own name for it
        return True
    raise client.KafkaException(error)


def _failure(reason: KafkaError, of_connections: str | None, topic: str) -> ClusterReadError:
    text = reason.str() if of_connections is None else f"{reason.str()}: {of_connections}"
    if reason.code() == _NOT_THE_TOPIC:
        right = f"the principal needs {ReadNotAllowedError.operation} on the topic {topic}, and no other right"
        refused = ReadNotAllowedError(f"{text}: {right}", kafka_code=reason.code())
        refused.topic = topic
        return refused
    return ClusterReadError(text, kafka_code=reason.code() if reason.code() > 0 else None)


def client_module() -> ModuleType:
    """Import the client.

    Raises:
        ClientMissingError: it is not there.
    """
    try:
        return importlib.import_module("confluent_kafka")
    except ImportError:
        raise ClientMissingError(f"reading a cluster needs the package confluent-kafka: {how_to_install('kafka')}") from None
