"""A client of the share coordinator server that sends and reads frames, and what it says most."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import Any, Self

import pytest

import share_state as ss
from share_state.kafka import ShareCoordinatorServer, serve_in_thread
from share_state.kafka.client.peers import Address
from share_state.kafka.framing import frame, is_flexible
from share_state.persister import MemoryPersister
from tests.kafka.scripted import AUTHENTICATE, DELETE, FIND, HANDSHAKE, TOPIC, VERSIONS

Message = dict[str, Any]

LOGGER = "share_state.coordinator"
USERS = {"alice": "secret"}
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
SOFTWARE = {"clientSoftwareName": "x", "clientSoftwareVersion": "1"}


def header(api_key: int, version: int, correlation_id: int = 77) -> bytes:
    return struct.pack(">hhih", api_key, version, correlation_id, 2) + b"me"


def request(api_key: int, version: int, message: Message, correlation_id: int = 77) -> bytes:
    tags = b"\0" if is_flexible(api_key, version) else b""
    return header(api_key, version, correlation_id) + tags + ss.encode_message(api_key, version, message)


def answer(api_key: int, version: int, sent: bytes, correlation_id: int = 77) -> Message:
    """An answer, whose frame and header are looked at."""
    assert struct.unpack_from(">ii", sent) == (len(sent) - 4, correlation_id)
    tagged = is_flexible(api_key, version) and api_key != VERSIONS
    assert not tagged or sent[8] == 0
    return ss.decode_message(api_key, version, sent[8 + tagged :], response=True)


FOUND = request(FIND, 6, {"keyType": 2, "coordinatorKeys": [f"g:{TOPIC}:0"]}, 8)
DELETED = request(DELETE, 0, {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [{"partition": 0}]}]}, 9)
GONE = {"results": [{"topicId": TOPIC, "partitions": [{"partition": 0, "errorCode": 0, "errorMessage": None}]}]}
VERSIONS_3 = request(VERSIONS, 3, SOFTWARE)


def handshake(mechanism: str = "PLAIN") -> bytes:
    return request(HANDSHAKE, 1, {"mechanism": mechanism}, 1)


def authenticate(said: bytes) -> bytes:
    return request(AUTHENTICATE, 2, {"authBytes": said}, 2)


GOOD, WRONG = authenticate(b"\0alice\0secret"), authenticate(b"\0alice\0wrong")


class Client:
    """A connection to a server, and what was answered to it."""

    def __init__(self, address: Address) -> None:
        self.socket = socket.create_connection(address, timeout=60)
        self.name = repr(self.socket.getsockname())
        self._answers = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._answers.close()
        self.socket.close()

    def read(self) -> bytes:
        """The next answer with its length; nothing at the end."""
        with contextlib.suppress(ConnectionError):
            if length := self._answers.read(4):
                return length + self._answers.read(*struct.unpack(">i", length))
        return b""

    def ask(self, *payloads: bytes) -> list[bytes]:
        """Send one after the other, each when the one before it is answered; the answers until the server ends the connection."""
        answers = []
        for payload in payloads:
            with contextlib.suppress(ConnectionError):
                self.socket.sendall(frame(payload))
            if not (answered := self.read()):
                break
            answers.append(answered)
        return answers


def server(users: dict[str, str] | None = None, **options: Any) -> ShareCoordinatorServer:
    return ShareCoordinatorServer(MemoryPersister(), users=users, **options)


def asked(coordinator: ShareCoordinatorServer, *payloads: bytes) -> list[bytes]:
    with serve_in_thread(coordinator) as address, Client(address) as client:
        return client.ask(*payloads)


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Messages of the server, with their levels."""
    return [(record.levelname, record.getMessage()) for record in caplog.records if record.name == LOGGER]
