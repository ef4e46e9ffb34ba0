"""Connections to the brokers of a cluster: one each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from share_state.kafka import codes
from share_state.kafka.client.connection import Connection, ConnectionOptions
from share_state.kafka.client.peers import Address, LostError, Node
from share_state.util.closing import cancel_all

__all__ = ["Connections"]


class Connections:
    """Connections to the brokers, each opened when it is first needed. All of it lives on one event loop."""

    def __init__(self, bootstrap: Sequence[Address], options: ConnectionOptions) -> None:
        self._bootstrap = [Node(-1, address) for address in bootstrap]
        self._options = options
        self._connections: dict[Address, asyncio.Task[Connection]] = {}
        self._requests = 0

    @property
    def requests(self) -> int:
        """Requests sent so far, of every kind."""
        return self._requests + sum(connection.requests for connection in self._open())

    def opened(self, node: Node) -> Connection | None:
        """Return the connection to a broker if there is one that can be used."""
        task = self._connections.get(node.address)
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        connection = task.result()
        return connection if connection.usable else None

    async def connection(self, node: Node) -> Connection:
        """Return the connection to a broker, opened if there is none.

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

    async def any(self) -> Connection:
        """Return a connection that is open, or the first bootstrap server that answers.

        Raises:
            LostError: no bootstrap server answers.
            KafkaPersisterError: one answers and will go on to refuse us.
        """
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
        late = {lost.code for lost in losses} == {codes.REQUEST_TIMED_OUT}
        raise LostError(nodes, reasons, code=codes.REQUEST_TIMED_OUT if late else codes.NETWORK_EXCEPTION, sent=False)

    async def close(self) -> None:
        """Close every connection."""
        tasks, self._connections = list(self._connections.values()), {}
        for opened in await cancel_all(tasks):
            if isinstance(opened, Connection):
                self._requests += opened.requests
                await opened.close()

    def _open(self) -> list[Connection]:
        done = [task for task in self._connections.values() if task.done() and not task.cancelled()]
        return [task.result() for task in done if task.exception() is None]

    def _drop(self, address: Address, task: asyncio.Task[Connection]) -> None:
        del self._connections[address]
        if not task.cancelled() and task.exception() is None:
            self._requests += task.result().requests
