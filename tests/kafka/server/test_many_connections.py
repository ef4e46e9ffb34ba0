"""Connections to a server beyond what it may hold open."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import struct
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import trustme

from share_state.kafka import ShareCoordinatorServer, coordinator_server, serve_in_thread
from share_state.kafka.client.peers import Address
from share_state.persister import MemoryPersister
from tests.gateway.wire import encode
from tests.gateway.wire.connection import request_header

#: ApiVersions of version 0.
QUESTION = b"\0\0\0\x0a\0\x12\0\0\0\0\0\x07\xff\xff"


def is_admitted(connection: socket.socket) -> bool:
    try:
        connection.sendall(QUESTION)
        return connection.recv(4096) != b""
    except ConnectionError:
        return False


def connect(address: Address, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(address, timeout=60, source_address=(source, 0))


def test_an_address_has_half_of_the_connections() -> None:
    with serve_in_thread(ShareCoordinatorServer(MemoryPersister(), max_connections=4)) as address:
        held = [connect(address) for _ in range(2)]
        assert all(is_admitted(one) for one in held)
        with connect(address) as one_more:
            assert not is_admitted(one_more)
        held += [connect(address, "127.0.0.2") for _ in range(2)]
        assert all(is_admitted(one) for one in held)
        with connect(address, "127.0.0.3") as one_more:
            assert not is_admitted(one_more)
        for one in held:
            one.close()


def test_bytes_of_all_requests_have_a_bound() -> None:
    key = "g:AAAAAAAAAAAAAAAAAAAAAQ:" + "0" * 30_000
    body = encode(10, 6, {"keyType": 2, "coordinatorKeys": [key, key + "1", key + "2"]})
    long = request_header(10, 6, 7, None) + body
    frame = struct.pack(">i", len(long)) + long
    server = ShareCoordinatorServer(MemoryPersister(), max_frame=100_000, max_queued=150_000)
    with serve_in_thread(server) as address, connect(address) as many, connect(address) as few, connect(address) as other:
        # What is answered counts no more.
        for _ in range(4):
            other.sendall(frame)
            (length,) = struct.unpack(">i", whole(other, 4))
            assert len(whole(other, length)) > len(body)
        many.sendall(frame[:-1])
        few.sendall(frame[: -len(body) // 4])
        # Whoever has sent most loses its connection, the other one does not.
        with contextlib.suppress(ConnectionError):
            assert many.recv(1) == b""
        few.sendall(frame[-len(body) // 4 :])
        assert len(whole(few, 4)) == 4
        assert is_admitted(other)


def whole(connection: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        part = connection.recv(length - len(found))
        assert part
        found += part
    return found


def test_silent_handshakes_shut_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator_server, "_LOGIN_TIME", 3600.0)
    authority = trustme.CA()
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    with ExitStack() as held:
        address = held.enter_context(
            serve_in_thread(ShareCoordinatorServer(MemoryPersister(), ssl_context=server, max_connections=4))
        )
        silent = [held.enter_context(connect(address)) for _ in range(20)]
        with client.wrap_socket(connect(address), server_hostname="127.0.0.1") as served:
            assert is_admitted(served)
        for one in silent[:16]:
            with contextlib.suppress(ConnectionError):
                assert one.recv(1) == b""


def test_one_request_must_have_room() -> None:
    with pytest.raises(ValueError, match="max_queued is 100; expected at least 1004"):
        ShareCoordinatorServer(MemoryPersister(), max_frame=1000, max_queued=100)


#: Starts what follows it with few open files.
FEW_FILES = ["sh", "-c", 'ulimit -S -n 200; ulimit -H -n 300; exec "$@"', "sh"]


@pytest.mark.parametrize("command", ["coordinator", "gateway"])
def test_open_files_end_before_the_process_does(tmp_path: Path, command: str) -> None:
    upstream = ["--upstream", "127.0.0.1:1"] if command == "gateway" else []
    options = [command, "--listen", "127.0.0.1:0", "--path", str(tmp_path / "state"), *upstream]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            [*FEW_FILES, sys.executable, "-m", "share_state", *options], stdout=subprocess.PIPE, stderr=log, text=True
        ) as server,
    ):
        assert server.stdout is not None
        found = re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())
        assert found is not None
        address = Address("127.0.0.1", int(found[1]))
        held = [connect(address, f"127.0.0.{number % 4 + 1}") for number in range(600)]
        admitted = [one for one in held if is_admitted(one)]
        # Half of them are left to the rest of the process.
        assert len(admitted) == 150
        # Those who are in are served on.
        assert all(is_admitted(one) for one in admitted)
        for one in held:
            one.close()
        server.terminate()
        assert server.wait(60) == 0
    said = (tmp_path / "log").read_text()
    assert "the limit of open files is 300: admits 150 connections, not 4000" in said
    assert "Traceback" not in said
    assert len(said.splitlines()) < 60
