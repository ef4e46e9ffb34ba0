"""Connections beyond what one address, one principal or the process may have, and what the log says of them."""

from __future__ import annotations

import logging
import resource
import socket
from pathlib import Path

import pytest

from share_state.gateway import Limits, ShareGateway
from share_state.logs import Pace
from share_state.util.admission import connections_allowed
from tests.gateway.patience import wait_until
from tests.gateway.serving import log_in, serving
from tests.gateway.wire.connection import Connection, Disconnected

USERS = {"alice": "alice-secret", "bob": "bob-secret"}
LOG = logging.getLogger("share_state.gateway")


def from_address(gateway: ShareGateway, address: str) -> socket.socket:
    return socket.create_connection(gateway.address, timeout=60, source_address=(address, 0))


def is_admitted(connection: socket.socket) -> bool:
    """Tell if a connection is answered, and not closed."""
    try:
        connection.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\x07\xff\xff")
        return connection.recv(1) != b""
    except ConnectionError:
        return False


def test_an_address_has_so_many_connections(bootstrap: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(bootstrap, tmp_path, limits=Limits(address_connections=2)) as gateway:
        held = [from_address(gateway, "127.0.0.1") for _ in range(2)]
        assert all(is_admitted(one) for one in held)
        for _ in range(30):
            with from_address(gateway, "127.0.0.1") as one_more:
                assert not is_admitted(one_more)
        held.append(from_address(gateway, "127.0.0.2"))
        assert is_admitted(held[-1])
        assert gateway.server.refused == 30
        held.pop(0).close()
        wait_until(lambda: gateway.server.connections == 2, "the place")
        with from_address(gateway, "127.0.0.1") as again:
            assert is_admitted(again)
        for one in held:
            one.close()
    said = [record.getMessage() for record in caplog.records if record.name == "share_state.gateway.clients"]
    assert said == ["the limit of 2 connections of one address is reached: closed a new one: host=127.0.0.1"] * 20


def test_a_principal_has_so_many_connections(bootstrap: str, tmp_path: Path) -> None:
    with (
        serving(bootstrap, tmp_path, users=USERS, limits=Limits(principal_connections=1)) as gateway,
        Connection(gateway.bootstrap_servers) as bob,
    ):
        with Connection(gateway.bootstrap_servers) as alice:
            assert log_in(alice, "alice", "alice-secret")["errorCode"] == 0
            with Connection(gateway.bootstrap_servers) as second:
                answer = log_in(second, "alice", "alice-secret")
                text = "the limit of 1 connections of one principal is reached"
                assert (answer["errorCode"], answer["errorMessage"]) == (58, text)
                with pytest.raises(Disconnected):
                    second.offered()
            assert log_in(bob, "bob", "bob-secret")["errorCode"] == 0
            assert alice.offered()
            assert bob.offered()
        wait_until(lambda: gateway.server.connections == 1, "the place")
        with Connection(gateway.bootstrap_servers) as again:
            assert log_in(again, "alice", "alice-secret")["errorCode"] == 0


INFINITE = resource.RLIM_INFINITY
RAISED = "raised the limit of open files from %d to %d"
TOO_LOW = "the limit of open files is %d: admits %d connections, not 4000"


@pytest.mark.parametrize(
    ("limit", "raised", "allowed", "said"),
    [
        ((1024, 20_000), 4256, 4000, [RAISED % (1024, 4256)]),
        ((1024, 2048), 2048, 1792, [RAISED % (1024, 2048), TOO_LOW % (2048, 1792)]),
        ((1024, 1024), 1024, 768, [TOO_LOW % (1024, 768)]),
        ((100, 100), 100, 50, [TOO_LOW % (100, 50)]),
        ((1024, INFINITE), 4256, 4000, [RAISED % (1024, 4256)]),
        ((INFINITE, INFINITE), INFINITE, 4000, []),
        ((65_536, 65_536), 65_536, 4000, []),
    ],
)
def test_open_files_leave_room_for_so_many(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    limit: tuple[int, int],
    raised: int,
    allowed: int,
    said: list[str],
) -> None:
    now = [limit]
    monkeypatch.setattr(resource, "getrlimit", lambda _which: now[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _which, new: now.append(new))
    caplog.set_level(logging.INFO, "share_state")
    assert connections_allowed(4000, LOG) == allowed
    assert now[-1] == (raised, limit[1])
    assert [record.getMessage() for record in caplog.records] == said


def test_each_connection_of_the_relay_has_another_one_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (4256, 4256))
    assert connections_allowed(4000, LOG, descriptors=2) == 2000


def test_where_few_are_wanted_half_of_the_open_files_are_enough(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (300, 300))
    assert [connections_allowed(wanted, LOG) for wanted in (1, 128, 150)] == [1, 128, 150]
    assert not caplog.records
    assert connections_allowed(151, LOG) == 150


def test_a_kind_of_line_comes_now_and_then() -> None:
    pace, let_through = Pace(), []
    for number in range(1000):
        record = logging.LogRecord("share_state.x", logging.WARNING, "", 0, "%d of them", (number,), None)
        record.created = number / 50
        if pace.filter(record):
            let_through.append(record.getMessage())
    assert let_through[:20] == [f"{number} of them" for number in range(20)]
    assert let_through[20] == "500 of them (and 480 more like it before)"
    assert len(let_through) == 40
    for level, allowed in ((logging.DEBUG, 100), (logging.ERROR, 20)):
        lines = [logging.LogRecord("share_state.x", level, "", 0, "another", (), None) for _ in range(100)]
        assert sum(pace.filter(line) for line in lines) == allowed
