"""Connections to several brokers: one each, opened once, left when it is over, and counted for good; and losses as they are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from share_state.kafka import AuthenticationFailedError
from share_state.kafka.client import connections as module
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.peers import Address, LostError, Node
from tests.kafka.lines import outcomes, soon, told

ONE, TWO, THREE = (Address("host", port) for port in (1, 2, 3))


class Opened:
    """Stands for a connection."""

    def __init__(self, node: Node, requests: int) -> None:
        self.node = node
        self.requests = requests
        self.usable = True
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


class Network:
    """Opens what is up, and keeps what was opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[Node] = []
        self.made: list[Opened] = []
        self.fails: dict[int, Exception] = {}
        self.hold: asyncio.Event | None = None
        self.pool = Connections([ONE, TWO, THREE], "options")  # type: ignore[arg-type]
        network = self

        class Connection(Opened):
            @staticmethod
            async def open(node: Node, options: Any) -> Opened:
                assert options == "options"
                network.opened.append(node)
                await asyncio.sleep(0)
                if network.hold is not None:
                    await network.hold.wait()
                if node.address.port in network.fails:
                    raise network.fails[node.address.port]
                network.made.append(Connection(node, 10 ** len(network.made)))
                return network.made[-1]

        monkeypatch.setattr(module, "Connection", Connection)

    def lose(self, port: int, reason: str = "nobody listens") -> None:
        self.fails[port] = LostError(f"host:{port}", reason, code=7, sent=True, retriable=False)


def same(found: Any, expected: Opened) -> bool:
    return found is expected


async def test_a_broker_has_one_connection_and_another_once_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    pool = network.pool
    node = Node(4, ONE)
    assert (pool.opened(node), pool.requests) == (None, 0)
    both = await asyncio.gather(*(soon(pool.connection(node)) for _ in range(2)))
    assert same(both[0], network.made[0])
    assert same(both[1], network.made[0])
    # It is of the address, whatever the broker is called.
    assert same(pool.opened(Node(-1, ONE)), network.made[0])
    assert same(await soon(pool.connection(node)), network.made[0])
    assert (pool.opened(Node(4, TWO)), network.opened, pool.requests) == (None, [node], 1)
    for connections, requests in ((2, 11), (3, 111)):
        network.made[-1].usable = False
        assert pool.opened(node) is None
        assert same(await soon(pool.connection(node)), network.made[-1])
        assert (len(network.made), pool.requests) == (connections, requests)
    await soon(pool.connection(Node(5, TWO)))
    assert pool.requests == 1111
    await pool.close()
    assert [made.closed for made in network.made] == [0, 0, 1, 1]
    await pool.close()
    assert network.made[3].closed == 1


async def test_a_connection_that_is_not_open_yet_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    network.hold = asyncio.Event()
    pool, node = network.pool, Node(4, ONE)
    waiting = [asyncio.create_task(pool.connection(node)) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (pool.opened(node), pool.requests) == (None, 0)
    # Who stops waiting does not stop the opening.
    waiting[0].cancel()
    await asyncio.gather(waiting[0], return_exceptions=True)
    network.hold.set()
    (opened,) = await outcomes(waiting[1])
    assert (same(opened, network.made[0]), len(network.opened)) == (True, 1)
    await pool.close()


async def test_closing_stops_what_is_being_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    pool = network.pool
    await soon(pool.connection(Node(4, ONE)))
    network.lose(2)
    await outcomes(asyncio.create_task(pool.connection(Node(5, TWO))))
    network.hold = asyncio.Event()
    waiting = asyncio.create_task(pool.connection(Node(6, THREE)))
    for _ in range(5):
        await asyncio.sleep(0)
    await pool.close()
    (ended,) = await outcomes(waiting)
    assert isinstance(ended, asyncio.CancelledError)
    assert pool.requests == 1
    assert [made.closed for made in network.made] == [1]
    assert len(network.opened) == 3


async def test_a_connection_whose_opening_was_stopped_is_opened_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    pool, node = network.pool, Node(6, THREE)
    network.hold = asyncio.Event()
    await outcomes(*_stopped(pool, node))
    assert (pool.opened(node), pool.requests) == (None, 0)
    network.hold.set()
    assert same(await soon(pool.connection(node)), network.made[0])
    # Nothing was sent on the other.
    assert (pool.requests, len(network.opened)) == (1, 2)
    await pool.close()


def _stopped(pool: Connections, node: Node) -> list[asyncio.Task[Any]]:
    """Tasks of which one waits for another, which is cancelled."""
    waiting = asyncio.create_task(pool.connection(node))

    async def stop() -> None:
        await asyncio.sleep(0)
        pool._connections[node.address].cancel()

    return [waiting, asyncio.create_task(stop())]


async def test_a_connection_that_failed_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    pool, node = network.pool, Node(4, ONE)
    network.lose(1)
    losses = await outcomes(*(asyncio.create_task(pool.connection(node)) for _ in range(2)))
    assert [told(lost) for lost in losses] == [("host:1", "nobody listens", 7, True, False)] * 2
    # Each has its own, which gathers no frames of the others.
    assert losses[0] is not losses[1]
    assert (pool.opened(node), pool.requests, len(network.opened)) == (None, 0, 1)
    network.fails.clear()
    assert same(await soon(pool.connection(node)), network.made[0])
    assert pool.requests == 1
    await pool.close()
    assert pool.requests == 1


async def test_the_first_bootstrap_server_that_answers_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    pool = network.pool
    network.lose(1)
    assert (await soon(pool.any())).node == Node(-1, TWO)
    assert network.opened == [Node(-1, ONE), Node(-1, TWO)]
    # One that is open is used; the next attempt begins where the last one succeeded.
    assert same(await soon(pool.any()), network.made[0])
    network.made[0].usable = False
    network.lose(2)
    assert (await soon(pool.any())).node == Node(-1, THREE)
    assert network.opened[2:] == [Node(-1, TWO), Node(-1, THREE)]
    await pool.close()


async def test_where_no_bootstrap_server_answers_all_are_named_with_why(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    network.lose(1)
    network.lose(2, "hung up")
    network.lose(3)
    with pytest.raises(LostError) as lost:
        await soon(network.pool.any())
    assert told(lost.value) == ("host:1, host:2, host:3", "nobody listens; hung up", 7, False, True)
    network.fails[2] = LostError("host:2", "hung up", code=13, sent=True)
    with pytest.raises(LostError) as mixed:
        await soon(network.pool.any())
    assert mixed.value.code == 13
    # Its order is as it was, as each was put last once.
    assert [node.address for node in network.pool._bootstrap] == [ONE, TWO, THREE]
    network.fails[1] = AuthenticationFailedError("no")
    with pytest.raises(AuthenticationFailedError, match=r"^no$"):
        await soon(network.pool.any())
    assert len(network.opened) == 7


# Brokers and losses.


def test_a_broker_is_shown_by_its_id_and_address() -> None:
    shown = {-2: "host:1", -1: "host:1", 0: "broker 0 (host:1)", 1: "broker 1 (host:1)", 7: "broker 7 (host:1)"}
    assert {node_id: str(Node(node_id, ONE)) for node_id in shown} == shown


def test_a_loss_is_made_again_as_it_was_or_as_one_that_was_not_sent() -> None:
    for sent in (False, True):
        for retriable in (False, True):
            lost = LostError("host:1", "hung up", code=58, sent=sent, retriable=retriable)
            again, unsent = lost.again(), lost.unsent()
            assert told(again) == told(lost) == ("host:1", "hung up", 58, sent, retriable)
            assert told(unsent) == ("host:1", "hung up", 58, False, retriable)
            assert len({id(lost), id(again), id(unsent)}) == 3
    assert LostError("host:1", "hung up", code=13, sent=True).retriable
