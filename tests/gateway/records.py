"""Topics and records by ordinary clients, on any upstream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.gateway.patience import PATIENCE_S, wait_until
from tests.gateway.wire import Connection
from tests.gateway.wire.codec import Message

_CREATE_TOPICS = 19
#: UNKNOWN_TOPIC_OR_PARTITION.


def create_topic(
    bootstrap: str, name: str, partitions: int, *, replication: int = 1, configs: Mapping[str, str] | None = None
) -> None:
    """Make a topic and wait until it is known with all its leaders; a mock cluster makes it on being asked, in its own size."""
    with Connection(bootstrap.partition(",")[0]) as connection:
        if _CREATE_TOPICS in connection.offered():
            wanted = {
                "name": name,
                "numPartitions": partitions,
                "replicationFactor": replication,
                "configs": [{"name": key, "value": value} for key, value in (configs or {}).items()],
            }
            answer = connection.ask("CreateTopics", 5, {"topics": [wanted], "timeoutMs": round(PATIENCE_S * 1000)})
            assert [one["errorCode"] for one in answer["topics"]] == [0], answer["topics"]

        def known() -> bool:
            found = topic_metadata(connection, name)
            leaders = [one["leaderId"] for one in found["partitions"]]
            return found["errorCode"] == 0 and len(leaders) >= partitions and min(leaders) >= 0

        wait_until(known, f"topic {name} is known")


def topic_metadata(connection: Connection, name: str) -> Message:
    """Metadata of a topic on a broker, with the highest version that all upstreams have."""
    # The mock cluster writes a byte too many from v9 on.
    answer = connection.ask("Metadata", 8, {"topics": [{"name": name}], "allowAutoTopicCreation": True})
    found: Message = answer["topics"][0]
    return found


def produce(bootstrap: str, topic: str, values: Iterable[bytes], *, partition: int = 0, batch: int | None = None) -> None:
    """Produce records in this order, ``batch`` to a batch if given, else as librdkafka likes, and wait for the answers."""
    failed: list[KafkaError] = []
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 5, "enable.idempotence": False})

    def answered(error: KafkaError | None, _: object) -> None:
        if error is not None:
            failed.append(error)

    for number, value in enumerate(values, start=1):
        while True:
            try:
                producer.produce(topic, value, partition=partition, on_delivery=answered)
            except BufferError:
                producer.poll(0.1)
            else:
                break
        if batch is not None and number % batch == 0:
            producer.flush(PATIENCE_S)
    left = producer.flush(PATIENCE_S)
    assert left == 0 and not failed, f"{left} records were not answered, {len(failed)} failed: {failed[:3]}"  # noqa: PT018


def end_offset(bootstrap: str, place: TopicPartition) -> int:
    """The end offset of a partition; -1 while nobody can say."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "end-offset", "log_level": 0})
    try:
        return int(consumer.get_watermark_offsets(place, timeout=5.0)[1])
    except KafkaException:
        return -1
    finally:
        consumer.close()
