"""Many share partitions in one request (Kafka: ``PersisterStateManager``).

Calls to one broker, of one RPC and for one group, queue up while such a request is in progress, and go out as one request
when it is answered. With a long queue, two requests are in progress, so that the broker handles one while the client
distributes the answers of the other. Different RPCs and groups do not wait for each other: their requests follow one
another on the connection without a pause.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from share_state._core import decode_message, decode_write_results, encode_message, encode_write_states
from share_state.errors import ShareStateError
from share_state.kafka import codes
from share_state.kafka.call import Call
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.peers import LostError, Node
from share_state.kafka.cluster import Cluster
from share_state.util.closing import cancel_all

__all__ = ["Folding"]

#: Maximum size of a request; a single share partition always fits.
MAX_PARTITIONS: Final = 1000
MAX_BYTES: Final = 1 << 20
#: A second request goes out after one that is in progress once it has so many share partitions. With fewer the pause costs
#: less than a request does.
SECOND_FROM: Final = 64
_WRITE: Final = 85

#: A share partition's topic id and number, then Kafka's code, the text with it, and the whole element of the answer, which a
#: write does without.
_Results = Iterable[tuple[str, int, int, str | None, dict[str, Any]]]


class _Lane:
    """The queue for one broker, RPC and group."""

    __slots__ = ("api_key", "group", "node", "requests", "turn", "waiting")

    def __init__(self, node: Node, api_key: int, group: str) -> None:
        self.node = node
        self.api_key = api_key
        self.group = group
        self.waiting: deque[Call] = deque()
        #: Number of requests in progress.
        self.requests = 0
        #: True while the next request is about to be sent, or waits for a connection.
        self.turn = False


class Folding:
    """The queues, one for each broker, RPC and group.

    Args:
        cluster: gives the connections.
        answered: called with a call, Kafka's code, the text with it and the element of the answer.
        failed: called with a call that was not answered, and why.
    """

    def __init__(
        self,
        cluster: Cluster,
        answered: Callable[[Call, int, str | None, dict[str, Any]], None],
        failed: Callable[[Call, LostError | ShareStateError], None],
    ) -> None:
        self._cluster = cluster
        self._answered = answered
        self._failed = failed
        #: A queue exists while a request of its kind is in progress or about to be sent.
        self._lanes: dict[tuple[Node, int, str], _Lane] = {}
        self._connecting: set[asyncio.Task[None]] = set()

    def submit(self, node: Node, call: Call) -> None:
        """Queue ``call`` for the next request to ``node``; it must be the only one of its key."""
        api_key, group = call.operation.api_key, call.operation.key.group
        lane = self._lanes.get((node, api_key, group))
        if lane is None:
            lane = self._lanes[node, api_key, group] = _Lane(node, api_key, group)
        lane.waiting.append(call)
        self._go_on(lane)

    async def close(self) -> None:
        """Stop opening connections."""
        await cancel_all(self._connecting)

    def _send(self, lane: _Lane) -> None:
        while lane.waiting and lane.waiting[0].over:
            lane.waiting.popleft()
        if not lane.waiting:
            # Nobody is left who needs a connection, and where the persister was closed, nobody would close it.
            lane.turn = False
            self._go_on(lane)
            return
        connection = self._cluster.opened(lane.node)
        if connection is not None:
            self._send_on(connection, lane)
            return
        task = asyncio.get_running_loop().create_task(self._connect(lane))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, lane: _Lane) -> None:
        try:
            connection = await self._cluster.connection(lane.node)
        except (LostError, ShareStateError) as error:
            # It is that of all who wait for the connection.
            failed = list(lane.waiting)
            lane.waiting.clear()
            lane.turn = False
            self._fail(failed, error)
            self._go_on(lane)
            return
        self._send_on(connection, lane)

    def _send_on(self, connection: Connection, lane: _Lane) -> None:
        lane.turn = False
        waiting = len(lane.waiting)
        in_two = lane.requests == 0 and waiting >= 2 * SECOND_FROM
        batch = _take(lane.waiting, waiting // 2 if in_two else MAX_PARTITIONS)
        if not batch:
            self._go_on(lane)
            return

        def done(results: _Results | LostError) -> None:
            lane.requests -= 1
            if isinstance(results, LostError):
                self._fail(batch, results)
            else:
                self._hand_out(lane, batch, results)
            self._go_on(lane)

        try:
            version = connection.version_of(lane.api_key)
            connection.send(lane.api_key, version, _encode(lane, version, batch), _decoder(lane.api_key), done)
        except (LostError, ShareStateError) as error:
            self._fail(batch, error)
        else:
            lane.requests += 1
            for call in batch:
                call.sent = True
        self._go_on(lane)

    def _go_on(self, lane: _Lane) -> None:
        """See to it that what waits is sent when it is due."""
        if lane.turn:
            return
        waiting = len(lane.waiting)
        if waiting > 0 if lane.requests == 0 else lane.requests == 1 and waiting >= SECOND_FROM:
            # Not at once, so that what is asked in this turn of the loop goes with it.
            lane.turn = True
            asyncio.get_running_loop().call_soon(self._send, lane)
        elif lane.requests == waiting == 0:
            del self._lanes[lane.node, lane.api_key, lane.group]

    def _hand_out(self, lane: _Lane, batch: list[Call], results: _Results) -> None:
        waiting = {(call.operation.key.topic_id, call.operation.key.partition): call for call in batch}
        for topic_id, partition, code, said, answer in results:
            call = waiting.pop((topic_id, partition), None)
            if call is not None:
                self._answered(call, code, said, answer)
        if waiting:
            reason = "the answer says nothing about the share partition"
            self._fail(
                waiting.values(),
                LostError(str(lane.node), reason, code=codes.UNKNOWN_SERVER_ERROR, sent=True, retriable=False),
            )

    def _fail(self, calls: Iterable[Call], error: LostError | ShareStateError) -> None:
        for call in calls:
            if not call.over:
                self._failed(call, error)


def _take(waiting: deque[Call], most: int) -> list[Call]:
    batch: list[Call] = []
    size = 0
    while waiting and len(batch) < min(most, MAX_PARTITIONS) and (not batch or size + waiting[0].operation.size <= MAX_BYTES):
        call = waiting.popleft()
        if not call.over:
            batch.append(call)
            size += call.operation.size
    return batch


def _encode(lane: _Lane, version: int, batch: list[Call]) -> bytes:
    if lane.api_key == _WRITE:
        return encode_write_states(version, lane.group, [call.operation.asked for call in batch])
    topics: dict[str, list[dict[str, Any]]] = {}
    for call in batch:
        topics.setdefault(call.operation.key.topic_id, []).append(call.operation.asked)
    message = {"groupId": lane.group, "topics": [{"topicId": topic, "partitions": parts} for topic, parts in topics.items()]}
    return encode_message(lane.api_key, version, message)


def _decoder(api_key: int) -> Callable[[int, bytes, int], _Results]:
    if api_key == _WRITE:
        return lambda version, frame, start: [(*result, {}) for result in decode_write_results(version, frame[start:])]
    return lambda version, frame, start: [
        (topic["topicId"], result["partition"], result["errorCode"], result["errorMessage"], result)
        for topic in decode_message(api_key, version, frame[start:], response=True)["results"]
        for result in topic["partitions"]
    ]
