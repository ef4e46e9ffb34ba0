"""Leaders of partitions: who they are, and questions that go on to the next one where a leader has changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from share_state.kafka import codes
from share_state.kafka.client.client import Client
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.metadata import Topic, by_name, topic_of
from share_state.kafka.client.peers import LostError
from share_state.kafka.errors import KafkaPersisterError, class_of

__all__ = ["PAUSE_S", "Leaders", "refused"]

_Answer = TypeVar("_Answer")

#: Codes that pass: the leader is another one, is being elected, does not know its high watermark yet, or waits for replicas.
_PASSING: Final = frozenset(
    {
        codes.UNKNOWN_TOPIC_OR_PARTITION,
        codes.LEADER_NOT_AVAILABLE,
        codes.NOT_LEADER_OR_FOLLOWER,
        codes.REPLICA_NOT_AVAILABLE,
        codes.KAFKA_STORAGE_ERROR,
        codes.FENCED_LEADER_EPOCH,
        codes.UNKNOWN_LEADER_EPOCH,
        codes.OFFSET_NOT_AVAILABLE,
        codes.UNKNOWN_TOPIC_ID,
        codes.INCONSISTENT_TOPIC_ID,
        codes.REQUEST_TIMED_OUT,
        codes.NOT_ENOUGH_REPLICAS,
        codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)
#: Seconds before the next question to a leader.
PAUSE_S: Final = 0.1


class Leaders:
    """Asks the leaders of partitions. All of it lives on one event loop.

    Args:
        client: of the cluster; the caller closes it.
        patience: seconds to wait for an answer, or for a leader.
    """

    def __init__(self, client: Client, patience: float) -> None:
        self._client = client
        self.patience = patience
        self._topics: dict[str, Topic] = {}

    async def topic(self, name: str) -> Topic | None:
        """Ask for a topic; None where there is none.

        Raises:
            LostError: no broker can be asked.
            KafkaPersisterError: it may not be described.
        """
        until = time.monotonic() + self.patience
        while True:
            (row,) = (await self._client.metadata(by_name([name])))["topics"]
            # One that has just been made shows no partitions yet.
            if row["errorCode"] != codes.LEADER_NOT_AVAILABLE or row["partitions"] or time.monotonic() >= until:
                break
            await asyncio.sleep(PAUSE_S)
        topic = topic_of(row)
        if topic is not None:
            self._topics[name] = topic
        elif row["errorCode"] != codes.UNKNOWN_TOPIC_OR_PARTITION:
            raise refused(row["errorCode"], name)
        return topic

    async def led(self, name: str, partition: int, ask: Callable[[Topic, Connection], Awaitable[_Answer]]) -> _Answer:
        """Ask the leader of a partition, and its next one where it is no longer that.

        Raises:
            LostError: it cannot be asked.
            KafkaPersisterError: it refuses, or there is none in time.
        """
        until = time.monotonic() + self.patience
        while True:
            try:
                topic = self._topics.get(name) or await self.topic(name)
                leaders = () if topic is None else topic.leaders
                node = self._client.node(leaders[partition]) if partition < len(leaders) else None
                if topic is None or node is None:
                    is_there = topic is not None
                    raise refused(codes.LEADER_NOT_AVAILABLE if is_there else codes.UNKNOWN_TOPIC_OR_PARTITION, name, partition)
                return await ask(topic, await self._client.connection(node))
            except LostError as lost:
                if not lost.retriable or time.monotonic() >= until:
                    raise
            except KafkaPersisterError as error:
                if error.kafka_code not in _PASSING or time.monotonic() >= until:
                    raise
            self._topics.pop(name, None)
            await asyncio.sleep(PAUSE_S)


def refused(code: int, name: str, partition: int | None = None, said: str | None = None) -> KafkaPersisterError:
    """Make the error of a code about a topic or a partition, in the broker's words where it has some."""
    place = name if partition is None else f"{name}-{partition}"
    words = f": {said}" if said else ""
    return class_of(code)(f"{place}: code {code} ({codes.name_of(code)}){words}", kafka_code=code)
