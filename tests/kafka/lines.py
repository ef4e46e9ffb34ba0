"""Connections without sockets: every request is kept, each gets the answer that a test has for it, and no time passes."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, NamedTuple, TypeVar, cast

import pytest

import share_state as ss
from share_state.errors import ConfigError
from share_state.kafka import SecurityOptions
from share_state.kafka.client.connection import Connection, ConnectionOptions
from share_state.kafka.client.peers import Address, LostError, Node
from tests.kafka import scripted
from tests.kafka.scripted import (
    AUTHENTICATE,
    CONNECT_TIMEOUT,
    FIND,
    HANDSHAKE,
    METADATA,
    REQUEST_TIMEOUT,
    VERSIONS,
    WRITE,
    TestClock,
)

T = TypeVar("T")
Message = dict[str, Any]

#: A bootstrap server, and a broker whose id is known.
NODE, BROKER = Node(-1, Address("host", 9092)), Node(3, Address("host", 9092))
#: Turns of the loop in which everything here is over.
_TURNS = 50
#: Headers with tagged fields: of requests, and of answers.
_TAGGED = {(VERSIONS, 3), (AUTHENTICATE, 2), (METADATA, 12), (FIND, 6), (WRITE, 1)}


class Asked(NamedTuple):
    """A request as it was written."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str
    message: Message


class Line(asyncio.Transport):
    """Connection. An answer of bytes goes out as it is, an exception or `None` is the end, and ``...`` is no answer."""

    def __init__(self, lines: Lines, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.lines = lines
        self.protocol = protocol
        self.aborted = 0
        protocol.connection_made(self)

    def write(self, data: Any) -> None:
        data = bytes(data)
        self.lines.written.append(data)
        size, api_key, version, correlation_id, name = struct.unpack_from(">ihhih", data)
        assert size == len(data) - 4
        body = data[14 + name :]
        if (api_key, version) in _TAGGED:
            assert body[:1] == b"\0"
            body = body[1:]
        client_id = data[14 : 14 + name].decode()
        asked = Asked(api_key, version, correlation_id, client_id, ss.decode_message(api_key, version, body))
        self.lines.asked.append(asked)
        if self.lines.answers:
            asyncio.get_running_loop().call_soon(self._answer, self.lines.answers.popleft(), asked)

    def _answer(self, answer: Any, asked: Asked) -> None:
        if answer is ...:
            return
        if isinstance(answer, dict):
            self.protocol.data_received(answer_of(asked, answer))
        elif isinstance(answer, bytes):
            self.protocol.data_received(answer)
        else:
            self.protocol.connection_lost(answer)

    def abort(self) -> None:
        self.aborted += 1
        asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    def close(self) -> None:
        pass


class Lines:
    """The connections of one loop.

    Attributes:
        made: what each was asked for: host, port, TLS and the name to check.
        fails: what making one raises.
        written: frames as they were written.
        asked: the same, taken apart.
        answers: what is answered, in order.
        clock: stands still, but for what a test lets expire.
    """

    def __init__(self) -> None:
        self.made: list[tuple[str, int, ssl.SSLContext | None, str | None]] = []
        self.all: list[Line] = []
        self.fails: BaseException | None = None
        self.written: list[bytes] = []
        self.asked: list[Asked] = []
        self.answers: deque[Any] = deque()
        self.clock = TestClock(hold_waits=True)

    @property
    def last(self) -> Line:
        return self.all[-1]

    @property
    def messages(self) -> list[tuple[int, Message]]:
        """Requests, without their headers."""
        return [(asked.api_key, asked.message) for asked in self.asked]

    def waits(self) -> list[float]:
        """Times that are still waited for."""
        return [timer.delay for timer in self.clock.timers if not timer.cancelled]

    async def create_connection(
        self,
        made: Callable[[], asyncio.Protocol],
        host: str,
        port: int,
        *,
        ssl: ssl.SSLContext | None,
        server_hostname: str | None,
    ) -> tuple[Line, asyncio.Protocol]:
        """As that of a loop."""
        self.made.append((host, port, ssl, server_hostname))
        if self.fails is not None:
            raise self.fails
        protocol = made()
        self.all.append(Line(self, protocol))
        return self.last, protocol

    def options(self, sasl: Any = None, **others: Any) -> ConnectionOptions:
        security = others.pop("security", SecurityOptions(sasl=sasl))
        return ConnectionOptions(security, self.clock, "tester", CONNECT_TIMEOUT, REQUEST_TIMEOUT, **others)

    async def open(self, *answers: Any, node: Node = NODE, sasl: Any = None, **others: Any) -> Connection:
        """A connection to a broker that has the usual versions, and then answers so."""
        self.answers.extend([versions(), *answers])
        return await soon(Connection.open(node, self.options(sasl, **others)))


def answer_of(asked: Asked, message: Message) -> bytes:
    """Frame an answer."""
    tags = b"\0" if asked.api_key != VERSIONS and asked[:2] in _TAGGED else b""
    body = ss.encode_message(asked.api_key, asked.version, message, response=True)
    payload = struct.pack(">i", asked.correlation_id) + tags + body
    return struct.pack(">i", len(payload)) + payload


def versions(code: int = 0, **others: tuple[int, int]) -> Message:
    """An answer to ApiVersions; others are named ``api_9``."""
    ranges = {METADATA: (0, 12), FIND: (0, 6), HANDSHAKE: (0, 1), VERSIONS: (0, 4), AUTHENTICATE: (0, 2), WRITE: (0, 1)}
    ranges |= {int(name.removeprefix("api_")): them for name, them in others.items()}
    rows = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in ranges.items()]
    return {"errorCode": code, "apiKeys": rows, "throttleTimeMs": 0}


def told(error: LostError) -> tuple[str, str, int, bool, bool]:
    """All that is said of a loss."""
    assert str(error) == f"{error.node}: {error.reason}"
    return error.node, error.reason, error.code, error.sent, error.retriable


def refusal(make: Callable[[], object]) -> tuple[str, str | None, Any]:
    """The text, the field and the value of a refused argument."""
    with pytest.raises(ConfigError) as refused:
        make()
    return str(refused.value), refused.value.field, refused.value.value


async def soon(work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Give what `work` gives; it has some turns of the loop for that, and no time."""
    task = asyncio.ensure_future(work)
    for _ in range(_TURNS):
        if task.done():
            break
        await asyncio.sleep(0)
    else:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise AssertionError("it waits for something that does not come")
    return task.result()


async def outcomes(*tasks: asyncio.Task[Any]) -> list[Any]:
    """Give what each task gives or raises."""
    return await soon(_gathered(tasks))


async def _gathered(tasks: Iterable[asyncio.Task[Any]]) -> list[Any]:
    return await asyncio.gather(*tasks, return_exceptions=True)


def run(test: Callable[[Lines], Coroutine[Any, Any, None]]) -> None:
    """Run a test on a loop whose connections are lines."""

    async def whole() -> None:
        lines = Lines()
        cast("Any", asyncio.get_running_loop()).create_connection = lines.create_connection
        await test(lines)

    scripted.run(whole)


on_lines = scripted.decorator_of(run, 1)
