"""Records for the benchmark of the gateway."""

from __future__ import annotations

from confluent_kafka import Producer

#: Topic that is consumed where one topic is enough.
TOPIC = "load"


def fill(bootstrap: str, topic: str, records: int, size: int, partitions: int, *, single: bool) -> None:
    """Produce records of one size over all partitions, in large batches or in batches of one."""
    settings = {"linger.ms": 0, "batch.num.messages": 1} if single else {"linger.ms": 20, "batch.size": 131_072}
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, **settings})
    value = b"x" * size
    for number in range(records):
        while True:
            try:
                producer.produce(topic, value, partition=number % partitions)
            except BufferError:
                producer.poll(0.05)
            else:
                break
    producer.flush()
