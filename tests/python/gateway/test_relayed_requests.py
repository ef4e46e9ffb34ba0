"""Requests that a gateway passes on to a real connection upstream, and what becomes of them where upstream will not."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import ShareGateway
from share_state.kafka.peers import LostError
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.faults import of
from tests.gateway.wire.codec import encode
from tests.gateway.wire.connection import Connection, Disconnected
from tests.python.gateway.serving import serving

PRODUCE, FETCH, INIT = 0, 1, 22


@pytest.fixture(scope="module")
def upstream() -> Iterator[HostileUpstream]:
    with HostileUpstream() as made:
        made.create("plums")
        made.append("plums", 0, [b"x"] * 3)
        yield made


@pytest.fixture(scope="module")
def gateway(upstream: HostileUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShareGateway]:
    with serving(upstream.bootstrap, tmp_path_factory.mktemp("gateway"), relay=True) as made:
        yield made


def test_a_consumer_reads_through_the_gateway(upstream: HostileUpstream, gateway: ShareGateway) -> None:
    with Connection(gateway.bootstrap_servers) as connection, Connection(upstream.bootstrap) as direct:
        (topic,) = connection.ask("Metadata", 9, {"topics": [{"name": "plums"}]})["topics"]
        epoch = topic["partitions"][0]["leaderEpoch"]
        assert epoch > 0

        def ask(one: Connection, current: int) -> Any:
            row = {"partition": 0, "currentLeaderEpoch": current, "fetchOffset": 1, "partitionMaxBytes": 1000}
            asked = {"maxWaitMs": 0, "minBytes": 1, "maxBytes": 1000, "topics": [{"topic": "plums", "partitions": [row]}]}
            return one.ask("Fetch", 11, asked)

        told = ask(connection, epoch)
        assert told["responses"][0]["partitions"][0]["errorCode"] == 0
        assert told == ask(direct, -1)
        # The upstream itself knows of no such epoch.
        assert ask(direct, epoch)["responses"][0]["partitions"][0]["errorCode"] != 0
        rows = [{"partition": 0, "currentLeaderEpoch": epoch, "leaderEpoch": 0}]
        ends = connection.ask("OffsetForLeaderEpoch", 4, {"topics": [{"topic": "plums", "partitions": rows}]})
        assert ends == {
            "throttleTimeMs": 0,
            "topics": [
                {"topic": "plums", "partitions": [{"errorCode": 0, "partition": 0, "leaderEpoch": 0, "endOffset": 3}]},
            ],
        }


def test_versions_that_upstream_has_not_end_the_connection(gateway: ShareGateway) -> None:
    for key, version in ((PRODUCE, 9), (FETCH, 3), (FETCH, 14), (INIT, 0), (17, 1)):
        with Connection(gateway.bootstrap_servers) as connection, pytest.raises(Disconnected):
            connection.exchange(key, version, bytes(64))


def test_a_client_is_sent_away_where_upstream_closes_its_connection(upstream: HostileUpstream, gateway: ShareGateway) -> None:
    body = encode(PRODUCE, 7, {"acks": 1, "timeoutMs": 1, "topicData": []})
    with Connection(gateway.bootstrap_servers) as connection:
        answer = connection.exchange(PRODUCE, 7, body)
        assert answer == struct.pack(">ii", 0, 0)
        upstream.faults.closed = of("Produce")
        with pytest.raises(Disconnected):
            connection.exchange(PRODUCE, 7, body)
        upstream.faults.clear()
    with Connection(gateway.bootstrap_servers) as connection:
        assert connection.exchange(PRODUCE, 7, body) == struct.pack(">ii", 0, 0)


def test_coordinators_where_upstream_has_none(gateway: ShareGateway) -> None:
    with Connection(gateway.bootstrap_servers) as connection:
        for key_type, code in ((0, 0), (1, 15)):
            (row,) = connection.ask("FindCoordinator", 4, {"keyType": key_type, "coordinatorKeys": ["g"]})["coordinators"]
            assert row["errorCode"] == code


def test_a_relay_needs_one_broker_that_is_there(tmp_path: Path) -> None:
    with HostileUpstream() as away:
        away.stop()
        with pytest.raises(LostError), serving(away.bootstrap, tmp_path, relay=True):
            pass
