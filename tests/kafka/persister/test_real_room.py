"""A real coordinator whose records have a small limit: what fits by our measure it can write as a snapshot; more it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

import share_state as ss
from share_state.errors import LimitExceededError, PersisterError
from share_state.kafka import KafkaPersister
from tests.kafka.broker import Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

BYTES = 1500
#: A key's updates before its next write is a snapshot (``share.coordinator.snapshot.update.records.per.snapshot``).
UPDATES = 500


@contextmanager
def _limited(broker: Broker) -> Iterator[None]:
    # Packages that are only for the tests against real Kafka.
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415
    from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource  # noqa: PLC0415
    from confluent_kafka.admin._resource import ResourceType  # noqa: PLC0415

    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})

    def alter(operation: AlterConfigOpType) -> None:
        entry = ConfigEntry("max.message.bytes", str(BYTES), incremental_operation=operation)
        topic = ConfigResource(ResourceType.TOPIC, "__share_group_state", incremental_configs=[entry])
        for altered in admin.incremental_alter_configs([topic]).values():
            altered.result()

    alter(AlterConfigOpType.SET)
    try:
        yield
    finally:
        alter(AlterConfigOpType.DELETE)


def _write_each(client: KafkaPersister, key: ss.SharePartitionKey, offsets: Iterable[int]) -> None:
    for n in offsets:
        client.write_state(key, _apart(n))


def _apart(*offsets: int) -> ss.WriteState:
    return ss.WriteState(1, 1, -1, -1, [ss.StateBatch(n, n, 2, 1) for n in offsets])


def test_a_full_state_is_snapshot_and_a_larger_one_is_not(kafka: Broker, real_brokers: object) -> None:
    topic_id = real_brokers(kafka.version).create_topic("small-records", 1)  # type: ignore[operator]
    key = ss.SharePartitionKey("small-records", topic_id, 0)
    with KafkaPersister(kafka.bootstrap) as client:
        # The state topic is there after it.
        client.reset_state(key, 1, 0)
    with _limited(kafka):
        with KafkaPersister(kafka.bootstrap) as client:
            client.read_state(key, 1)
            with pytest.raises(LimitExceededError) as refused:
                _write_each(client, key, range(0, BYTES, 2))
            held = refused.value.allowed
            assert refused.value.asked == held + 1
            assert len(client.read_state(key, 1).state_batches) == held
            # One of them is a snapshot, of as many batches as there may be.
            _write_each(client, key, [0] * (UPDATES + 1))
        # One who is told another limit makes the state too large, which the coordinator takes as long as it is an update.
        with KafkaPersister(kafka.bootstrap, max_message_bytes=10 * BYTES) as careless:
            careless.write_state(key, _apart(*range(2 * held, 2 * held + 20, 2)))
            with pytest.raises(PersisterError) as stuck:
                _write_each(careless, key, [0] * (UPDATES + 1))
        assert not isinstance(stuck.value, LimitExceededError)
        with KafkaPersister(kafka.bootstrap) as client, pytest.raises(LimitExceededError):
            client.write_state(key, _apart(0))
