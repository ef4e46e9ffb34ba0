"""Answers of brokers about one topic in one share group, and about what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state.errors import UnknownPartitionError
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.errors import BrokerUnreachableError
from share_state.operate.live.about import About, about
from tests.operate.live.fake_cluster import CONFIGS, DESCRIBE, LIST_OFFSETS, FakeCluster, served
from tests.operate.live.fake_configs import member

ORDERS = UUID(int=1)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    with ss.open(tmp_path / "log", partitions=1):
        pass
    fake = FakeCluster(
        tmp_path / "log",
        ends={("orders", ORDERS): [5, 20]},
        members={"workers": [member("m-1", {ORDERS: [0, 1]}), member("m-2", {ORDERS: [1]})]},
        configs={"workers": {"share.delivery.count.limit": "7", "group.share.record.lock.duration.ms": "1500"}},
    )
    with served(fake):
        yield fake


def asked(cluster: FakeCluster, group: str = "workers", topic: str = "orders") -> About:
    return asyncio.run(about(cluster.bootstrap, SecurityOptions(), group, topic, request_timeout=5))


def test_a_topic_is_found_by_its_name_and_by_its_id(cluster: FakeCluster) -> None:
    found = asked(cluster)
    assert (found.topic.name, found.topic.topic_id, len(found.topic.leaders)) == ("orders", str(ORDERS), 2)
    assert (found.ends, found.problems) == ({0: 5, 1: 20}, ())
    assert (found.delivery_limit, found.lock_duration_ms) == (7, 1_500)
    members = [[one.member_id for one in found.assigned(partition) or ()] for partition in (0, 1)]
    assert members == [["m-1"], ["m-1", "m-2"]]
    assert asked(cluster, topic=str(ORDERS)) == asked(cluster, topic="AAAAAAAAAAAAAAAAAAAAAQ") == found


@pytest.mark.parametrize("topic", ["nowhere", "", str(UUID(int=9)), "a topic\x1b"])
def test_a_topic_that_is_not_there_is_refused(cluster: FakeCluster, topic: str) -> None:
    with pytest.raises(UnknownPartitionError) as unknown:
        asked(cluster, topic=topic)
    assert (unknown.value.field, unknown.value.value) == ("topic", topic)


def test_what_may_not_be_asked_is_named_and_the_rest_is_told(cluster: FakeCluster) -> None:
    cluster.denied = {LIST_OFFSETS, DESCRIBE, CONFIGS}
    found = asked(cluster)
    assert found.problems == (
        "DESCRIBE on the group workers is missing",
        "DESCRIBE on the topic orders is missing",
        "DESCRIBE_CONFIGS on the group workers is missing",
    )
    assert (found.ends, found.members, found.assigned(0), found.configs) == ({}, None, None, {})
    assert (found.delivery_limit, found.lock_duration_ms, found.topic.name) == (None, None, "orders")


def test_a_cluster_that_is_away_is_told() -> None:
    with pytest.raises(BrokerUnreachableError):
        asyncio.run(about("127.0.0.1:1", SecurityOptions(), "workers", "orders", request_timeout=1))
