"""Stand-ins for the connections of a cluster: each request is encoded, kept, and answered with what a test gives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

import share_state as ss
from share_state.kafka import cluster as module
from share_state.kafka.client.apis import API_VERSIONS
from share_state.kafka.client.peers import Address, Node
from share_state.kafka.cluster import Cluster

BROKER = Node(1, Address("one", 9092))
#: An answer, or what the request ends with.
Answer = Callable[[dict[str, Any]], dict[str, Any]]


class Connections:
    """Stands for `Connections`: one broker that answers."""

    def __init__(self, *_: object) -> None:
        self.node = BROKER
        self.requests = 0
        self.asked: list[tuple[int, dict[str, Any]]] = []
        self.answer: Answer = lambda _: {}
        self.is_closed = False
        self.held: asyncio.Event | None = None

    async def any(self) -> Connections:
        return self

    async def connection(self, node: Node) -> tuple[str, Node]:
        return "connection", node

    def opened(self, node: Node) -> tuple[str, Node]:
        return "opened", node

    def version_of(self, api_key: int) -> int:
        return API_VERSIONS[api_key][1]

    async def request(self, api_key: int, message: dict[str, Any]) -> dict[str, Any]:
        version = self.version_of(api_key)
        sent = ss.encode_message(api_key, version, message)
        self.asked.append((api_key, ss.decode_message(api_key, version, sent)))
        if self.held is not None:
            await self.held.wait()
        answered = ss.encode_message(api_key, version, self.answer(message), response=True)
        return ss.decode_message(api_key, version, answered, response=True)

    async def close(self) -> None:
        self.is_closed = True


def cluster(monkeypatch: pytest.MonkeyPatch) -> tuple[Cluster, Connections]:
    """A cluster of one broker, and the stand-in for its connections."""
    monkeypatch.setattr(module, "Connections", Connections)
    made = Cluster([], cast("Any", None))
    return made, cast("Connections", made._connections)
