"""Many share partitions in one request (Kafka: ``PersisterStateManager``).

What is asked of one broker, by one RPC and for one group, waits together while a request of that kind is under way, and
goes out as one when it is answered. Different RPCs and groups do not wait for each other: their requests follow one
another on the connection without a pause.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from share_state.errors import ShareStateError
from share_state.kafka import codes
from share_state.kafka.cluster import Cluster
from share_state.kafka.peers import LostError, Node
from share_state.types import SharePartitionKey

__all__ = ["Asked", "Folding"]

#: What one request holds at most; a single share partition always has room.
MAX_PARTITIONS: Final = 1000
MAX_BYTES: Final = 1 << 20


@dataclass(slots=True, eq=False)
class Asked:
    """What is asked about one share partition.

    Attributes:
        api_key: the RPC.
        key: the share partition; its topic id is in base64, as in messages.
        partition: the element of the request.
        size: bytes that it takes there, about.
        result: the element of the answer.
        sent: whether it may have reached the broker.
    """

    api_key: int
    key: SharePartitionKey
    partition: dict[str, Any]
    size: int
    result: asyncio.Future[dict[str, Any]] = field(init=False)
    sent: bool = False

    def __post_init__(self) -> None:
        self.result = asyncio.get_running_loop().create_future()


class _LaneKey(NamedTuple):
    node: Node
    api_key: int
    group: str


class Folding:
    """The waiting lines, one for each broker, RPC and group."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lanes: dict[_LaneKey, deque[Asked]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, node: Node, asked: Asked) -> None:
        """Let ``asked`` wait for the next request to ``node``; it must be the only one of its key."""
        lane = _LaneKey(node, asked.api_key, asked.key.group)
        waiting = self._lanes.get(lane)
        if waiting is not None:
            waiting.append(asked)
            return
        self._lanes[lane] = deque([asked])
        task = asyncio.get_running_loop().create_task(self._work_off(lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Give up what waits."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work_off(self, lane: _LaneKey) -> None:
        """Send request after request until nothing waits any more."""
        waiting = self._lanes[lane]
        try:
            while waiting:
                await self._send_next(lane, waiting)
        finally:
            del self._lanes[lane]
            for asked in waiting:
                asked.result.cancel()

    async def _send_next(self, lane: _LaneKey, waiting: deque[Asked]) -> None:
        batch: list[Asked] = []
        try:
            connection = await self._cluster.connection(lane.node)
            # Only now, so that what has come while the connection was opened goes with it.
            batch = _take(waiting)
            if not batch:
                return
            answer = connection.send(lane.api_key, _request(lane.group, batch))
            for asked in batch:
                asked.sent = True
            results = _results(await answer)
        except (LostError, ShareStateError) as error:
            # Before anything was taken, the failure is that of the connection, and so of all who wait for it.
            failed = batch or _take_all(waiting)
            for asked in failed:
                _fail(asked, error)
            return
        for asked in batch:
            result = results.get((asked.key.topic_id, asked.key.partition))
            if asked.result.done():
                continue
            if result is None:
                reason = "the answer says nothing about the share partition"
                asked.result.set_exception(
                    LostError(str(lane.node), reason, code=codes.UNKNOWN_SERVER_ERROR, sent=True, retriable=False)
                )
                asked.result.exception()
            else:
                asked.result.set_result(result)


def _take(waiting: deque[Asked]) -> list[Asked]:
    batch: list[Asked] = []
    size = 0
    while waiting and len(batch) < MAX_PARTITIONS and (not batch or size + waiting[0].size <= MAX_BYTES):
        asked = waiting.popleft()
        if not asked.result.done():
            batch.append(asked)
            size += asked.size
    return batch


def _take_all(waiting: deque[Asked]) -> list[Asked]:
    taken = list(waiting)
    waiting.clear()
    return taken


def _request(group: str, batch: list[Asked]) -> dict[str, Any]:
    topics: dict[str, list[dict[str, Any]]] = {}
    for asked in batch:
        topics.setdefault(asked.key.topic_id, []).append(asked.partition)
    return {"groupId": group, "topics": [{"topicId": topic, "partitions": parts} for topic, parts in topics.items()]}


def _results(answer: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {
        (topic["topicId"], partition["partition"]): partition for topic in answer["results"] for partition in topic["partitions"]
    }


def _fail(asked: Asked, error: LostError | ShareStateError) -> None:
    if asked.result.done():
        return
    asked.result.set_exception(error.again() if isinstance(error, LostError) else error)
    # Whoever waits gets it; whoever has stopped waiting has nothing to be told.
    asked.result.exception()
