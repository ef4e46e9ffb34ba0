"""Records by their offsets on real brokers: what a transaction leaves, and what was deleted from the start of a log."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from share_state.operate.payloads import Payload, PayloadReader, Reason
from tests.gateway.patience import wait_until
from tests.gateway.records import create_topic, end_offset
from tests.kafka.broker import Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def told(broker: Broker, *, read_committed: bool) -> list[bytes | Reason | None]:
    with PayloadReader(broker.bootstrap, read_committed=read_committed) as reader:
        found = list(reader.read("transactions", 0, range(6)))
    assert [one.offset for one in found] == list(range(6))
    return [one.value if isinstance(one, Payload) else one.reason for one in found]


def wait_for_marker(broker: Broker, end: int) -> None:
    """Wait until a transaction has its marker, which a broker may write after its answer."""
    place = TopicPartition("transactions", 0)
    wait_until(lambda: end_offset(broker.bootstrap, place) == end, f"the marker before {end} is there")


def test_each_reason_is_that_of_the_log(broker: Broker) -> None:
    create_topic(broker.bootstrap, "transactions", 1)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "payloads", "log_level": 0})
    producer.init_transactions(60)
    for end, value, is_aborted in ((2, b"kept", False), (4, b"gone", True)):
        producer.begin_transaction()
        producer.produce("transactions", value, partition=0)
        assert producer.flush(30) == 0
        (producer.abort_transaction if is_aborted else producer.commit_transaction)(60)
        wait_for_marker(broker, end)
    # A record and a marker each, and then the end.
    none, after = Reason.NOT_THERE, Reason.AT_OR_AFTER_LOG_END
    assert told(broker, read_committed=False) == [b"kept", none, b"gone", none, after, after]
    assert told(broker, read_committed=True) == [b"kept", none, none, none, after, after]
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    [deleted] = admin.delete_records([TopicPartition("transactions", 0, 2)]).values()
    assert deleted.result().low_watermark == 2
    below = Reason.BELOW_LOG_START
    assert told(broker, read_committed=False) == [below, below, b"gone", none, after, after]
