"""Client of one cluster: its brokers, as of the last answer that told them, and connections to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from share_state.kafka.client.apis import METADATA
from share_state.kafka.client.connection import Connection, ConnectionOptions
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.metadata import metadata_message, nodes_of
from share_state.kafka.client.offsets import Found, OffsetQuestion, list_offsets
from share_state.kafka.client.peers import Address, LostError, Node
from share_state.kafka.errors import KafkaPersisterError

__all__ = ["MAX_FRAME", "Client", "UnansweredError"]

#: Bytes of an answer to Fetch, and one batch that is larger.
MAX_FRAME: Final = 256 << 20

#: No broker could be asked, or one has refused.
UnansweredError = (LostError, KafkaPersisterError)


class Client:
    """Asks a cluster. All of it lives on one event loop.

    Args:
        bootstrap: addresses of some brokers.
        options: of the connections.
    """

    def __init__(self, bootstrap: Sequence[Address], options: ConnectionOptions) -> None:
        self._bootstrap = list(bootstrap)
        self._options = options
        self._control = Connections(bootstrap, options)
        self._nodes: dict[int, Node] = {}

    def connections(self) -> Connections:
        """Make connections for somebody who closes them again: what waits for new records holds up no question."""
        addresses = [node.address for node in self._nodes.values()] + self._bootstrap
        return Connections(list(dict.fromkeys(addresses)), self._options)

    def node(self, node_id: int) -> Node | None:
        """Return a broker by its id, as of the last question for topics."""
        return self._nodes.get(node_id)

    def nodes(self) -> list[Node]:
        """Return every broker, as of the last question for topics."""
        return list(self._nodes.values())

    async def any(self) -> Connection:
        """Return a connection to any broker. See :meth:`Connections.any`."""
        return await self._control.any()

    async def connection(self, node: Node) -> Connection:
        """Return the connection to a broker. See :meth:`Connections.connection`."""
        return await self._control.connection(node)

    async def metadata(self, topics: list[dict[str, Any]] | None, *, operations: bool = False) -> dict[str, Any]:
        """Ask for topics, and for the brokers; the arguments are those of :func:`metadata_message`.

        Raises:
            UnansweredError: no broker could be asked.
        """
        answer = await (await self.any()).request(METADATA, metadata_message(topics, operations=operations))
        self._nodes = nodes_of(answer)
        return answer

    async def offsets(
        self, asked: Mapping[Node, Iterable[OffsetQuestion]], *, isolation: int = 0
    ) -> dict[tuple[str, int], Found]:
        """Ask brokers about the partitions that they lead; what one is asked that cannot be reached has the code of that.

        Raises:
            KafkaPersisterError: a broker refuses.
        """

        async def ask(node: Node, some: list[OffsetQuestion]) -> dict[tuple[str, int], Found]:
            try:
                return await list_offsets(await self.connection(node), some, isolation=isolation)
            except LostError as lost:
                return {(one.topic, one.partition): Found(lost.code, -1) for one in some}

        answers = await asyncio.gather(*(ask(node, list(some)) for node, some in asked.items()))
        return {place: found for answer in answers for place, found in answer.items()}

    async def close(self) -> None:
        """Close every connection."""
        await self._control.close()
