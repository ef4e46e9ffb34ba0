"""The listener: who is let in, what is counted, how often it looks, and what is left when it closes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from share_state.gateway import Limits
from share_state.gateway.access import Access
from share_state.gateway.connection import ClientConnection, Serving
from share_state.gateway.limits import AnswerBytes
from share_state.gateway.requests import Client
from share_state.gateway.server import Server
from share_state.kafka.client.peers import Address
from share_state.kafka.queued_bytes import QueuedBytes
from share_state.util.admission import Admission

ACCESS = Access()


class House:
    """A server whose clients hear their requests again, and who came and went."""

    def __init__(self, **limits: Any) -> None:
        self.met: list[Client] = []
        self.gone: list[Client] = []
        made = Limits(**limits)
        bytes_of = QueuedBytes(10_000), AnswerBytes(10_000)
        serving = Serving(self._respond, lambda _client, _key: 1000, made, *bytes_of, lambda _client, _length: None)
        self.admission = Admission(made.connections, made.address_connections, made.principal_connections)
        self.server = Server(serving, self.met.append, self.gone.append, ACCESS, self.admission, ssl_context=None)

    async def _respond(self, _client: Client, payload: bytes) -> bytes:
        return len(payload).to_bytes(4, "big") + payload

    async def start(self) -> Address:
        return await self.server.start("127.0.0.1", 0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await asyncio.wait_for(test(), 20)

    asyncio.run(main())


async def until(done: Callable[[], bool]) -> None:
    for _ in range(2000):
        if done():
            return
        await asyncio.sleep(0.005)
    raise TimeoutError


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(b"\0\0\0\5hello")
    return await reader.readexactly(9)


def test_clients_are_met_and_missed() -> None:
    async def test() -> None:
        house = House()
        address = await house.start()
        assert address.host == "127.0.0.1"
        assert address.port > 0
        first, second = [await asyncio.open_connection(*address) for _ in range(2)]
        for one in (first, second):
            assert await echo(*one) == b"\0\0\0\5hello"
        assert [(client.connection_id, client.host, client.here) for client in house.met] == [
            (1, "127.0.0.1", address),
            (2, "127.0.0.1", address),
        ]
        assert {client.access for client in house.met} == {ACCESS}
        assert (house.server.connections, house.server.accepted, house.gone) == (2, 2, [])
        by_id = {client.connection_id: client for client in house.met}
        first[1].close()
        await until(lambda: bool(house.gone))
        assert house.gone in ([by_id[1]], [by_id[2]])
        assert (house.server.connections, house.server.accepted) == (1, 2)
        assert await echo(*second) == b"\0\0\0\5hello"
        await house.server.close()
        assert await second[0].read() == b""
        await until(lambda: len(house.gone) == 2)
        assert (house.server.connections, house.server.refused, house.server.tls_failed) == (0, 0, 0)
        second[1].close()
        with pytest.raises(OSError, match=r".+"):
            await asyncio.open_connection(*address)

    run(test)


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({}, 5.0),
        ({"frame_time": 8.0}, 2.0),
        ({"answer_time": 8.0}, 2.0),
        ({"login_time": 8.0}, 2.0),
        ({"idle": 8.0}, 2.0),
        ({"frame_time": 1000.0, "answer_time": 1000.0, "login_time": 1000.0, "idle": 1000.0}, 10.0),
    ],
)
def test_it_looks_four_times_while_anything_may_last(limits: dict[str, float], seconds: float) -> None:
    assert House(**limits).server._interval == seconds


def test_it_looks_at_every_connection_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        looked: list[tuple[int, float]] = []
        monkeypatch.setattr(
            ClientConnection, "check", lambda connection, now: looked.append((connection.client.connection_id, now))
        )
        house = House(idle=0.02)
        address = await house.start()
        held = [await asyncio.open_connection(*address) for _ in range(2)]
        for one in held:
            await echo(*one)
        looked.clear()
        await until(lambda: len(looked) >= 6)
        assert {number for number, _ in looked} == {1, 2}
        assert [now for _, now in looked] == sorted(now for _, now in looked)
        await house.server.close()
        looked.clear()
        await asyncio.sleep(0.03)
        assert looked == []
        for _, writer in held:
            writer.close()

    run(test)


def test_an_answer_that_is_worked_out_is_sent_before_the_end() -> None:
    async def test() -> None:
        house = House()
        goes_on = asyncio.Event()
        begun = asyncio.Event()

        async def respond(_client: Client, _payload: bytes) -> bytes:
            begun.set()
            await goes_on.wait()
            return b"\0\0\0\4last"

        serving = house.server._serving._replace(respond=respond)
        server = Server(serving, house.met.append, house.gone.append, ACCESS, house.admission, ssl_context=None)
        reader, writer = await asyncio.open_connection(*await server.start("127.0.0.1", 0))
        writer.write(b"\0\0\0\5hello\0\0\0\5again")
        await begun.wait()
        closing = asyncio.create_task(server.close())
        await asyncio.sleep(0.01)
        assert not closing.done()
        goes_on.set()
        await closing
        assert await reader.read() == b"\0\0\0\4last"
        writer.close()

    run(test)


def test_a_server_that_never_listened_closes() -> None:
    async def test() -> None:
        house = House()
        await house.server.close()
        assert house.server.connections == 0

    run(test)
