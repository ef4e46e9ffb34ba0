"""Requests that a gateway passes on to a real connection upstream, and what becomes of them where upstream will not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import ShareGateway
from share_state.kafka.client.peers import LostError
from tests.gateway.connections.test_opaque_answers import codes_in
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.faults import of
from tests.gateway.hostile.upstream import OFFERED
from tests.gateway.orchard import Rules
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving
from tests.gateway.wire.codec import Message, api_key, encode
from tests.gateway.wire.connection import Connection, Disconnected

PRODUCE, FETCH, INIT = 0, 1, 22


#: Requests of a broker about ordinary groups, transactions and administration.
MORE = {"OffsetCommit": (2, 8), "OffsetFetch": (1, 7), "JoinGroup": (0, 6), "Heartbeat": (0, 4), "ConsumerGroupHeartbeat": (0, 0)}
MORE |= {"EndTxn": (0, 3), "InitProducerId": (2, 4), "CreateTopics": (2, 5), "DescribeAcls": (1, 2), "Produce": (3, 9)}
#: A Produce of nothing.
PRODUCED: Message = {"acks": 1, "topicData": [{"name": "plums", "partitionData": [{"index": 0, "records": None}]}]}


@pytest.fixture(scope="module")
def upstream() -> Iterator[HostileUpstream]:
    with HostileUpstream(offered={**OFFERED, **MORE}) as made:
        made.create("plums")
        made.append("plums", 0, [b"x"] * 3)
        yield made


@pytest.fixture(scope="module")
def gateway(upstream: HostileUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShareGateway]:
    with serving(upstream.bootstrap, tmp_path_factory.mktemp("gateway"), relay=True, access=Rules()) as made:
        yield made


@pytest.mark.parametrize(("version", "ends_version"), [(9, 2), (11, 3), (12, 4)])
def test_a_consumer_reads_through_the_gateway(
    upstream: HostileUpstream, gateway: ShareGateway, version: int, ends_version: int
) -> None:
    with Connection(gateway.bootstrap_servers) as connection, Connection(upstream.bootstrap) as direct:
        (topic,) = connection.ask("Metadata", 9, {"topics": [{"name": "plums"}]})["topics"]
        epoch = topic["partitions"][0]["leaderEpoch"]
        assert epoch > 0

        def ask(one: Connection, current: int) -> Any:
            row = {"partition": 0, "currentLeaderEpoch": current, "fetchOffset": 1, "partitionMaxBytes": 1000}
            asked = {"maxWaitMs": 0, "minBytes": 1, "maxBytes": 1000, "topics": [{"topic": "plums", "partitions": [row]}]}
            return one.ask("Fetch", version, asked)

        told = ask(connection, epoch)
        assert told["responses"][0]["partitions"][0]["errorCode"] == 0
        assert told == ask(direct, -1)
        # The upstream itself knows of no such epoch.
        assert ask(direct, epoch)["responses"][0]["partitions"][0]["errorCode"] != 0
        rows = [{"partition": 0, "currentLeaderEpoch": epoch, "leaderEpoch": 0}]
        ends = connection.ask("OffsetForLeaderEpoch", ends_version, {"topics": [{"topic": "plums", "partitions": rows}]})
        assert ends == {
            "throttleTimeMs": 0,
            "topics": [
                {"topic": "plums", "partitions": [{"errorCode": 0, "partition": 0, "leaderEpoch": 0, "endOffset": 3}]},
            ],
        }


def test_versions_that_upstream_has_not_end_the_connection(gateway: ShareGateway) -> None:
    for key, version in ((PRODUCE, 10), (FETCH, 3), (FETCH, 14), (INIT, 1), (17, 1)):
        with Connection(gateway.bootstrap_servers) as connection, pytest.raises(Disconnected):
            connection.exchange(key, version, bytes(64))


@pytest.mark.parametrize("version", [3, 8, 9])
def test_nobody_answers_a_producer_that_waits_for_nothing(upstream: HostileUpstream, gateway: ShareGateway, version: int) -> None:
    before = len(upstream.requests("Produce"))
    with Connection(gateway.bootstrap_servers) as connection:
        connection.send(PRODUCE, version, encode(PRODUCE, version, {**PRODUCED, "acks": 0}))
        # The next answer is that to the next request.
        assert connection.ask("Produce", 7, PRODUCED)["responses"][0]["partitionResponses"][0]["errorCode"] == 0
    assert [one.message["acks"] for one in upstream.requests("Produce")[before:]] == [0, 1]


def test_a_client_that_waits_for_long_holds_up_no_other(
    upstream: HostileUpstream, gateway: ShareGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience: list[float] = []
    real = gateway._upstream.connections

    def connections(*, request_timeout: float) -> Any:
        patience.append(request_timeout)
        return real(request_timeout=request_timeout)

    monkeypatch.setattr(gateway._upstream, "connections", connections)
    upstream.faults.silent = of("JoinGroup")
    with Connection(gateway.bootstrap_servers) as joins, Connection(gateway.bootstrap_servers) as other:
        joins.send(api_key("JoinGroup"), 6, encode(api_key("JoinGroup"), 6, {"groupId": "g"}))
        wait_until(lambda: bool(upstream.requests("JoinGroup")), "it is passed on")
        assert other.ask("Produce", 7, PRODUCED)["responses"][0]["partitionResponses"][0]["errorCode"] == 0
    upstream.faults.clear()
    # A member that joins waits for all others, as long as each may take for its records.
    assert len(patience) == 2
    assert min(patience) >= 3600


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (("Produce", 7, PRODUCED), 6),
        (("Fetch", 11, {"topics": [{"topic": "plums", "partitions": [{"partition": 0}]}]}), 6),
        (("OffsetForLeaderEpoch", 4, {"topics": [{"topic": "plums", "partitions": [{"partition": 0, "leaderEpoch": 0}]}]}), 6),
        (("OffsetCommit", 8, {"groupId": "g", "topics": [{"name": "plums", "partitions": [{"partitionIndex": 0}]}]}), 16),
        (("OffsetFetch", 7, {"groupId": "g"}), 16),
        (("JoinGroup", 6, {"groupId": "g"}), 16),
        (("Heartbeat", 4, {"groupId": "g"}), 16),
        (("ConsumerGroupHeartbeat", 0, {"groupId": "g"}), 16),
        (("EndTxn", 3, {"transactionalId": "x"}), 16),
        (("InitProducerId", 4, {}), 14),
        (("CreateTopics", 5, {"topics": [{"name": "new"}]}), 7),
        (("DescribeAcls", 2, {}), 7),
    ],
)
@pytest.mark.parametrize("is_down", [True, False])
def test_where_upstream_does_not_answer_it_is_an_error(
    upstream: HostileUpstream, gateway: ShareGateway, is_down: bool, asked: tuple[str, int, Message], code: int
) -> None:
    name, version, message = asked
    with Connection(gateway.bootstrap_servers) as connection:
        if is_down:
            upstream.stop()
        else:
            upstream.faults.closed = of(name)
        try:
            answer = connection.ask(name, version, message)
        finally:
            upstream.faults.clear()
            upstream.start()
        assert codes_in(answer) == {code}
        assert gateway.counts.request_errors[api_key(name), code] > 0
        # The same connection goes on, and so does what upstream answers.
        assert connection.ask("Produce", 7, PRODUCED)["responses"][0]["partitionResponses"][0]["errorCode"] == 0


def test_a_request_that_cannot_be_read_is_counted(gateway: ShareGateway) -> None:
    before = gateway.counts.malformed
    with Connection(gateway.bootstrap_servers) as connection, pytest.raises(Disconnected):
        connection.exchange(api_key("OffsetCommit"), 8, b"\xff")
    assert gateway.counts.malformed == before + 1


def test_a_fault_in_passing_on_is_an_answer(gateway: ShareGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_name: str) -> bool:
        raise KeyError("broken on purpose")

    assert gateway.dispatch.relay is not None
    with Connection(gateway.bootstrap_servers) as connection:
        monkeypatch.setattr(gateway.dispatch.relay, "is_share_group", broken)
        assert connection.ask("JoinGroup", 6, {"groupId": "g"})["errorCode"] == -1
        assert gateway.counts.failures[api_key("JoinGroup")] == 1
        monkeypatch.undo()
        assert connection.ask("Produce", 7, PRODUCED)["responses"][0]["partitionResponses"][0]["errorCode"] == 0


def test_who_may_not_do_everything_is_told_so(gateway: ShareGateway) -> None:
    rules = gateway.options.access
    assert isinstance(rules, Rules)
    with Connection(gateway.bootstrap_servers) as connection:
        with rules.only():
            for name, version, message in (("Produce", 7, PRODUCED), ("JoinGroup", 6, {"groupId": "g"}), ("DescribeAcls", 2, {})):
                assert codes_in(connection.ask(name, version, message)) == {31}
        assert connection.ask("Produce", 7, PRODUCED)["responses"][0]["partitionResponses"][0]["errorCode"] == 0


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
