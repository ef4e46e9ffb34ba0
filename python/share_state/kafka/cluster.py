"""A cluster as a client sees it: one connection a broker, and which broker coordinates which share partition."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

from share_state._core import coordinator_key
from share_state.errors import ShareStateError
from share_state.kafka import codes
from share_state.kafka.connection import Connection, ConnectionOptions
from share_state.kafka.errors import BadAnswerError, class_of
from share_state.kafka.peers import Address, LostError, Node
from share_state.types import SharePartitionKey

__all__ = ["Cluster", "UnavailableError"]

_METADATA, _FIND_COORDINATOR, _READ_STATE = 3, 10, 84
#: FindCoordinator's key type of a share partition (KIP-932).
_SHARE: Final = 2
#: Keys of one FindCoordinator.
_MAX_KEYS: Final = 500
_ZERO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_LOG = logging.getLogger("share_state.kafka")


class UnavailableError(Exception):
    """A broker answered that there is no coordinator at the moment.

    Attributes:
        code: Kafka's code.
        node: the broker that said so.
    """

    def __init__(self, message: str, *, code: int, node: Node) -> None:
        super().__init__(message)
        self.code = code
        self.node = node


class Cluster:
    """Connections and coordinators. All of it lives on one event loop."""

    def __init__(self, bootstrap: Sequence[Address], options: ConnectionOptions) -> None:
        self._bootstrap = [Node(-1, address) for address in bootstrap]
        self._options = options
        self._connections: dict[Address, asyncio.Task[Connection]] = {}
        self._coordinators: dict[SharePartitionKey, Node] = {}
        self._asked: dict[SharePartitionKey, asyncio.Future[Node]] = {}
        self._lookups: set[asyncio.Task[None]] = set()
        self._requests = 0

    @property
    def requests(self) -> int:
        """Requests sent so far, of every kind."""
        return self._requests + sum(connection.requests for connection in self._open())

    def opened(self, node: Node) -> Connection | None:
        """Give the connection to a broker if there is one that can be used."""
        task = self._connections.get(node.address)
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        connection = task.result()
        return connection if connection.usable else None

    async def connection(self, node: Node) -> Connection:
        """Give the connection to a broker, opened when there is none.

        Raises:
            LostError: there is none, and another attempt may find one.
            KafkaPersisterError: there is none and will be none.
        """
        task = self._connections.get(node.address)
        if task is not None and task.done() and self.opened(node) is None:
            self._drop(node.address, task)
            task = None
        if task is None:
            task = asyncio.get_running_loop().create_task(Connection.open(node, self._options))
            self._connections[node.address] = task
        try:
            # Others wait for the same connection: who stops waiting does not stop the opening.
            return await asyncio.shield(task)
        except LostError as lost:
            raise lost.again() from None

    def known(self, key: SharePartitionKey) -> Node | None:
        """Give the broker that coordinates a share partition if it was looked up before."""
        return self._coordinators.get(key)

    async def coordinator(self, key: SharePartitionKey) -> Node:
        """Give the broker that coordinates a share partition. Keys that are asked for together go out in one request.

        Raises:
            LostError: no broker could be asked.
            UnavailableError: there is no coordinator at the moment.
            KafkaPersisterError: asking again does not help.
        """
        known = self._coordinators.get(key)
        if known is not None:
            return known
        asked = self._asked.get(key)
        if asked is None:
            loop = asyncio.get_running_loop()
            asked = self._asked[key] = loop.create_future()
            if len(self._asked) == 1:
                loop.call_soon(self._look_up)
        return await asyncio.shield(asked)

    def forget(self, key: SharePartitionKey) -> None:
        """Look the coordinator of a share partition up again when it is next needed."""
        self._coordinators.pop(key, None)

    async def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """Give the ids of topics, in base64; topics that do not exist are not among them.

        Raises:
            LostError: no broker could be asked.
            KafkaPersisterError: the broker refuses.
        """
        topics = [{"topicId": _ZERO_ID, "name": name} for name in names]
        asked = {"topics": topics, "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
        connection = await self._any()
        answer = await connection.request(_METADATA, asked)
        found = {}
        for topic in answer["topics"]:
            code = topic["errorCode"]
            if code == codes.NONE:
                found[topic["name"]] = topic["topicId"]
            elif code != codes.UNKNOWN_TOPIC_OR_PARTITION:
                message = f"{connection.node}: topic {topic['name']!r}: code {code} ({codes.name_of(code)})"
                raise class_of(code)(message, kafka_code=code, node=str(connection.node))
        return found

    async def close(self) -> None:
        """Close every connection."""
        for lookup in list(self._lookups):
            lookup.cancel()
        tasks, self._connections = list(self._connections.values()), {}
        for task in tasks:
            task.cancel()
        for opened in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(opened, Connection):
                await opened.close()

    def _open(self) -> list[Connection]:
        done = [task for task in self._connections.values() if task.done() and not task.cancelled()]
        return [task.result() for task in done if task.exception() is None]

    def _drop(self, address: Address, task: asyncio.Task[Connection]) -> None:
        del self._connections[address]
        if not task.cancelled() and task.exception() is None:
            self._requests += task.result().requests

    async def _any(self) -> Connection:
        """Give a connection that is open, or the first bootstrap server that answers."""
        for connection in self._open():
            if connection.usable:
                return connection
        losses: list[LostError] = []
        for node in list(self._bootstrap):
            try:
                return await self.connection(node)
            except LostError as lost:
                losses.append(lost)
                # The next attempt begins with another server.
                self._bootstrap.append(self._bootstrap.pop(self._bootstrap.index(node)))
        nodes = ", ".join(lost.node for lost in losses)
        reasons = "; ".join(dict.fromkeys(lost.reason for lost in losses))
        raise LostError(nodes, reasons, code=codes.NETWORK_EXCEPTION, sent=False)

    def _look_up(self) -> None:
        """Ask for the keys that have come together in this turn of the loop."""
        asked, self._asked = self._asked, {}
        keys = list(asked)
        for start in range(0, len(keys), _MAX_KEYS):
            part = {key: asked[key] for key in keys[start : start + _MAX_KEYS]}
            task = asyncio.get_running_loop().create_task(self._ask(part))
            self._lookups.add(task)
            task.add_done_callback(self._lookups.discard)

    async def _ask(self, asked: dict[SharePartitionKey, asyncio.Future[Node]]) -> None:
        try:
            await self._find(asked)
        except LostError as lost:
            # What was sent changes nothing: it was not yet about a state.
            for waiting in asked.values():
                _settle(waiting, lost.unsent())
        except ShareStateError as refused:
            for waiting in asked.values():
                _settle(waiting, refused)
        finally:
            # Nobody is left waiting, even by a bug.
            for waiting in asked.values():
                waiting.cancel()

    async def _find(self, asked: dict[SharePartitionKey, asyncio.Future[Node]]) -> None:
        connection = await self._any()
        # Kafka 4.0 has the look-up and none of the requests that come behind it, and answers the look-up with INVALID_REQUEST.
        connection.version_of(_READ_STATE)
        texts = {coordinator_key(*key): key for key in asked}
        answer = await connection.request(_FIND_COORDINATOR, {"keyType": _SHARE, "coordinatorKeys": list(texts)})
        for found in answer["coordinators"]:
            key = texts.pop(found["key"], None)
            if key is not None:
                self._found(key, asked[key], found, connection.node)
        for text, key in texts.items():
            message = f"{connection.node}: the answer to FindCoordinator lacks {text!r}"
            _settle(asked[key], BadAnswerError(message, node=str(connection.node), key=key))

    def _found(self, key: SharePartitionKey, asked: asyncio.Future[Node], found: dict[str, Any], by: Node) -> None:
        code = found["errorCode"]
        if code == codes.NONE:
            node = Node(found["nodeId"], Address(found["host"], found["port"]))
            self._coordinators[key] = node
            _LOG.debug("%s coordinates %r", node, key)
            if not asked.done():
                asked.set_result(node)
            return
        said = found["errorMessage"] or "no reason given"
        message = f"{by}: no coordinator for {key!r}: code {code} ({codes.name_of(code)}): {said}"
        if code in codes.RETRIABLE:
            _settle(asked, UnavailableError(message, code=code, node=by))
        else:
            _settle(asked, class_of(code)(message, kafka_code=code, node=str(by), key=key))


def _settle(asked: asyncio.Future[Node], error: Exception) -> None:
    if not asked.done():
        asked.set_exception(error)
        # Whoever waits gets it; whoever has stopped waiting has nothing to be told.
        asked.exception()
