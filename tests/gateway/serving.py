"""A gateway over a mock cluster, and what tests ask it over a bare connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Producer, ShareConsumer

from share_state.gateway import GatewayOptions, ShareGateway, serve_in_thread
from share_state.kafka.client.peers import parse_bootstrap
from tests.gateway.upstreams.mock import MockCluster
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection

RECORDS = 50
TOPIC = "orders"
MEMBER = "AAAAAAAAAAAAAAAAAAAAAA"


@contextlib.contextmanager
def upstream(records: int = RECORDS, size: int = 0) -> Iterator[str]:
    """A mock cluster whose topic has records of at least a size."""
    cluster = MockCluster()
    cluster.start()
    try:
        producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 50})
        for number in range(records):
            producer.produce(TOPIC, b"%d" % number + b"x" * size, partition=0)
            producer.poll(0)
        assert producer.flush(30) == 0
        yield cluster.bootstrap
    finally:
        cluster.kill()


@contextlib.contextmanager
def serving(bootstrap: str, path: Path, **options: Any) -> Iterator[ShareGateway]:
    """A gateway of which every group begins at the earliest record."""
    wanted: dict[str, Any] = {"groups": {"share.auto.offset.reset": "earliest"}, **options}
    with serve_in_thread(GatewayOptions(upstream=tuple(parse_bootstrap(bootstrap)), path=path, **wanted)) as gateway:
        yield gateway


class Instead:
    """A part of a gateway of which some calls do something else."""

    def __init__(self, real: Any, **calls: Callable[..., Any]) -> None:
        self._real = real
        self.__dict__.update(calls)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def drain(gateway: ShareGateway, **settings: Any) -> int:
    """Consume every record of the topic with librdkafka's share consumer; gives their number."""
    configured = {"bootstrap.servers": gateway.bootstrap_servers, "group.id": "group", **settings}
    consumer = ShareConsumer(configured)
    consumer.subscribe([TOPIC])
    try:
        count = 0
        for _ in range(20):
            for message in consumer.poll(timeout=1.0):
                assert message.error() is None, message.error()
                count += 1
            if count >= RECORDS:
                break
        return count
    finally:
        consumer.close()


def log_in(connection: Connection, name: str, password: str, version: int = 2) -> Message:
    """Log in by PLAIN; gives the last answer."""
    assert connection.ask("SaslHandshake", 1, {"mechanism": "PLAIN"})["errorCode"] == 0
    return connection.ask("SaslAuthenticate", version, {"authBytes": f"\0{name}\0{password}".encode()})


def topic_id(connection: Connection, name: str = TOPIC) -> str:
    """The id of a topic, as Metadata tells it."""
    (row,) = connection.ask("Metadata", 12, {"topics": [{"name": name}]})["topics"]
    assert row["errorCode"] == 0
    return str(row["topicId"])


def heartbeat(group: str = "group", topics: list[str] | None = None) -> Message:
    """The first heartbeat of a member."""
    return {
        "groupId": group,
        "memberId": MEMBER,
        "memberEpoch": 0,
        "rackId": None,
        "subscribedTopicNames": [TOPIC] if topics is None else topics,
    }


def fetch(group: str, epoch: int, places: list[tuple[str, int]], **limits: Any) -> Message:
    """A ShareFetch of version 1."""
    topics: dict[str, list[Message]] = {}
    for place, number in places:
        topics.setdefault(place, []).append({"partitionIndex": number, "acknowledgementBatches": []})
    return {
        "groupId": group,
        "memberId": MEMBER,
        "shareSessionEpoch": epoch,
        "maxWaitMs": 0,
        "minBytes": 1,
        "maxBytes": 1 << 20,
        "maxRecords": 500,
        "batchSize": 500,
        "topics": [{"topicId": one, "partitions": rows} for one, rows in topics.items()],
        "forgottenTopicsData": [],
        **limits,
    }
