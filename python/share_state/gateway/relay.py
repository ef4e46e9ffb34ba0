"""Requests that are none of the gateway's, passed on to the one upstream broker as they are.

With it one bootstrap address serves a whole test suite: producers, topic administration, transactions, ordinary consumer
groups. It is for an upstream of one broker, because a request is passed on and not taken apart.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from typing import Final

from share_state._core import decode_message, encode_message
from share_state.gateway.options import GatewayOptions
from share_state.gateway.requests import Client
from share_state.gateway.upstream.apis import FETCH, FIND_COORDINATOR, OFFSET_FOR_LEADER_EPOCH
from share_state.gateway.upstream.cluster import Upstream
from share_state.gateway.upstream.topics import TopicRegistry
from share_state.kafka.connection import Connection
from share_state.kafka.connections import Connections
from share_state.kafka.framing import is_flexible, request_of
from share_state.kafka.peers import LostError, Node

__all__ = ["Relay"]

_LOG: Final = logging.getLogger("share_state.gateway.relay")
_CORRELATION: Final = struct.Struct(">i")
_KEY: Final = struct.Struct(">h")
#: Of a request, where its correlation id stands.
_AT: Final = 4
_SASL: Final = frozenset({17, 36})
_PRODUCE: Final = 0
_LANE: Final = "relay"
_WITH_EPOCHS: Final = frozenset({FETCH, OFFSET_FOR_LEADER_EPOCH})
#: The newest Produce and Fetch that name topics; later ones have ids, which the gateway may have made up.
_BY_NAME: Final = {0: 12, 1: 12}


class Relay:
    """Passes frames on, each client's over its own connection, so that they stay in order.

    Args:
        upstream: the cluster.
        registry: whose ids clients use.
        options: settings.
    """

    def __init__(self, upstream: Upstream, registry: TopicRegistry, options: GatewayOptions) -> None:
        self._upstream = upstream
        self._registry = registry
        self._address = options.upstream[0]
        self._clients: dict[int, Connections] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self.requests = 0

    async def versions(self) -> dict[int, tuple[int, int]]:
        """Return what upstream takes.

        Raises:
            LostError, KafkaPersisterError: it cannot be asked.
        """
        connection = await self._upstream.lane(_LANE).connection(Node(-1, self._address))
        found = {key: versions for key, versions in connection.offered.items() if key not in _SASL}
        if self._registry.has_made_up_ids:
            found |= {key: (found[key][0], min(found[key][1], newest)) for key, newest in _BY_NAME.items() if key in found}
        return found

    async def respond(self, client: Client, payload: bytes) -> bytes | None:
        """Pass a request on and give the answer; ``None`` if upstream has closed the connection."""
        self.requests += 1
        connections = self._clients.get(client.connection_id)
        if connections is None:
            connections = self._clients[client.connection_id] = self._upstream.connections()
        try:
            connection = await connections.connection(Node(-1, self._address))
            return await _pass_on(connection, _without_epochs(payload))
        except LostError as lost:
            _LOG.warning("a request was not forwarded: %s: %s", lost, client)
            return None

    async def find_coordinator(self, key_type: int, key: str) -> int:
        """Ask upstream for a coordinator; returns its code.

        Where it is does not matter, there is one broker; but upstream makes the topic that a coordinator keeps its state in
        only when it is asked for one.

        Raises:
            LostError, KafkaPersisterError: it cannot be asked.
        """
        connection = await self._upstream.lane(_LANE).connection(Node(-1, self._address))
        answer = await connection.request(FIND_COORDINATOR, {"key": key, "keyType": key_type, "coordinatorKeys": [key]})
        rows = answer.get("coordinators")
        return int(answer["errorCode"] if rows is None else rows[0]["errorCode"])

    def gone(self, client: Client) -> None:
        """Close what was opened for a client."""
        connections = self._clients.pop(client.connection_id, None)
        if connections is not None:
            task = asyncio.get_running_loop().create_task(connections.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close every connection."""
        clients, self._clients = list(self._clients.values()), {}
        await asyncio.gather(*(connections.close() for connections in clients), *self._closing)


def _without_epochs(payload: bytes) -> bytes:
    """Take the leader epochs out of a Fetch or OffsetForLeaderEpoch: clients know those of the gateway, not those upstream."""
    (api_key,) = _KEY.unpack_from(payload)
    if api_key not in _WITH_EPOCHS:
        return payload
    request = request_of(payload)
    message = decode_message(api_key, request.version, request.body, trailing=True)
    for topic in message["topics"]:
        for partition in topic["partitions"]:
            partition["currentLeaderEpoch"] = -1
    return payload[: len(payload) - len(request.body)] + encode_message(api_key, request.version, message)


def _is_unanswered(payload: bytes) -> bool:
    """Whether it is a Produce with ``acks=0``, the one request that no broker answers."""
    if int.from_bytes(payload[:2], "big") != _PRODUCE:
        return False
    request = request_of(payload)
    width = 1 if is_flexible(_PRODUCE, request.version) else 2
    # The transactional id stands before the acks; who has one asks for acks.
    null = bytes([0]) if width == 1 else b"\xff\xff"
    return request.body[:width] == null and request.body[width : width + 2] == b"\0\0"


async def _pass_on(connection: Connection, payload: bytes) -> bytes:
    answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def done(what: bytes | LostError) -> None:
        if answered.done():
            return
        if isinstance(what, LostError):
            answered.set_exception(what)
        else:
            answered.set_result(what)

    if _is_unanswered(payload):
        connection.send_frame(payload, None)
        return b""
    connection.send_frame(payload, done)
    answer = await answered
    return _CORRELATION.pack(len(answer)) + payload[_AT : _AT + _CORRELATION.size] + answer[_CORRELATION.size :]
