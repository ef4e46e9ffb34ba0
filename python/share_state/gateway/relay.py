"""Requests that are none of the gateway's, passed on to the one upstream broker as they are.

With it one bootstrap address serves a whole test suite: producers, topic administration, transactions, ordinary consumer
groups. It is for an upstream of one broker, because a request is passed on and not taken apart.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Callable
from typing import Any, Final

from share_state._core import decode_message, encode_message
from share_state.errors import WireDecodeError
from share_state.gateway.counts import Counts
from share_state.gateway.group_kinds import refusal_of
from share_state.gateway.net import Net
from share_state.gateway.opaque_answers import error_answer
from share_state.gateway.options import GatewayOptions
from share_state.gateway.requests import Client
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.topics import TopicRegistry
from share_state.kafka import codes
from share_state.kafka.client.apis import FETCH, FIND_COORDINATOR, OFFSET_FOR_LEADER_EPOCH
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.peers import LostError, Node
from share_state.kafka.framing import is_flexible, request_of

__all__ = ["Relay"]

_LOG: Final = logging.getLogger("share_state.gateway.relay")
_CORRELATION: Final = struct.Struct(">i")
_KEY: Final = struct.Struct(">h")
#: Of a request, where its correlation id stands.
_AT: Final = 4
_SASL: Final = frozenset({17, 36})
_PRODUCE: Final = 0
_LANE: Final = "relay"
#: Seconds that upstream may take for an answer. A JoinGroup waits for the other members (``max.poll.interval.ms``), for
#: minutes or longer. A client with less patience closes its connection, and so that to upstream.
_PATIENCE: Final = 3600.0
#: CreateTopics, DeleteTopics, CreatePartitions.
_OF_TOPICS: Final = frozenset({19, 20, 37})
_WITH_EPOCHS: Final = frozenset({FETCH, OFFSET_FOR_LEADER_EPOCH})
#: The newest Produce and Fetch that name topics; later ones have ids, which the gateway may have made up.
_BY_NAME: Final = {0: 12, 1: 12}

#: What is answered while upstream is away, so that clients look for it again: of partitions that it leads, of what it
#: coordinates, of producer ids. Other requests have timed out.
_AWAY: Final = {
    **dict.fromkeys((0, 1, 21, 23), codes.NOT_LEADER_OR_FOLLOWER),
    **dict.fromkeys((8, 9, 11, 12, 13, 14, 24, 25, 26, 28, 47, 65, 68, 69, 88, 89), codes.NOT_COORDINATOR),
    22: codes.COORDINATOR_LOAD_IN_PROGRESS,
}


class Relay:
    """Passes frames on, each client's over its own connection, so that they stay in order.

    Args:
        upstream: the cluster.
        registry: whose ids clients use.
        options: settings.
        counts: where errors are counted.
        net: catches what is raised.
    """

    def __init__(self, upstream: Upstream, registry: TopicRegistry, options: GatewayOptions, *, counts: Counts, net: Net) -> None:
        self._counts = counts
        self._net = net
        self._upstream = upstream
        self._registry = registry
        self._address = options.upstream[0]
        self._elements = options.limits.elements
        #: Called when a request may have changed topics.
        self.topics_changed: Callable[[], None] = lambda: None
        self._clients: dict[int, Connections] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self.requests = 0
        #: Says whether a name is that of a share group, which no other kind of group may have.
        self.is_share_group: Callable[[str], bool] = lambda _group: False

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
        """Pass a request on and give the answer; ``None`` ends the connection, where no answer can say what is wrong.

        Raises:
            WireDecodeError: the request cannot be read, as far as it has to be.
        """
        self.requests += 1
        (api_key,) = _KEY.unpack_from(payload)
        try:
            refusal = refusal_of(payload, self.is_share_group)
            answer = await self._passed_on(client, payload) if refusal is None else refusal
        except UpstreamError as lost:
            _LOG.warning("a request was not forwarded: %s: %s", lost, client)
            return self.refuse(payload, _AWAY.get(api_key, codes.REQUEST_TIMED_OUT), client)
        except WireDecodeError:
            raise
        except Exception as wrong:  # noqa: BLE001  the connection lives
            return self.refuse(payload, self._net.caught(wrong, client, api_key, None), client)
        if api_key in _OF_TOPICS:
            self.topics_changed()
        return answer

    def refuse(self, payload: bytes, code: int, client: Client) -> bytes | None:
        """Return the answer of an error to a request; ``None`` ends the connection, where the gateway has no form for it.

        Raises:
            WireDecodeError: the request cannot be read.
        """
        (api_key,) = _KEY.unpack_from(payload)
        self._counts.request_errors[api_key, code] += 1
        answer = error_answer(payload, code)
        if answer is None:
            _LOG.warning("closed a connection: no answer to request %d can say error %d: %s", api_key, code, client)
        return answer

    async def _passed_on(self, client: Client, payload: bytes) -> bytes:
        connections = self._clients.get(client.connection_id)
        if connections is None:
            connections = self._clients[client.connection_id] = self._upstream.connections(request_timeout=_PATIENCE)
        connection = await connections.connection(Node(-1, self._address))
        return await _pass_on(connection, _without_epochs(payload, self._elements))

    async def ask(self, api_key: int, message: dict[str, Any]) -> dict[str, Any]:
        """Ask upstream something that the gateway needs to know itself.

        Raises:
            LostError, KafkaPersisterError: it cannot be asked.
        """
        connection = await self._upstream.lane(_LANE).connection(Node(-1, self._address))
        return await connection.request(api_key, message)

    async def find_coordinator(self, key_type: int, key: str) -> int:
        """Ask upstream for a coordinator; returns its code.

        Where it is does not matter, there is one broker; but upstream makes the topic that a coordinator keeps its state in
        only when it is asked for one.

        Raises:
            LostError, KafkaPersisterError: it cannot be asked.
        """
        answer = await self.ask(FIND_COORDINATOR, {"key": key, "keyType": key_type, "coordinatorKeys": [key]})
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


def _without_epochs(payload: bytes, elements: int) -> bytes:
    """Take the leader epochs out of a Fetch or OffsetForLeaderEpoch: clients know those of the gateway, not those upstream."""
    (api_key,) = _KEY.unpack_from(payload)
    if api_key not in _WITH_EPOCHS:
        return payload
    request = request_of(payload)
    message = decode_message(api_key, request.version, request.body, trailing=True, max_elements=elements)
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
