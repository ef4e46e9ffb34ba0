"""The share coordinator server, byte for byte over sockets: its answers, its threads, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import share_state as ss
from share_state.kafka import ShareCoordinatorServer, Topic, coordinator_server, serve_in_thread
from share_state.kafka.framing import frame
from share_state.persister import MemoryPersister
from tests.kafka.scripted import DELETE, FIND, INITIALIZE, METADATA, SUMMARY, TOPIC, VERSIONS, WRITE
from tests.kafka.server.coordinator_client import (
    DELETED,
    FOUND,
    GONE,
    LOGGER,
    SOFTWARE,
    USERS,
    Client,
    Message,
    answer,
    asked,
    header,
    logged,
    request,
    server,
)


@pytest.fixture(autouse=True)
def _every_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)


def test_requests_are_answered_in_order(caplog: pytest.LogCaptureFixture) -> None:
    with serve_in_thread(server()) as address, Client(address) as client:
        client.socket.sendall(frame(FOUND) + frame(DELETED) + frame(FOUND))
        client.socket.shutdown(socket.SHUT_WR)
        sent = [client.read() for _ in range(3)]
        assert client.read() == b""
    assert answer(DELETE, 0, sent[1], 9) == GONE
    assert sent[0] == sent[2]
    (row,) = answer(FIND, 6, sent[0], 8)["coordinators"]
    # Where the request came in.
    here = {"nodeId": 1, "host": address.host, "port": address.port, "errorCode": 0, "errorMessage": ""}
    assert row == {"key": f"g:{TOPIC}:0", **here}
    assert logged(caplog) == []


def test_a_server_is_one_broker_of_a_cluster_of_its_own() -> None:
    every = {"topics": None, "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
    with serve_in_thread(server(topics={"orders": Topic(TOPIC, 0)})) as address, Client(address) as client:
        (told,) = client.ask(request(METADATA, 12, every))
    topic = {"name": "orders", "topicId": TOPIC, "isInternal": False, "partitions": []}
    assert answer(METADATA, 12, told) == {
        "throttleTimeMs": 0,
        "brokers": [{"nodeId": 1, "host": address.host, "port": address.port, "rack": None}],
        "clusterId": "share-state-coordinator",
        "controllerId": 1,
        "topics": [{"errorCode": 0, **topic, "topicAuthorizedOperations": -(1 << 31)}],
    }
    (told,) = asked(server(node_id=7, cluster_id="mine"), request(METADATA, 13, every))
    named = answer(METADATA, 13, told)
    assert (named["clusterId"], named["controllerId"], named["errorCode"], named["topics"]) == ("mine", 7, 0, [])


@pytest.mark.parametrize("version", [4, 5])
def test_older_clients_find_no_coordinator_of_shares(version: int) -> None:
    (sent,) = asked(server(), request(FIND, version, {"keyType": 2, "coordinatorKeys": [f"g:{TOPIC}:0"]}))
    (row,) = answer(FIND, version, sent)["coordinators"]
    assert (row["nodeId"], row["errorCode"]) == (-1, 42)


@pytest.mark.parametrize("version", [0, 1])
def test_the_oldest_and_the_newest_version_of_a_request_are_answered(version: int) -> None:
    def about(**partition: Any) -> Message:
        return {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [{"partition": 1, **partition}]}]}

    counted = {"deliveryCompleteCount": 6} if version else {}
    begun, written, summary = asked(
        server(),
        request(INITIALIZE, 0, about(stateEpoch=2, startOffset=3)),
        request(WRITE, version, about(stateEpoch=2, leaderEpoch=4, startOffset=5, **counted, stateBatches=[])),
        request(SUMMARY, version, about(leaderEpoch=4)),
    )
    done = {"results": [{"topicId": TOPIC, "partitions": [{"partition": 1, "errorCode": 0, "errorMessage": None}]}]}
    assert answer(INITIALIZE, 0, begun) == answer(WRITE, version, written) == done
    (topic,) = answer(SUMMARY, version, summary)["results"]
    told = {"partition": 1, "errorCode": 0, "errorMessage": None, "stateEpoch": 2, "leaderEpoch": 0, "startOffset": 5}
    assert topic == {"topicId": TOPIC, "partitions": [{**told, **counted}]}


KNOWN = "0003000c000d 000a00040006 001200000004 005300000000 005400000000 005500000001 005600000000 005700000001"
LOGINS = "001100010001 002400020002"


@pytest.mark.parametrize(("users", "keys"), [(None, KNOWN), (USERS, f"{KNOWN} {LOGINS}")])
def test_the_versions_that_are_offered_byte_for_byte(users: dict[str, str] | None, keys: str) -> None:
    count = len(keys.split())
    plain = f"{count:08x} {keys}"
    tagged = f"{count + 1:02x} {keys.replace(' ', '00 ')} 00"
    with serve_in_thread(server(users)) as address, Client(address) as client:
        for version, expected in (
            (0, f"0000 {plain}"),
            (1, f"0000 {plain} 00000000"),
            (2, f"0000 {plain} 00000000"),
            (3, f"0000 {tagged} 00000000 00"),
            (4, f"0000 {tagged} 00000000 00"),
            # Who asks in a version that nobody knows is answered in version 0.
            (5, f"0023 {plain}"),
            (-1, f"0023 {plain}"),
        ):
            known = version in {3, 4}
            said = request(VERSIONS, version, SOFTWARE) if known else header(VERSIONS, version) + b"\0" * (version > 4)
            body = bytes.fromhex(expected)
            assert client.ask(said) == [struct.pack(">ii", len(body) + 4, 77) + body], version


# Its beginning and its end.


class Threads(MemoryPersister):
    """Notes on which thread it is asked."""

    names: list[str]

    def delete_state(self, key: ss.SharePartitionKey) -> None:
        self.names.append(threading.current_thread().name)
        super().delete_state(key)


def test_a_server_has_threads_that_end_with_it() -> None:
    store = Threads()
    store.names = []
    before = threading.enumerate()
    with serve_in_thread(ShareCoordinatorServer(store)) as address, Client(address) as client:
        client.ask(DELETED)
        ours = {thread.name: thread.daemon for thread in threading.enumerate() if thread not in before}
        assert ours["share-state-coordinator"]
    assert store.names == ["share-state-coordinator_0"]
    assert set(threading.enumerate()) <= set(before)


def test_a_server_listens_where_it_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[Any, ...]] = []
    pools: list[tuple[Any, ...]] = []
    lengths: list[int] = []
    start = asyncio.BaseEventLoop.create_server
    listen = socket.socket.listen

    async def create_server(loop: Any, make: Any, *where: Any, **options: Any) -> asyncio.Server:
        given.append((type(make()).__name__, *where, options))
        return await start(loop, make, *where, **options)

    def queue(listening: socket.socket, length: int) -> None:
        lengths.append(length)
        listen(listening, length)

    def pool(*arguments: Any, **options: Any) -> ThreadPoolExecutor:
        pools.append((*arguments, options))
        return ThreadPoolExecutor(*arguments, **options)

    monkeypatch.setattr(asyncio.BaseEventLoop, "create_server", create_server)
    monkeypatch.setattr(socket.socket, "listen", queue)
    monkeypatch.setattr(coordinator_server, "ThreadPoolExecutor", pool)
    secure = server(ssl_context=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    with serve_in_thread(server(), "::1") as address, serve_in_thread(secure), Client(address) as client:
        # What else an IPv6 socket says of itself is no part of an address.
        (row,) = answer(FIND, 6, client.ask(FOUND)[0], 8)["coordinators"]
        assert (row["host"], row["port"]) == address == client.socket.getpeername()[:2]
    # A handshake comes first.
    assert given == [("StreamReaderProtocol", "::1", 0, {"backlog": 16}), ("_Arrival", "127.0.0.1", 0, {"backlog": 16})]
    # One turn accepts no more than 16, while 1,024 may wait.
    assert lengths == [16, 1024] * 2
    assert pools == [(64, {"thread_name_prefix": "share-state-coordinator"})] * 2


def test_a_client_that_does_not_read_is_not_read_for_ever() -> None:
    long = frame(request(FIND, 6, {"keyType": 2, "coordinatorKeys": [f"g:{TOPIC}:{'0' * 30_000}"]}))
    with serve_in_thread(server()) as address, Client(address) as client:
        client.socket.settimeout(1)

        def send() -> None:
            for _ in range(3000):
                client.socket.sendall(long)

        with pytest.raises(TimeoutError):
            send()


def test_a_server_that_closes_ends_every_connection(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    wait_closed = asyncio.Server.wait_closed

    async def wait(listening: asyncio.Server) -> None:
        left.append(len(asyncio.all_tasks()) - 1)
        await wait_closed(listening)

    monkeypatch.setattr("asyncio.base_events.Server.wait_closed", wait)
    with contextlib.ExitStack() as held:
        with serve_in_thread(server()) as address:
            clients = [held.enter_context(Client(address)) for _ in range(3)]
            for client in clients:
                client.ask(FOUND)
            # One that has ended is no longer of interest.
            clients[0].socket.shutdown(socket.SHUT_WR)
            assert clients[0].read() == b""
        assert [client.read() for client in clients[1:]] == [b""] * 2
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
    # Every connection is over before the server waits for its sockets.
    assert left == [0]
    assert sorted(logged(caplog)) == sorted(("DEBUG", f"closed the connection of {client.name}") for client in clients[1:])


def test_a_server_that_cannot_listen_leaves_nothing() -> None:
    before = threading.enumerate()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        host, port = taken.getsockname()
        with pytest.raises(OSError, match="in use"), serve_in_thread(server(), host, port):
            pytest.fail("it does not listen")
    assert set(threading.enumerate()) <= set(before)


def test_a_server_that_never_began_closes() -> None:
    async def test() -> None:
        async with server() as coordinator:
            await coordinator.close()

    asyncio.run(test())
