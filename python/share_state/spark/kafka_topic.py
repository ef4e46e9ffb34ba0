"""The state topic of a running cluster, read by workers through confluent-kafka: no group is joined and nothing committed.

Spark's own Kafka source leaves internal topics out and then gives no rows and no error; here a topic that has records gives them,
or an error.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from share_state.reading import state_topic
from share_state.reading.asking import Connecting
from share_state.reading.failures import ClusterReadError
from share_state.reading.state_topic import STATE_TOPIC
from share_state.reading.watermarks import watermarks

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

__all__ = ["Range", "ranges", "records"]

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


@dataclass(frozen=True, slots=True)
class Range:
    """What a cluster has of one state partition: offsets from the log start, below the high watermark."""

    partition: int
    start: int
    end: int


def ranges(settings: Mapping[str, str]) -> list[Range]:
    """Ask a cluster where its state partitions begin and end."""
    connecting = Connecting()
    with state_topic.consumer(settings, connecting) as (client, consumer):
        there = state_topic.state_partitions(client, consumer, _PATIENCE, connecting)
        places = [client.TopicPartition(STATE_TOPIC, one) for one in there]
        return [Range(place.partition, *watermarks(client, consumer, place, _PATIENCE)) for place in places]


def records(settings: Mapping[str, str], partition: int, start: int, end: int) -> Iterator[pa.RecordBatch]:
    """Read the records of one state partition with `start` <= offset < `end`.

    The log may begin later than `start` when it was pruned meanwhile. Records that are there and do not come are an error.
    """
    if start >= end:
        return
    with state_topic.consumer(settings, Connecting()) as (client, consumer):
        consumer.assign([client.TopicPartition(STATE_TOPIC, partition, start)])
        next_offset, waited_from = start, time.monotonic()
        while next_offset < end:
            messages: list[Message] = []
            ended = False
            for message in consumer.consume(_BATCH, _POLL):
                error = message.error()
                if error is None:
                    messages.append(message)
                elif state_topic.is_end(client, error):
                    ended = True
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
                raise ClusterReadError(
                    f"no answer for {STATE_TOPIC}-{partition} at offset {next_offset} in {_PATIENCE:.0f} seconds"
                )


def _check_complete(client: ModuleType, consumer: Consumer, partition: int, next_offset: int, end: int) -> None:
    """Raise unless everything below `end` was read, or is gone from the log by now."""
    log_start, _high = watermarks(client, consumer, client.TopicPartition(STATE_TOPIC, partition), _PATIENCE)
    if next_offset < end and log_start < end:
        raise ClusterReadError(f"{STATE_TOPIC}-{partition} ended at offset {next_offset}, before {end}")


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
