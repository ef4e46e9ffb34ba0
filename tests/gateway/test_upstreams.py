"""Every upstream starts, takes records, ends and comes back; and only the model has share groups."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from tests.gateway.patience import wait_until
from tests.gateway.records import create_topic, end_offset, produce
from tests.gateway.upstreams import KINDS, pair, running
from tests.gateway.wire import Connection

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

#: Highest versions of Metadata and Fetch, and whether topics have ids.
OFFERED = {
    "share groups": (13, 18, True),
    "4.4": (13, 18, True),
    "3.9": (12, 17, True),
    "2.8": (11, 12, False),
    "two brokers": (13, 18, True),
    "mock": (13, 16, True),
}
#: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
NOT_YET = {14, 15, 16}
UNSUPPORTED_VERSION = 35
NO_ID = "00000000-0000-0000-0000-000000000000"


def gives_share_groups(connection: Connection, offered: dict[int, range]) -> bool:
    if 76 not in offered:
        return False
    joining = {"groupId": "g", "memberId": "m", "memberEpoch": 0, "subscribedTopicNames": ["kept"]}
    codes: list[int] = []

    def answered() -> bool:
        # Asking for the coordinator makes the topic of the groups, which has to be loaded.
        connection.ask("FindCoordinator", 6, {"coordinatorKeys": ["g"]})
        codes.append(connection.ask("ShareGroupHeartbeat", 1, joining)["errorCode"])
        return codes[-1] not in NOT_YET

    wait_until(answered, "the group coordinator")
    assert codes[-1] in {0, UNSUPPORTED_VERSION}
    return codes[-1] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_an_upstream_keeps_what_it_was_given(kind: str, tmp_path: Path) -> None:
    metadata, fetch, ids = OFFERED[kind]
    with running(kind, tmp_path) as upstream:
        with Connection(upstream.bootstrap.partition(",")[0]) as connection:
            offered = connection.offered()
            assert (offered[3][-1], offered[1][-1]) == (metadata, fetch)
            create_topic(upstream.bootstrap, "kept", 1)
            answer = connection.ask("Metadata", min(metadata, 12), {"topics": [{"name": "kept"}]}, complete=False)
            assert (answer["topics"][0].get("topicId", NO_ID) != NO_ID) == ids
            if kind != "mock":
                assert gives_share_groups(connection, offered) == (kind == "share groups")
        produce(upstream.bootstrap, "kept", [b"%d" % number for number in range(100)])
        assert end_offset(upstream.bootstrap, TopicPartition("kept", 0)) == 100
        for killed in (False, True):
            upstream.restart(killed=killed)
            if kind != "mock":
                wait_until(lambda: end_offset(upstream.bootstrap, TopicPartition("kept", 0)) == 100, "the records are back")
    with pytest.raises(OSError, match="refused"):
        Connection(upstream.bootstrap.partition(",")[0])


def test_a_leader_moves_there_and_back(tmp_path: Path) -> None:
    with pair.running(tmp_path) as cluster:
        create_topic(cluster.bootstrap, "moved", 1, replication=2)
        for to in (2, 1, 2):
            cluster.move_leader("moved", 0, to)
            assert [cluster.leader("moved", 0, asked=asked) for asked in (1, 2)] == [to, to]
            produce(cluster.bootstrap, "moved", [b"x"])
        assert end_offset(cluster.bootstrap, TopicPartition("moved", 0)) == 3
