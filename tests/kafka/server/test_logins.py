"""The server's SASL: who is let in, who is sent away, and what a stranger may ask for."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from share_state.kafka import (
    AsyncKafkaPersister,
    AuthenticationFailedError,
    OAuthBearer,
    Plain,
    RetryPolicy,
    Scram,
    SecurityOptions,
    ShareCoordinatorServer,
)
from share_state.kafka.client.connection import Connection, ConnectionOptions
from share_state.kafka.client.peers import LostError, Node
from share_state.kafka.clock import LoopClock
from share_state.persister import MemoryPersister
from tests.kafka.scripted import AUTHENTICATE, FIND, HANDSHAKE, KEY, VERSIONS, on_loop

USERS = {"alice": "alice-secret", "empty": "x"}


def coordinator() -> ShareCoordinatorServer:
    return ShareCoordinatorServer(MemoryPersister(), users=USERS)


@pytest.mark.parametrize(
    "sasl", [Plain("alice", "alice-secret"), *(Scram("alice", "alice-secret", f"SCRAM-SHA-{bits}") for bits in (256, 512))]
)
@on_loop
async def test_who_knows_the_password_is_let_in(sasl: Plain | Scram) -> None:
    async with coordinator() as server:
        host, port = await server.start()
        # The second connection finds the user's keys made already.
        for offset in (3, 4):
            async with AsyncKafkaPersister(f"{host}:{port}", security=SecurityOptions(sasl=sasl)) as kafka:
                await kafka.reset_state(KEY, offset, offset)
                assert (await kafka.read_summary(KEY)).start_offset == offset


@pytest.mark.parametrize(
    "sasl",
    [
        Plain("alice", "wrong"),
        Plain("alice", ""),
        Plain("nobody", ""),
        Plain("nobody", "alice-secret"),
        *(Scram(name, "wrong", f"SCRAM-SHA-{bits}") for name in ("alice", "nobody") for bits in (256, 512)),
        OAuthBearer(lambda: "token"),
    ],
)
@on_loop
async def test_who_does_not_is_sent_away(sasl: Plain | Scram | OAuthBearer) -> None:
    async with coordinator() as server:
        host, port = await server.start()
        security, once = SecurityOptions(sasl=sasl), RetryPolicy(attempts=1)
        async with AsyncKafkaPersister(f"{host}:{port}", security=security, retry=once) as kafka:
            with pytest.raises(AuthenticationFailedError) as refused:
                await kafka.reset_state(KEY, 1, 1)
    assert refused.value.kafka_code == (33 if isinstance(sasl, OAuthBearer) else 58)
    if isinstance(sasl, OAuthBearer):
        assert "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512" in str(refused.value)


@on_loop
async def test_a_stranger_may_ask_for_versions_and_for_nothing_else() -> None:
    async with coordinator() as server:
        node = Node(-1, await server.start())
        options = ConnectionOptions(SecurityOptions(), LoopClock(), "stranger", 30, 30)
        stranger = await Connection.open(node, options)
        assert (stranger.version_of(HANDSHAKE), stranger.version_of(AUTHENTICATE)) == (1, 2)
        with pytest.raises(LostError, match="closed the connection"):
            await stranger.request(FIND, {"keyType": 2, "coordinatorKeys": []})
        # SaslAuthenticate before SaslHandshake, and SaslHandshake for the second time.
        early = await Connection.open(node, options)
        assert (await early.request(AUTHENTICATE, {"authBytes": b""}))["errorCode"] == 34
        twice = await Connection.open(node, options)
        assert (await twice.request(HANDSHAKE, {"mechanism": "PLAIN"}))["errorCode"] == 0
        assert (await twice.request(HANDSHAKE, {"mechanism": "PLAIN"}))["errorCode"] == 34
        for connection in (early, twice):
            with pytest.raises(LostError):
                await connection.request(VERSIONS, {"clientSoftwareName": "x", "clientSoftwareVersion": "1"})
        for connection in (stranger, early, twice):
            await connection.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\0\0\0\x02ab",
        b"\0\x10\0\0",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\x04\0\x11\0\x01",
        b"\0\0\x10\x01\0\x11",
        b"\0\1\x10\x01",
    ],
)
@on_loop
async def test_a_stranger_who_sends_what_is_no_request_is_cut_off(sent: bytes) -> None:
    async with coordinator() as server:
        reader, writer = await asyncio.open_connection(*await server.start())
        writer.write(sent)
        # The end, or a reset where bytes were left unread.
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.transport.abort()
