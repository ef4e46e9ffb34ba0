"""Clients that the share coordinator server cuts off or lets in, and what is logged of them, byte for byte over sockets."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct

import pytest

from share_state.errors import WireDecodeError
from share_state.kafka import ShareCoordinatorServer, serve_in_thread
from share_state.kafka.client.peers import Address
from share_state.kafka.framing import frame
from share_state.persister import MemoryPersister
from tests.gateway.patience import wait_until
from tests.kafka.scripted import AUTHENTICATE, DELETE, FIND, HANDSHAKE, VERSIONS
from tests.kafka.server.coordinator_client import (
    DELETED,
    FOUND,
    GONE,
    GOOD,
    LOGGER,
    MECHANISMS,
    USERS,
    VERSIONS_3,
    WRONG,
    Client,
    answer,
    asked,
    handshake,
    header,
    logged,
    server,
)


@pytest.fixture(autouse=True)
def _every_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (header(1, 12), "request 1 version 12 is not known"),
        # Four bytes are a key and a version.
        (b"\x48\x49\0\x01", "request 18505 version 1 is not known"),
        (b"\0\x0a\0\6\0", "a request ends within its header"),
        (b"x" * 301, "a frame announces 301 bytes, not 4 to 300"),
        # A request for versions is read to its end.
        (header(VERSIONS, 3) + b"\0", ""),
        (header(VERSIONS, 3) + b"\0\x02x\x02", ""),
    ],
)
def test_who_sends_no_request_is_cut_off(caplog: pytest.LogCaptureFixture, payload: bytes, why: str) -> None:
    with serve_in_thread(server(max_frame=300)) as address, Client(address) as client:
        assert len(client.ask(FOUND, payload, FOUND)) == 1
    ((level, text),) = logged(caplog)
    assert level == "WARNING"
    assert text.startswith(f"closed the connection of {client.name}: {why}")


@pytest.mark.parametrize("half", [b"\0\0", b"\0\0\0\x09abc"])
def test_a_client_that_is_lost_is_logged(caplog: pytest.LogCaptureFixture, half: bytes) -> None:
    with serve_in_thread(server()) as address, Client(address) as client:
        client.socket.sendall(half)
        client.socket.shutdown(socket.SHUT_WR)
        assert client.read() == b""
    assert logged(caplog) == [("INFO", f"{client.name} disconnected")]


def test_a_client_that_resets_its_connection_is_lost_too(caplog: pytest.LogCaptureFixture) -> None:
    with serve_in_thread(server()) as address:
        with Client(address) as client:
            client.ask(FOUND)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wait_until(lambda: logged(caplog) == [("INFO", f"{client.name} disconnected")], "it is logged")


@pytest.mark.parametrize("payload", [b"", b"\0\x12\0"])
def test_what_is_no_request_is_refused_with_its_place(payload: bytes) -> None:
    with pytest.raises(WireDecodeError) as refused:
        asyncio.run(server().respond(payload, Address("host", 4321)))
    expected = ("a request ends within its header", len(payload), "truncated")
    assert (refused.value.args[0], refused.value.position, refused.value.kind) == expected


def test_a_server_that_answers_a_request_with_nothing_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    class Silent(ShareCoordinatorServer):
        async def respond(self, payload: bytes, here: Address) -> bytes | None:
            return None if payload == DELETED else await super().respond(payload, here)

    assert len(asked(Silent(MemoryPersister()), FOUND, DELETED, FOUND)) == 1
    assert logged(caplog) == []


# Logins.


def test_who_has_logged_in_is_answered() -> None:
    with serve_in_thread(server(USERS)) as address, Client(address) as client:
        # What comes after a login is not read as a part of it.
        client.socket.sendall(b"".join(map(frame, (VERSIONS_3, handshake(), GOOD, FOUND, DELETED))))
        client.socket.shutdown(socket.SHUT_WR)
        sent = [client.read() for _ in range(5)]
        assert client.read() == b""
    assert answer(HANDSHAKE, 1, sent[1], 1) == {"errorCode": 0, "mechanisms": MECHANISMS}
    let_in = {"errorCode": 0, "errorMessage": None, "authBytes": b"", "sessionLifetimeMs": 0}
    assert answer(AUTHENTICATE, 2, sent[2], 2) == let_in
    assert answer(FIND, 6, sent[3], 8)["coordinators"][0]["errorCode"] == 0
    assert answer(DELETE, 0, sent[4], 9) == GONE


@pytest.mark.parametrize("said", [(handshake("GSSAPI"),), (handshake(), WRONG), (handshake(), handshake()), (WRONG,)])
def test_who_fails_to_log_in_hears_why_and_nothing_more(caplog: pytest.LogCaptureFixture, said: tuple[bytes, ...]) -> None:
    sent = asked(server(USERS), *said, FOUND, FOUND)
    assert len(sent) == len(said)
    if said[0] == handshake("GSSAPI"):
        assert answer(HANDSHAKE, 1, sent[0], 1) == {"errorCode": 33, "mechanisms": MECHANISMS}
    elif said[-1] == WRONG and len(said) == 2:
        refused = answer(AUTHENTICATE, 2, sent[1], 2)
        why = "Authentication failed: Invalid username or password"
        assert refused == {"errorCode": 58, "errorMessage": why, "authBytes": b"", "sessionLifetimeMs": 0}
    assert logged(caplog) == []


@pytest.mark.parametrize(("api_key", "version"), [(17, 0), (17, 2), (36, 1), (36, 3), (10, 6), (3, 12), (83, 0), (99, -1)])
def test_a_stranger_is_not_answered_otherwise(caplog: pytest.LogCaptureFixture, api_key: int, version: int) -> None:
    assert len(asked(server(USERS), VERSIONS_3, header(VERSIONS, 9) + b"\0", header(api_key, version))) == 2
    ((level, text),) = logged(caplog)
    assert level == "WARNING"
    assert text.endswith(f": request {api_key} version {version} of a client that has not logged in")


@pytest.mark.parametrize(("max_frame", "longest"), [(300, 300), (1 << 20, 68 << 10)])
def test_a_stranger_sends_no_long_frames(caplog: pytest.LogCaptureFixture, max_frame: int, longest: int) -> None:
    with serve_in_thread(server(USERS, max_frame=max_frame)) as address, Client(address) as client, Client(address) as other:
        client.socket.sendall((longest + 1).to_bytes(4, "big"))
        assert client.read() == b""
        # A frame of just that length is waited for.
        other.socket.sendall(longest.to_bytes(4, "big"))
        other.socket.shutdown(socket.SHUT_WR)
        assert other.read() == b""
    text = f"closed the connection of {client.name}: a frame announces {longest + 1} bytes, not 4 to {longest}"
    assert [(level, line[: len(text)]) for level, line in logged(caplog)] == [
        ("WARNING", text),
        ("INFO", f"{other.name} disconnected"),
    ]
