"""Connection of a client by itself, with a transport that only notes what is done to it, and requests for it."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Any

from share_state.gateway import Limits
from share_state.gateway.access import Access
from share_state.gateway.connection import ClientConnection, Serving
from share_state.gateway.limits import AnswerBytes
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address
from share_state.kafka.queued_bytes import QueuedBytes

LIMITS = Limits(frame=1000, idle=600.0, frame_time=30.0, answer_time=60.0, login_time=20.0)
WHO = "client='' host=host principal='User:ANONYMOUS' software=''"


class Transport(asyncio.Transport):
    """Notes what is done to it."""

    def __init__(self) -> None:
        super().__init__({})
        self.done: list[Any] = []
        self.is_over = False
        self.blocks: ClientConnection | None = None

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.done.append(bytes(data))
        if self.blocks is not None:
            self.blocks.pause_writing()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is counted here."""

    def pause_reading(self) -> None:
        self.done.append("pause")

    def resume_reading(self) -> None:
        self.done.append("resume")

    def is_closing(self) -> bool:
        return self.is_over

    def close(self) -> None:
        self.is_over = True
        self.done.append("close")

    def abort(self) -> None:
        self.is_over = True
        self.done.append("abort")


class Bench:
    """A connection, its transport, and what it has asked. Answers are given by hand, or by a function."""

    def __init__(self, respond: Callable[[bytes], Awaitable[bytes | None]] | None = None) -> None:
        self.waits: list[asyncio.Future[bytes | None]] = []
        self.by = respond
        self.client = Client(1, "host", Address("here", 1), Access())
        serving = Serving(
            self._respond, lambda _client, _key: 1000, LIMITS, QueuedBytes(10_000), AnswerBytes(1 << 20), lambda *_taken: None
        )
        self.connection = ClientConnection(self.client, serving, lambda _connection: None)
        self.transport = Transport()
        self.connection.connection_made(self.transport)

    async def _respond(self, client: Client, payload: bytes) -> bytes | None:
        assert client is self.client
        if self.by is not None:
            return await self.by(payload)
        self.waits.append(asyncio.get_running_loop().create_future())
        return await self.waits[-1]

    async def send(self, *payloads: bytes) -> None:
        self.connection.data_received(b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads))
        await turns()

    async def say(self, answer: bytes | None) -> None:
        self.waits[-1].set_result(answer)
        await turns()


async def turns() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await asyncio.wait_for(test(), 20)

    asyncio.run(main())


async def echo(payload: bytes) -> bytes:
    return b"of " + payload


def payload(number: int) -> bytes:
    return b"\0\x12%08d" % number
