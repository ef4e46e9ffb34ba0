"""A cluster as a persister sees it: which broker coordinates which share partition."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from share_state._core import coordinator_key
from share_state.errors import ShareStateError
from share_state.kafka import codes
from share_state.kafka.client.apis import FIND_COORDINATOR, METADATA, READ_STATE, VERSIONS, spoken_since
from share_state.kafka.client.configs import Resource, describe_configs
from share_state.kafka.client.connection import Connection, ConnectionOptions
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.coordinators import KEYS_AT_ONCE, OF_SHARE_PARTITIONS, Coordinator, find_coordinators
from share_state.kafka.client.metadata import by_name, metadata_message
from share_state.kafka.client.peers import Address, LostError, Node
from share_state.kafka.errors import BadAnswerError, class_of
from share_state.types import SharePartitionKey

__all__ = ["NEEDED", "Cluster", "UnavailableError"]

#: Versions that a persister needs: topics by their ids, coordinators of share partitions.
NEEDED: Final = spoken_since({METADATA: 12, FIND_COORDINATOR: 6, VERSIONS: 3})
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
        self._connections = Connections(bootstrap, options)
        self._coordinators: dict[SharePartitionKey, Node] = {}
        self._asked: dict[SharePartitionKey, asyncio.Future[Node]] = {}
        self._lookups: set[asyncio.Task[None]] = set()

    @property
    def requests(self) -> int:
        """Requests sent so far, of every kind."""
        return self._connections.requests

    def opened(self, node: Node) -> Connection | None:
        """Return the connection to a broker if there is one that can be used."""
        return self._connections.opened(node)

    async def connection(self, node: Node) -> Connection:
        """Return the connection to a broker, opened if there is none. See :meth:`Connections.connection`."""
        return await self._connections.connection(node)

    def known(self, key: SharePartitionKey) -> Node | None:
        """Return the broker that coordinates a share partition if it was looked up before."""
        return self._coordinators.get(key)

    async def coordinator(self, key: SharePartitionKey) -> Node:
        """Return the broker that coordinates a share partition. Keys that are asked for together go out in one request.

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
        """Return the ids of topics, in base64; topics that do not exist are not among them.

        Raises:
            LostError: no broker could be asked.
            KafkaPersisterError: the broker refuses.
        """
        connection = await self._connections.any()
        answer = await connection.request(METADATA, metadata_message(by_name(names)))
        found = {}
        for topic in answer["topics"]:
            code = topic["errorCode"]
            if code == codes.NONE:
                found[topic["name"]] = topic["topicId"]
            elif code != codes.UNKNOWN_TOPIC_OR_PARTITION:
                message = f"{connection.node}: topic {topic['name']!r}: code {code} ({codes.name_of(code)})"
                raise class_of(code)(message, kafka_code=code, node=str(connection.node))
        return found

    async def topic_config(self, topic: str, name: str) -> str | None:
        """Return one configuration of a topic as text, or ``None`` if the broker has no value of this name.

        Raises:
            LostError: no broker could be asked.
            BrokerTooOldError: the broker does not have the request.
            KafkaPersisterError: the broker refuses.
        """
        connection = await self._connections.any()
        told = (await describe_configs(connection, Resource.TOPIC, [topic], [name])).get(topic)
        if told is not None and told.error_code != codes.NONE:
            message = f"{connection.node}: topic {topic!r}: code {told.error_code} ({codes.name_of(told.error_code)})"
            raise class_of(told.error_code)(message, kafka_code=told.error_code, node=str(connection.node))
        return None if told is None else told.values.get(name)

    async def close(self) -> None:
        """Close every connection."""
        for lookup in list(self._lookups):
            lookup.cancel()
        await self._connections.close()

    def _look_up(self) -> None:
        """Ask for the keys that have come together in this turn of the loop."""
        asked, self._asked = self._asked, {}
        keys = list(asked)
        for start in range(0, len(keys), KEYS_AT_ONCE):
            part = {key: asked[key] for key in keys[start : start + KEYS_AT_ONCE]}
            task = asyncio.get_running_loop().create_task(self._ask(part))
            self._lookups.add(task)
            task.add_done_callback(self._lookups.discard)

    async def _ask(self, asked: dict[SharePartitionKey, asyncio.Future[Node]]) -> None:
        try:
            await self._find(asked)
        except LostError as lost:
            # What was sent changes nothing: it was not yet about a state.
            _settle_all(asked, lost.unsent())
        except ShareStateError as refused:
            _settle_all(asked, refused)
        except Exception as bug:
            # Nobody is left waiting, even by a bug.
            _settle_all(asked, bug)
            raise
        finally:
            for waiting in asked.values():
                waiting.cancel()

    async def _find(self, asked: dict[SharePartitionKey, asyncio.Future[Node]]) -> None:
        connection = await self._connections.any()
        # Kafka 4.0 has the look-up and none of the requests that come after it, and answers the look-up with INVALID_REQUEST.
        connection.version_of(READ_STATE)
        texts = {coordinator_key(*key): key for key in asked}
        answer = await find_coordinators(connection, OF_SHARE_PARTITIONS, list(texts))
        for text, key in texts.items():
            found = answer.get(text)
            if found is not None:
                self._found(key, asked[key], found, connection.node)
                continue
            message = f"{connection.node}: the answer to FindCoordinator lacks {text!r}"
            _settle(asked[key], BadAnswerError(message, node=str(connection.node), key=key))

    def _found(self, key: SharePartitionKey, asked: asyncio.Future[Node], found: Coordinator, by: Node) -> None:
        code = found.error_code
        if code == codes.NONE:
            self._coordinators[key] = found.node
            _LOG.debug("%s coordinates %r", found.node, key)
            if not asked.done():
                asked.set_result(found.node)
            return
        said = found.said or "no reason given"
        message = f"{by}: no coordinator for {key!r}: code {code} ({codes.name_of(code)}): {said}"
        if code in codes.RETRIABLE:
            _settle(asked, UnavailableError(message, code=code, node=by))
        else:
            _settle(asked, class_of(code)(message, kafka_code=code, node=str(by), key=key))


def _settle_all(asked: dict[SharePartitionKey, asyncio.Future[Node]], error: Exception) -> None:
    for waiting in asked.values():
        _settle(waiting, error)


def _settle(asked: asyncio.Future[Node], error: Exception) -> None:
    if not asked.done():
        asked.set_exception(error)
        # Whoever waits gets it; whoever has stopped waiting has nothing to be told.
        asked.exception()
