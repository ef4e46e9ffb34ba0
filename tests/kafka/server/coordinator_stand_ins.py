"""Requests to the share coordinator server and its answers, and stand-ins for a connection and for a socket that listens."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from typing import Any, cast

import pytest

import share_state as ss
from share_state.kafka import ShareCoordinatorServer
from share_state.kafka.framing import frame, is_flexible
from share_state.persister import MemoryPersister
from tests.kafka.scripted import AUTHENTICATE, HANDSHAKE, TOPIC, VERSIONS

Message = dict[str, Any]

#: Addresses at the ends of a stand-in's connection, as IPv6 sockets give them.
SOCKNAME = ("here", 9092, 5, 6)
PEERNAME = ("there", 4711)


#: Name of the server's logger.
LOGGER = "share_state.coordinator"


def server(users: dict[str, str] | None = None, **options: Any) -> ShareCoordinatorServer:
    """A server whose states are in memory."""
    return ShareCoordinatorServer(MemoryPersister(), users=users, **options)


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Messages of the server, with their levels."""
    return [(record.levelname, record.getMessage()) for record in caplog.records if record.name == LOGGER]


class Writer:
    """Notes what is sent. Its transport is itself."""

    def __init__(self) -> None:
        self.transport = self
        self.sent: list[bytes] = []
        #: Number of answers sent at each wait of the server for the client.
        self.drained: list[int] = []
        self.end = ""

    def get_extra_info(self, name: str) -> tuple[Any, ...]:
        return {"sockname": SOCKNAME, "peername": PEERNAME}[name]

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    async def drain(self) -> None:
        self.drained.append(len(self.sent))

    def is_closing(self) -> bool:
        return bool(self.end)

    def close(self) -> None:
        self.end += "closed"

    def abort(self) -> None:
        self.end += "aborted"


class Listening:
    """An ``asyncio.Server`` with two sockets that is its own loop, and notes what is done with it."""

    def __init__(self, *numbers: int) -> None:
        self.sockets = [ListeningSocket(number) for number in numbers]
        self.steps: list[str] = []
        self.waits_for: list[asyncio.Task[Any]] = []

    def get_loop(self) -> Listening:
        return self

    def remove_reader(self, number: int) -> None:
        self.steps.append(f"remove {number}")

    def close(self) -> None:
        self.steps.append("close")

    async def wait_closed(self) -> None:
        self.steps.append(f"wait for {sum(not task.done() for task in self.waits_for)}")


class ListeningSocket:
    def __init__(self, number: int) -> None:
        self.number = number

    def fileno(self) -> int:
        return self.number

    def dup(self) -> contextlib.nullcontext[ListeningSocket]:
        return contextlib.nullcontext(self)

    def listen(self, backlog: int) -> None:
        assert backlog == 1024

    def getsockname(self) -> tuple[str, int, int, int]:
        return (f"host {self.number}", 9000 + self.number, 5, 6)


def received(*payloads: bytes, ended: bool = True) -> asyncio.StreamReader:
    """A reader of what a client has sent."""
    reader = asyncio.StreamReader()
    for payload in payloads:
        reader.feed_data(frame(payload))
    if ended:
        reader.feed_eof()
    return reader


def converse(server: ShareCoordinatorServer, reader: asyncio.StreamReader, writer: Writer | None = None) -> asyncio.Task[None]:
    """Serve one connection, as asyncio does."""
    met = server._client(reader, cast("Any", writer or Writer()))
    return asyncio.get_running_loop().create_task(met)


def header(api_key: int, version: int, correlation_id: int = 77) -> bytes:
    return struct.pack(">hhih", api_key, version, correlation_id, 2) + b"me"


def request(api_key: int, version: int, message: Message, correlation_id: int = 77) -> bytes:
    tags = b"\0" if is_flexible(api_key, version) else b""
    return header(api_key, version, correlation_id) + tags + ss.encode_message(api_key, version, message)


def answer(api_key: int, version: int, sent: bytes | None, correlation_id: int = 77) -> Message:
    """An answer, whose frame and header are looked at."""
    assert sent is not None
    assert struct.unpack_from(">ii", sent) == (len(sent) - 4, correlation_id)
    tagged = is_flexible(api_key, version) and api_key != VERSIONS
    assert not tagged or sent[8] == 0
    return ss.decode_message(api_key, version, sent[8 + tagged :], response=True)


def find(key: str = f"g:{TOPIC}:0") -> Message:
    return {"keyType": 2, "coordinatorKeys": [key]}


def handshake(mechanism: str = "PLAIN") -> bytes:
    return request(HANDSHAKE, 1, {"mechanism": mechanism}, 1)


def authenticate(said: bytes) -> bytes:
    return request(AUTHENTICATE, 2, {"authBytes": said}, 2)
