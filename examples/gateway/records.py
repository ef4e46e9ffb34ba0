"""The records: produced to the mock cluster, each to the partition and the offset that its value names."""

from confluent_kafka import Producer

from examples.gateway.plan import PARTITIONS, TOPIC, Place, Plan
from share_state.testing import MockCluster

_FLUSH_SECONDS = 60.0


class ProducingError(Exception):
    """The mock cluster did not take every record."""


def produce(plan: Plan, upstream: MockCluster) -> None:
    """Create the topic and fill it.

    Raises:
        ProducingError: a record was not taken.
    """
    upstream.create_topic(TOPIC, PARTITIONS)
    producer = Producer(
        {
            "bootstrap.servers": upstream.bootstrap_servers,
            "log_level": 0,
            "linger.ms": 20,
            "batch.num.messages": plan.at_once // 2,
            "queue.buffering.max.messages": plan.records + 1,
        }
    )
    for offset in range(plan.log_end):
        for partition in range(PARTITIONS):
            producer.produce(TOPIC, plan.value(Place(partition, offset)), partition=partition)
        producer.poll(0)
    left = producer.flush(_FLUSH_SECONDS)
    if left:
        raise ProducingError(f"{left} of {plan.records} records were not taken by the mock cluster")
