"""Bytes that no honest peer sends, in both directions: a typed error and a closed connection, never more."""

from __future__ import annotations

import asyncio
import socket
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import share_state as ss
from share_state.errors import WireDecodeError
from share_state.kafka import BadAnswerError, KafkaPersisterError, RetryPolicy, ShareCoordinatorServer, serve_in_thread
from share_state.kafka.client.peers import Address
from share_state.kafka.framing import Request, request_bytes, request_of, response_start
from share_state.persister import MemoryPersister
from tests.kafka.scripted import FIND, KEY, VERSIONS, WRITE, Action, ScriptedBroker, Turn, on_loop, persister, write

ONCE = RetryPolicy(attempts=1)
HUGE = struct.pack(">i", 0x7FFF_FFFF)


def raw(data: bytes) -> Action:
    async def act(_turn: Turn) -> bytes:
        return data

    return act


def tampered(change: Any) -> Action:
    """The usual answer, with its payload changed."""

    async def act(turn: Turn) -> bytes:
        answer = await turn.usual()
        assert answer is not None
        payload = change(answer[4:])
        return struct.pack(">i", len(payload)) + bytes(payload)

    return act


HOSTILE: dict[str, Action] = {
    "a frame of 2 GiB": raw(HUGE + b"x" * 100),
    "a negative frame": raw(struct.pack(">i", -1)),
    "an empty frame": raw(struct.pack(">i", 0)),
    "a frame without a correlation id": raw(struct.pack(">i", 3) + b"abc"),
    "a TLS alert": raw(bytes.fromhex("15030300020228")),
    "HTTP": raw(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "another correlation id": tampered(lambda payload: b"\x7f" + payload[1:]),
    "an answer cut short": tampered(lambda payload: payload[:-1]),
    "an answer prolonged": tampered(lambda payload: payload + b"\0"),
    "only a correlation id": tampered(lambda payload: payload[:4]),
    "tags without end": tampered(lambda payload: payload[:4] + b"\xff" * 20),
    "a count bomb": tampered(lambda payload: payload[:5] + b"\xff\xff\xff\xff\x07"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("stage", [VERSIONS, FIND, WRITE])
@on_loop
async def test_a_client_survives(name: str, stage: int) -> None:
    async with ScriptedBroker() as broker, persister(await broker.start(), retry=ONCE) as client:
        broker.store.reset_state(KEY, 1, 0)
        broker.script[stage].append(HOSTILE[name])
        with pytest.raises(KafkaPersisterError) as raised:
            await client.write_state(KEY, write(start_offset=5))
        error = raised.value
        assert error.kafka_code == -1
        # Only what was sent about the state can have changed it.
        assert error.outcome_unknown == (stage == WRITE)
        assert isinstance(error, BadAnswerError) == (stage != WRITE)
        # The next call begins again, on another connection.
        await client.write_state(KEY, write(start_offset=6))
        assert broker.store.read_summary(KEY).start_offset == 6
        assert broker.connections == 2


@on_loop
async def test_a_second_answer_to_one_request_is_no_answer_to_the_next() -> None:
    async def twice(turn: Turn) -> bytes:
        answer = await turn.usual()
        assert answer is not None
        return answer + answer

    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 1, 0)
        broker.script[WRITE].append(twice)
        await client.write_state(KEY, write(start_offset=5))
        await client.write_state(KEY, write(start_offset=6))
        assert broker.store.read_summary(KEY).start_offset == 6


def refusal(read: Callable[[], object]) -> WireDecodeError | None:
    try:
        read()
    except WireDecodeError as refused:
        return refused
    return None


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_header_or_an_error(data: bytes) -> None:
    for version in (2, 4):  # the older one has no tagged fields in its header
        refused = refusal(lambda version=version: request_of(struct.pack(">hh", FIND, version) + data))  # type: ignore[misc]
        assert refused is None or (0 <= refused.position <= len(data) + 4 and refused.kind)
        refused = refusal(lambda version=version: response_start(FIND, version, data))  # type: ignore[misc]
        assert refused is None or refused.kind


# What the server gets.


def exchange(address: Address, data: bytes) -> bytes:
    """Send and read until the other side closes."""
    with socket.create_connection(address, timeout=20) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := _receive(client):
            received += chunk
        return received


def _receive(client: socket.socket) -> bytes:
    try:
        return client.recv(65536)
    except ConnectionResetError:
        return b""


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


VALID = request_bytes(Request(WRITE, 1, 7, "t", ss.encode_message(WRITE, 1, {"groupId": "g", "topics": []})))

REQUESTS = {
    "a frame of 2 GiB": HUGE + b"x" * 100,
    "a negative frame": struct.pack(">i", -5) + VALID,
    "an empty frame": struct.pack(">i", 0),
    "half a header": framed(b"\0\x55"),
    "HTTP": b"GET / HTTP/1.1\r\n\r\n",
    "an unknown request": framed(struct.pack(">hhih", 1, 12, 0, -1) + b"\0"),
    "an unknown version": framed(struct.pack(">hhih", 83, 1, 0, -1) + b"\0"),
    "a client id of 32 KiB": framed(struct.pack(">hhih", 83, 0, 0, 32767)),
    "a client id of negative length": framed(struct.pack(">hhih", 83, 0, 0, -2) + b"\0"),
    "tags without end": framed(struct.pack(">hhih", 83, 0, 0, -1) + b"\xff" * 9),
    "16 MiB of tags": framed(struct.pack(">hhih", 83, 0, 0, -1) + bytes.fromhex("ffffff03") + b"\0" * (16 << 20)),
    "100,001 elements": framed(
        struct.pack(">hhih", 86, 0, 0, -1) + bytes.fromhex("000267a28d06") + (bytes(16) + b"\1\0") * 100_001 + b"\0"
    ),
    "a count bomb": framed(struct.pack(">hhih", 85, 1, 0, -1) + bytes.fromhex("0002678190f019")),
    "a message cut short": framed(VALID[4:-1]),
    "a message prolonged": framed(VALID[4:] + b"\0"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_the_server_closes_the_connection_and_serves_others(name: str) -> None:
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister())) as address:
        assert exchange(address, REQUESTS[name]) == b""
        assert exchange(address, VALID) == framed(struct.pack(">i", 7) + bytes.fromhex("000100"))


def test_memory_follows_what_was_sent() -> None:
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister())) as address:
        exchange(address, VALID)
        tracemalloc.start()
        # Below the limit of a frame, so that it waits for the rest.
        exchange(address, struct.pack(">i", 90 << 20) + b"x" * 1000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 << 20


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4, 5, 99, -1])
def test_every_client_can_ask_the_server_for_its_versions(version: int) -> None:
    flexible = version >= 3
    body = ss.encode_message(18, 3, {"clientSoftwareName": "x", "clientSoftwareVersion": "1"}) if flexible else b""
    head = struct.pack(">hhih", 18, version, 5, 1) + b"t" + (b"\0" if flexible else b"")
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister())) as address:
        answer = exchange(address, framed(head + body))
    assert answer[4:8] == struct.pack(">i", 5)
    if version in (3, 4):
        message = ss.decode_message(18, version, answer[8:], response=True)
        assert (message["errorCode"], {"apiKey": 85, "minVersion": 0, "maxVersion": 1} in message["apiKeys"]) == (0, True)
    else:
        code, count = struct.unpack_from(">hi", answer, 8)
        assert (code, count) == (0 if version in (0, 1, 2) else 35, 8)
        assert len(answer) == 14 + 6 * count + (4 if version in (1, 2) else 0)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=80), api_key=st.sampled_from([3, 10, 18, 83, 84, 85, 86, 87]), version=st.integers(-1, 13))
def test_random_requests_end_in_an_answer_or_an_error(data: bytes, api_key: int, version: int) -> None:
    async def test() -> None:
        coordinator = ShareCoordinatorServer(MemoryPersister())
        payload = struct.pack(">hhih", api_key, version, 1, 0) + data
        try:
            answer = await coordinator.respond(payload, Address("127.0.0.1", 1))
        except ss.ShareStateError:
            return
        assert answer is not None
        assert answer[4:8] == struct.pack(">i", 1)

    asyncio.run(test())
