"""Brokers that answer Metadata and nothing else: what each says is up to a test, and every request is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from share_state._core import encode_message
from share_state.gateway.upstream import cluster as module
from share_state.gateway.upstream.cluster import Upstream
from share_state.gateway.upstream.topics import TopicRegistry
from share_state.kafka.client.connection import ConnectionOptions
from share_state.kafka.client.peers import Address, LostError, Node
from tests.gateway.wire.codec import Message, decode

METADATA = 3
#: Ids of topics as the gateway has them.
ONE, TWO, THREE, NONE = (f"AAAAAAAAAAAAAAAAAAAAA{last}" for last in "QgwA")


def topic(name: str | None, topic_id: str, *partitions: tuple[int, int], code: int = 0, internal: bool = False) -> Message:
    """A topic in an answer; of each partition its leader and the leader's epoch."""
    rows = [{"partitionIndex": at, "leaderId": leader, "leaderEpoch": epoch} for at, (leader, epoch) in enumerate(partitions)]
    return {"errorCode": code, "name": name, "topicId": topic_id, "isInternal": internal, "partitions": rows}


class _Connection:
    def __init__(self, brokers: Brokers, node: Node) -> None:
        self.brokers = brokers
        self.node = node

    def version_of(self, api_key: int) -> int:
        return {METADATA: self.brokers.version}[api_key]

    async def request(self, api_key: int, message: Message) -> Message:
        assert api_key == METADATA
        version = self.brokers.version
        number = self.node.address.port
        if number in self.brokers.deaf:
            raise LostError(str(self.node), "it hung up", code=13, sent=True)
        self.brokers.asked.append((number, decode(METADATA, version, encode_message(METADATA, version, message))))
        return self.brokers.answer(number, message["topics"])


class Pool:
    """Stands for `Connections`."""

    def __init__(self, brokers: Brokers, addresses: Sequence[Address], options: ConnectionOptions) -> None:
        self.brokers = brokers
        self.addresses = [address.port for address in addresses]
        self.options = options
        self.is_closed = False
        brokers.pools.append(self)

    async def any(self) -> _Connection:
        assert not self.is_closed
        # Others have their turn meanwhile.
        await asyncio.sleep(0)
        for port in self.addresses:
            if port in self.brokers.up:
                return _Connection(self.brokers, Node(port, Address("host", port)))
        raise LostError("host:1, host:2", "nobody listens", code=13, sent=False)

    async def connection(self, node: Node) -> _Connection:
        assert not self.is_closed
        if node.address.port not in self.brokers.up:
            raise LostError(str(node), "nobody listens", code=13, sent=False)
        return _Connection(self.brokers, node)

    async def close(self) -> None:
        self.is_closed = True


class Brokers:
    """Two brokers at ports 1 and 2, of which the first is asked first, and an `Upstream` of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path, *, version: int = 12, count: int = 2) -> None:
        self.version = version
        self.up = set(range(1, count + 1))
        self.deaf: set[int] = set()
        self.asked: list[tuple[int, Message]] = []
        self.pools: list[Pool] = []
        #: Topics that each broker knows.
        self.topics: dict[int, list[Message]] = {number: [] for number in self.up}
        #: Arguments of the calls of `changed`.
        self.gone: list[list[str]] = []
        monkeypatch.setattr(module, "Connections", lambda *given: Pool(self, *given))
        self.registry = TopicRegistry(path)
        self.upstream = Upstream([Address("host", 1)], cast("Any", "security"), self.registry)
        self.upstream.changed = self.gone.append

    def have(self, *topics: Message, only: int | None = None) -> None:
        """Say what all brokers know from now on, or only one of them."""
        for number in self.topics if only is None else [only]:
            self.topics[number] = list(topics)

    def answer(self, number: int, wanted: list[Message] | None) -> Message:
        """Answer of a broker."""
        brokers = [{"nodeId": node + 10, "host": "host", "port": node} for node in self.topics]
        known = self.topics[number]
        if wanted is None:
            return {"brokers": brokers, "topics": known}
        rows = [self._one(known, one) for one in wanted]
        return {"brokers": brokers, "topics": rows}

    def _one(self, known: list[Message], wanted: Message) -> Message:
        name, topic_id = wanted["name"], wanted["topicId"]
        if name is None:
            found = [row for row in known if row["topicId"] == topic_id]
        else:
            found = [row for row in known if row["name"] == name]
        row = found[0] if found else topic(name, topic_id, code=100 if name is None else 3)
        return row if self.version >= 10 else {key: value for key, value in row.items() if key != "topicId"}


def run(
    monkeypatch: pytest.MonkeyPatch, path: Path, test: Callable[[Brokers], Coroutine[Any, Any, None]], **options: int
) -> None:
    """Run a test with brokers of its own."""

    async def whole() -> None:
        brokers = Brokers(monkeypatch, path, **options)
        await test(brokers)
        await brokers.upstream.close()
        assert all(pool.is_closed for pool in brokers.pools)

    asyncio.run(whole())
