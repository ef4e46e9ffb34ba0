"""Connections to the small servers that ask nothing: nobody is shut out by them, and they end."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from subprocess import PIPE

import pytest
import trustme

from share_state.kafka.client.peers import Address
from share_state.operate.monitoring import http
from share_state.operate.monitoring.http import HttpServer, Page, Request
from share_state.operate.web import connection, server
from share_state.operate.web.server import PageServer

REPOSITORY = Path(__file__).resolve().parents[2]
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
#: Bytes that a connection has sent that asks nothing.
SILENT = [b"", b"G", GET, GET + b"X: " + b"x" * 100]

Serving = Callable[..., AbstractAsyncContextManager[Address]]


@asynccontextmanager
async def metrics(tls: ssl.SSLContext | None = None) -> AsyncIterator[Address]:
    async def page(_request: Request) -> Page:
        return Page(b"here\n")

    server = HttpServer({"/": page}, tls=tls)
    try:
        yield await server.start("127.0.0.1", 0)
    finally:
        await server.close()


@asynccontextmanager
async def pages(tls: ssl.SSLContext | None = None) -> AsyncIterator[Address]:
    async def app(_scope: object, _receive: object, send: Callable[..., object]) -> None:
        head = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]}
        await send(head)  # type: ignore[misc]
        await send({"type": "http.response.body", "body": b"here\n"})  # type: ignore[misc]

    made, stop = PageServer(app, tls), asyncio.Event()
    address = made.listen("127.0.0.1", 0)
    serving = asyncio.create_task(made.serve(stop))
    try:
        yield address
    finally:
        stop.set()
        await serving
        made.close()


SERVERS = pytest.mark.parametrize(("serving", "most"), [(metrics, http._MAX_CONNECTIONS), (pages, connection.MAX_CONNECTIONS)])


async def asked(address: Address, trusts: ssl.SSLContext | None = None) -> bytes:
    reader, writer = await asyncio.open_connection(*address, ssl=trusts)
    writer.write(GET + b"Connection: close\r\n\r\n")
    found = await reader.read()
    writer.close()
    return found


def run(test: Callable[[], object]) -> None:
    asyncio.run(asyncio.wait_for(test(), 30))  # type: ignore[arg-type]


async def all_of(reader: asyncio.StreamReader) -> bytes:
    """Bytes that come until the other side ends the connection, by a reset too."""
    found = b""
    try:
        while part := await reader.read(4096):
            found += part
    except ConnectionError:
        pass
    return found


@SERVERS
async def test_more_silent_connections_than_there_may_be_shut_nobody_out(serving: Serving, most: int) -> None:
    async with serving() as address:
        held = []
        for number in range(most + 20):
            held.append(await asyncio.open_connection(*address))
            held[-1][1].write(SILENT[number % len(SILENT)])
        for _ in range(3):
            assert (await asked(address)).endswith(b"\r\n\r\nhere\n")
        # Those that were silent for longest are gone.
        for reader, _ in held[:20]:
            assert await all_of(reader) == b""
        for _, writer in held:
            writer.close()


@pytest.mark.parametrize("sent", [*SILENT, GET + b"\r\n", GET + b"\r\n" + GET])
async def test_a_page_is_asked_for_in_time(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.05)
    async with pages() as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(sent)
        found = await all_of(reader)
        # After an answer the time begins again.
        assert found.endswith(b"here\n") == (b"\r\n\r\n" in sent)
        writer.close()


@pytest.mark.parametrize("sent", SILENT)
async def test_metrics_are_asked_for_in_time(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(http, "_TIME", 0.05)
    async with metrics() as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(sent)
        assert await all_of(reader) == b""
        writer.close()


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server, and of a client that trusts it."""
    authority = trustme.CA()
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    return server, client


#: The start of a handshake that does not go on: a record of TLS with half a ClientHello.
UNSAID = [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00"]


@SERVERS
async def test_more_silent_handshakes_than_there_may_be_shut_nobody_out(serving: Serving, most: int) -> None:
    tls, trusts = contexts()
    async with serving(tls) as address:
        held = []
        for number in range(most + 20):
            held.append(await asyncio.open_connection(*address))
            held[-1][1].write(UNSAID[number % len(UNSAID)])
        for _ in range(3):
            assert (await asked(address, trusts)).endswith(b"\r\n\r\nhere\n")
        # Those that began first are gone.
        for reader, _ in held[:20]:
            assert await all_of(reader) == b""
        for _, writer in held:
            writer.close()


@pytest.mark.parametrize("sent", UNSAID)
@pytest.mark.parametrize(("serving", "module", "name"), [(metrics, http, "_TIME"), (pages, server, "HEAD_SECONDS")])
async def test_a_handshake_ends_in_time(
    monkeypatch: pytest.MonkeyPatch, serving: Serving, module: object, name: str, sent: bytes
) -> None:
    tls, _ = contexts()
    monkeypatch.setattr(module, name, 0.05)
    async with serving(tls) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(sent)
        assert await all_of(reader) == b""
        writer.close()


#: A program that serves until it is told to end.
SERVING = """
import asyncio, logging, sys
from tests.operate import test_silent_connections as servers

async def main():
    async with getattr(servers, sys.argv[1])() as address:
        print(address.port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

logging.basicConfig(format="%(message)s")
asyncio.run(main())
"""
#: The start of what follows it, with few open files.
FEW_FILES = ["sh", "-c", 'ulimit -S -n 100; ulimit -H -n 240; exec "$@"', "sh"]


@pytest.mark.parametrize(
    ("serving", "said"),
    [
        ("metrics", ""),
        ("pages", f"the limit of open files is 240: admits 120 connections, not {connection.MAX_CONNECTIONS}\n"),
    ],
)
def test_open_files_end_before_the_process_does(serving: str, said: str) -> None:
    command = [*FEW_FILES, sys.executable, "-c", SERVING, serving]
    with (
        ExitStack() as held,
        subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, cwd=REPOSITORY) as server,
    ):
        assert server.stdout is not None
        address = Address("127.0.0.1", int(server.stdout.readline()))
        # All of them are there before it looks.
        server.send_signal(signal.SIGSTOP)
        for _ in range(600):
            one = held.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(address)
        server.send_signal(signal.SIGCONT)
        run(lambda: all_asked(address))
        assert server.communicate(timeout=60)[1] == said
        assert server.returncode == 0


async def all_asked(address: Address) -> None:
    for _ in range(3):
        assert (await asked(address)).endswith(b"\r\n\r\nhere\n")
