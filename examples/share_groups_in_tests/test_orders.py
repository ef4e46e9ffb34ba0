"""A worker that takes orders from a share group, and its test."""

from typing import TypeAlias

import pytest
from confluent_kafka import AcknowledgeType, Message, ShareConsumer

from share_state.testing import ShareCluster

#: Value, delivery count and answer.
Delivery: TypeAlias = tuple[bytes | None, int | None, AcknowledgeType]


def ship(order: Message) -> AcknowledgeType:
    """Process an order: what cannot be read is rejected, what fails the first time is released."""
    if order.value() == b"garbled":
        return AcknowledgeType.REJECT
    if order.value() == b"busy" and order.delivery_count() == 1:
        return AcknowledgeType.RELEASE
    return AcknowledgeType.ACCEPT


def work(bootstrap_servers: str, orders: int) -> list[Delivery]:
    """Take so many deliveries; gives the value, the delivery count and the answer of each."""
    settings = {"bootstrap.servers": bootstrap_servers, "group.id": "shippers", "share.acknowledgement.mode": "explicit"}
    seen: list[Delivery] = []
    with ShareConsumer(settings) as consumer:
        consumer.subscribe(["orders"])
        while len(seen) < orders:
            for order in consumer.poll(1.0):
                answer = ship(order)
                consumer.acknowledge(order, answer)
                seen.append((order.value(), order.delivery_count(), answer))
            consumer.commit_sync()
    return seen


def test_an_order_that_fails_comes_again(share_groups: ShareCluster) -> None:
    """The released order is delivered a second time, the rejected one is not."""
    share_groups.create_topic("orders", partitions=1)
    share_groups.produce("orders", ["plain", "busy", "garbled"])
    assert work(share_groups.bootstrap_servers, 4) == [
        (b"plain", 1, AcknowledgeType.ACCEPT),
        (b"busy", 1, AcknowledgeType.RELEASE),
        (b"garbled", 1, AcknowledgeType.REJECT),
        (b"busy", 2, AcknowledgeType.ACCEPT),
    ]


class TestWithShortLocks:
    """Another configuration for the tests of a class, by Kafka's names."""

    @pytest.fixture
    def share_groups_config(self) -> dict[str, str]:
        """Let locks run out after a second."""
        return {"share.record.lock.duration.ms": "1000"}

    def test_an_order_that_nobody_answers_for_comes_again(self, share_groups: ShareCluster) -> None:
        """A worker that forgets an order loses it when the lock has run out."""
        # One partition: it is assigned to both members.
        share_groups.create_topic("orders", partitions=1)
        share_groups.produce("orders", ["plain"])
        settings = {"bootstrap.servers": share_groups.bootstrap_servers, "group.id": "shippers"}
        explicit = {**settings, "share.acknowledgement.mode": "explicit"}
        with ShareConsumer(explicit) as forgetful, ShareConsumer(settings) as other:
            forgetful.subscribe(["orders"])
            while not len(forgetful.poll(1.0)):
                pass
            other.subscribe(["orders"])
            while not (taken := list(other.poll(1.0))):
                pass
        assert [(order.value(), order.delivery_count()) for order in taken] == [(b"plain", 2)]
