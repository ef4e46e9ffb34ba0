"""Surroundings of a scenario's consumers on a cluster: a topic, records in it, a group's configuration and offsets.

Topics and records belong to the cluster that keeps the data, groups to the one that has share groups; mostly that is one.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewPartitions, NewTopic
from kio.schema.alter_share_group_offsets.v0 import request as alter
from kio.schema.alter_share_group_offsets.v0.response import AlterShareGroupOffsetsResponse
from kio.schema.describe_share_group_offsets.v1 import request as describe
from kio.schema.describe_share_group_offsets.v1.response import DescribeShareGroupOffsetsResponse
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i32, i64

from tests.kafka.raw_requests import ask

from .share_member import PATIENCE_S, RefusedError, Topic

#: Longer than it takes to hand all records of an operation to the producer, so that they make one batch.
_LINGER_MS = 1_000
#: Time between two looks for a change.
_LOOK_S = 0.05
#: A gateway hears of a log start with the answer to its next Fetch, for which it waits half a second at most, and nothing shows
#: that it has heard. Until then it delivers records that it has read before.
_HEARD_S = 1.5


class Cluster:
    """A topic and a group of one scenario."""

    def __init__(self, bootstrap: str, data_bootstrap: str, name: str, partitions: int) -> None:
        self.bootstrap = bootstrap
        self.group = f"{name}-{uuid.uuid4()}"
        self._groups = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._data = AdminClient({"bootstrap.servers": data_bootstrap, "log_level": 0})
        self._data_bootstrap = data_bootstrap
        #: Key of each record that has one, by partition and offset.
        self.keys: dict[tuple[int, int], str] = {}
        topic = f"{name}-{uuid.uuid4()}"
        self._data.create_topics([NewTopic(topic, partitions, 1)])[topic].result()
        self.topic = Topic(topic, self._known(topic, partitions))

    def produce(self, partition: int, count: int, key: str | None = None) -> tuple[int, int]:
        """Write records in one batch; their first and last offset."""
        offsets: list[int] = []

        def written(error: KafkaError | None, message: object) -> None:
            if error is not None:
                raise KafkaException(error)
            offset = message.offset()  # type: ignore[attr-defined]
            offsets.append(offset)
            if key is not None:
                self.keys[partition, offset] = key

        # A new one each time: it has to know the partitions of now.
        producer = Producer({"bootstrap.servers": self._data_bootstrap, "linger.ms": _LINGER_MS, "log_level": 0})
        for number in range(count):
            producer.produce(self.topic.name, f"value-{number}".encode(), key=key, partition=partition, on_delivery=written)
        producer.flush(PATIENCE_S)
        if len(offsets) != count:
            raise RefusedError(f"{count - len(offsets)} of {count} records were not written", 0)
        return min(offsets), max(offsets)

    def delete_records_before(self, partition: int, offset: int) -> None:
        """Move the log start."""
        up_to = TopicPartition(self.topic.name, partition, offset)
        self._data.delete_records([up_to])[up_to].result()
        if self._data_bootstrap != self.bootstrap:
            time.sleep(_HEARD_S)

    def add_partitions(self, total: int) -> None:
        """Let the topic grow, and wait until that is known where the groups are."""
        self._data.create_partitions([NewPartitions(self.topic.name, total)])[self.topic.name].result()
        self._known(self.topic.name, total)

    def configure(self, properties: Mapping[str, str]) -> None:
        """Alter the group's properties, and wait until they are seen."""
        set_all = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in properties.items()]
        resource = ConfigResource(ConfigResource.Type.GROUP, self.group, incremental_configs=set_all)
        self._groups.incremental_alter_configs([resource])[resource].result()
        asked = ConfigResource(ConfigResource.Type.GROUP, self.group)
        for _ in _looking():
            seen = self._groups.describe_configs([asked])[asked].result()
            if all(seen[name].value == value for name, value in properties.items()):
                return
        raise RefusedError(f"{dict(properties)} was not seen", 0)

    def offsets(self, partition: int) -> dict[str, int]:
        """Start offset and lag of a share partition."""
        topic = describe.DescribeShareGroupOffsetsRequestTopic(
            topic_name=TopicName(self.topic.name), partitions=(i32(partition),)
        )
        group = describe.DescribeShareGroupOffsetsRequestGroup(group_id=GroupId(self.group), topics=(topic,))
        request = describe.DescribeShareGroupOffsetsRequest(groups=(group,))
        (answer,) = ask(self.bootstrap, request, DescribeShareGroupOffsetsResponse).groups
        if answer.error_code != 0:
            raise RefusedError("describe offsets", answer.error_code, answer.error_message)
        (found,) = (one for topic in answer.topics for one in topic.partitions)
        if found.error_code != 0:
            raise RefusedError("describe offsets", found.error_code, found.error_message)
        return {"start_offset": found.start_offset, "lag": found.lag}

    def offsets_when(self, partition: int, expected: Mapping[str, int]) -> dict[str, int]:
        """Start offset and lag, once they are as expected, or else as they are when patience ends."""
        found: dict[str, int] = {}
        for _ in _looking():
            found = self.offsets(partition)
            if expected.items() <= found.items():
                break
        return found

    def alter_offsets(self, partition: int, offset: int) -> None:
        """Set the start offset of a share partition."""
        one = alter.AlterShareGroupOffsetsRequestPartition(partition_index=i32(partition), start_offset=i64(offset))
        topic = alter.AlterShareGroupOffsetsRequestTopic(topic_name=TopicName(self.topic.name), partitions=(one,))
        request = alter.AlterShareGroupOffsetsRequest(group_id=GroupId(self.group), topics=(topic,))
        answer = ask(self.bootstrap, request, AlterShareGroupOffsetsResponse)
        if answer.error_code != 0:
            raise RefusedError("alter offsets", answer.error_code, answer.error_message)
        for topic_answer in answer.responses:
            for found in topic_answer.partitions:
                if found.error_code != 0:
                    raise RefusedError("alter offsets", found.error_code, found.error_message)

    def close(self) -> None:
        """Delete the topic."""
        self._data.delete_topics([self.topic.name])[self.topic.name].result()

    def _known(self, topic: str, partitions: int) -> uuid.UUID:
        """The id of a topic where the groups are, once so many partitions of it are known there."""
        for _ in _looking():
            try:
                found = self._groups.describe_topics(TopicCollection([topic]))[topic].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise
                continue
            if len(found.partitions) == partitions and all(one.leader is not None for one in found.partitions):
                high, low = found.topic_id.get_most_significant_bits(), found.topic_id.get_least_significant_bits()
                return uuid.UUID(int=(high % 2**64) << 64 | low % 2**64)
        raise RefusedError(f"{partitions} partitions of {topic} were not seen", 0)


def _looking() -> Iterator[None]:
    """Looks until patience is at its end."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        yield
        time.sleep(_LOOK_S)
