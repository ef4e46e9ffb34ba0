"""The state topic of a running cluster, read by workers through confluent-kafka: no group is joined and nothing committed.

Spark's own Kafka source leaves internal topics out and then gives no rows and no error; here a topic that has records gives them,
or an error.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from share_state.errors import ShareStateError
from share_state.extras import require
from share_state.reading.watermarks import watermarks
from share_state.spark.schemas import STATE_TOPIC

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message

__all__ = ["ClusterError", "Range", "ranges", "records"]

#: Seconds to wait for an answer of the cluster before giving up.
_PATIENCE = 30.0
#: Seconds of one wait for records.
_POLL = 1.0
#: Records taken from the client at once, and at most in one Arrow batch.
_BATCH = 10_000
_COLUMNS = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", "UTC")),
    ]
)


class ClusterError(ShareStateError):
    """The state topic of a cluster could not be read."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a cluster has of one state partition: offsets from the log start, below the high watermark."""

    partition: int
    start: int
    end: int


def ranges(settings: Mapping[str, str]) -> list[Range]:
    """Ask a cluster where its state partitions begin and end."""
    with _consumer(settings) as (client, consumer):
        topic = consumer.list_topics(STATE_TOPIC, _PATIENCE).topics[STATE_TOPIC]
        if topic.error is not None:
            text = f"the topic {STATE_TOPIC}: {topic.error.str()} (a cluster makes it when its first share group comes)"
            raise ClusterError(text, kafka_code=topic.error.code())
        places = [client.TopicPartition(STATE_TOPIC, partition) for partition in sorted(topic.partitions)]
        return [Range(place.partition, *watermarks(client, consumer, place, _PATIENCE)) for place in places]


def records(settings: Mapping[str, str], partition: int, start: int, end: int) -> Iterator[pa.RecordBatch]:
    """Read the records of one state partition with `start` <= offset < `end`.

    The log may begin later than `start` when it was pruned meanwhile. Records that are there and do not come are an error.
    """
    if start >= end:
        return
    with _consumer(settings) as (client, consumer):
        consumer.assign([client.TopicPartition(STATE_TOPIC, partition, start)])
        next_offset, waited_from = start, time.monotonic()
        while next_offset < end:
            messages = consumer.consume(_BATCH, _POLL)
            ended = False
            for at, message in enumerate(messages):
                error = message.error()
                if error is not None:
                    ended = _is_end(client, error)
                    messages = messages[:at]
                    break
            if messages:
                waited_from = time.monotonic()
                # The client's types allow for messages without a place; these have one.
                next_offset = cast("int", messages[-1].offset()) + 1
                wanted = [message for message in messages if cast("int", message.offset()) < end]
                if wanted:
                    yield _batch(wanted, partition)
            if ended:
                _check_complete(client, consumer, partition, next_offset, end)
                return
            if not messages and time.monotonic() - waited_from > _PATIENCE:
                raise ClusterError(f"no answer for {STATE_TOPIC}-{partition} at offset {next_offset} in {_PATIENCE:.0f} seconds")


def _check_complete(client: ModuleType, consumer: Consumer, partition: int, next_offset: int, end: int) -> None:
    """Raise unless everything below `end` was read, or is gone from the log by now."""
    log_start, _high = watermarks(client, consumer, client.TopicPartition(STATE_TOPIC, partition), _PATIENCE)
    if next_offset < end and log_start < end:
        raise ClusterError(f"{STATE_TOPIC}-{partition} ended at offset {next_offset}, before {end}")


def _is_end(client: ModuleType, error: KafkaError) -> bool:
    if error.code() == client.KafkaError._PARTITION_EOF:  # noqa: SLF001  the client's own name for it
        return True
    raise client.KafkaException(error)


def _batch(messages: list[Message], partition: int) -> pa.RecordBatch:
    columns: list[list[Any]] = [
        [message.key() for message in messages],
        [message.value() for message in messages],
        [partition] * len(messages),
        [message.offset() for message in messages],
        [message.timestamp()[1] for message in messages],
    ]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, _COLUMNS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_COLUMNS)


@contextmanager
def _consumer(settings: Mapping[str, str]) -> Iterator[tuple[ModuleType, Consumer]]:
    require("kafka", "confluent_kafka")
    client = importlib.import_module("confluent_kafka")
    last_error: list[str] = []
    ours = {
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
        consumer = client.Consumer({**settings, **ours})
    except client.KafkaException as error:
        raise ClusterError(f"the client's settings: {error.args[0].str()}") from None
    try:
        yield client, consumer
    except client.KafkaException as error:
        # What the client has to say of its connections comes by its callback, and that only by a poll.
        consumer.poll(0)
        reason = error.args[0]
        text = f"{reason.str()}: {last_error[-1]}" if last_error else reason.str()
        raise ClusterError(text, kafka_code=reason.code() if reason.code() > 0 else None) from None
    finally:
        consumer.close()
