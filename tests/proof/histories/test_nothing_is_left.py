"""Programs that play a run leave neither a socket nor a port nor a thread behind, whatever ends it."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.clients.plan import Plan
from tests.gateway.patience import wait_until
from tests.gateway.process import GatewayProcess
from tests.proof.histories.bare import BareMember
from tests.proof.histories.run import Run
from tests.proof.histories.system import Server
from tests.proof.histories.tcp import TcpProxy

Address = tuple[str, int]


@pytest.fixture
def nonsense() -> Iterator[Address]:
    """A server that answers every request with its number, and bytes that are no answer."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            with client:
                while head := client.recv(12, socket.MSG_WAITALL):
                    length, _, _, correlation = struct.unpack(">ihhi", head)
                    client.recv(length - 8, socket.MSG_WAITALL)
                    client.sendall(struct.pack(">ii", 6, correlation) + b"\0\0")

    thread = threading.Thread(target=serve)
    thread.start()
    yield listening.getsockname()
    listening.shutdown(socket.SHUT_RDWR)
    thread.join()
    listening.close()


def test_a_proxy_that_is_closed_ends_its_connections_and_its_port(nonsense: Address) -> None:
    before = threading.active_count()
    with TcpProxy(nonsense) as proxy:
        host, _, port = proxy.bootstrap.rpartition(":")
        client = socket.create_connection((host, int(port)), timeout=10)
        client.sendall(struct.pack(">ihhi", 8, 0, 0, 7))
        assert client.recv(10, socket.MSG_WAITALL) == struct.pack(">ii", 6, 7) + b"\0\0"
    with client:
        assert client.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=10)
    assert threading.active_count() == before


def test_a_member_that_cannot_read_an_answer_says_so_and_closes_its_connection(nonsense: Address) -> None:
    member = BareMember(Plan(bootstrap=f"{nonsense[0]}:{nonsense[1]}", group="g", topics=["t"]), 0)
    wait_until(lambda: member.failure() is not None, "the member ends")
    member.stop()
    assert "CodecError" in (member.failure() or "")
    assert [line["type"] for line in member.lines(1000)][-1] == "gone"
    assert member._connection is None


def test_a_run_leaves_no_member_at_work(tmp_path: Path) -> None:
    nobody = GatewayProcess(tmp_path, "127.0.0.1:1", {})
    rng = random.Random(0)  # noqa: S311 - a workload
    before = threading.active_count()
    with Run(Server(nobody, "127.0.0.1:1"), rng, {}, lock_ms=1000, kinds=("bare",)) as run:
        run.join_all()
        assert threading.active_count() == before + len(run.members) > before
    assert threading.active_count() == before
