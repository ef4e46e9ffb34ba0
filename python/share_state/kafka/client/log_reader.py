"""Reads records of partitions by their offsets: joins no group and commits nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Final, NamedTuple, TypeAlias, TypeVar

from share_state import _core
from share_state.kafka import codes
from share_state.kafka.client.client import Client
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.fetch import Fetched, fetch_topics
from share_state.kafka.client.metadata import Topic, by_name, topic_of
from share_state.kafka.client.offsets import EARLIEST, LATEST, OffsetQuestion, list_offsets
from share_state.kafka.client.peers import LostError
from share_state.kafka.errors import KafkaPersisterError, class_of

__all__ = ["Bounds", "LogReader", "Record"]

_Answer = TypeVar("_Answer")
#: Offset, timestamp in ms since the epoch, key, value, headers.
Record: TypeAlias = tuple[int, int, bytes | None, bytes | None, list[tuple[bytes, bytes | None]]]

#: Codes that pass: the leader is another one, is being elected, or does not know its high watermark yet.
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
    }
)
#: Seconds before the next question to a leader.
_PAUSE_S: Final = 0.1
#: Milliseconds that a broker may wait where it has nothing.
_MAX_WAIT_MS: Final = 100


class Bounds(NamedTuple):
    """Readable part of a partition: from `start`, below `end`."""

    start: int
    end: int


class LogReader:
    """Reads one partition after the other. All of it lives on one event loop.

    Args:
        client: of the cluster; the caller closes it.
        patience: seconds to wait for an answer, or for a leader.
        isolation: 0 for read_uncommitted, 1 for read_committed.
        max_bytes: of one answer; a batch that is larger comes whole.
    """

    def __init__(self, client: Client, *, patience: float, isolation: int = 0, max_bytes: int = 1 << 20) -> None:
        self._client = client
        self._patience = patience
        self._isolation = isolation
        self._max_bytes = max_bytes
        self._topics: dict[str, Topic] = {}

    async def topic(self, name: str) -> Topic | None:
        """Ask for a topic; None where there is none.

        Raises:
            LostError: no broker can be asked.
            KafkaPersisterError: it may not be described.
        """
        until = time.monotonic() + self._patience
        while True:
            (row,) = (await self._client.metadata(by_name([name])))["topics"]
            # One that has just been made shows no partitions yet.
            if row["errorCode"] != codes.LEADER_NOT_AVAILABLE or row["partitions"] or time.monotonic() >= until:
                break
            await asyncio.sleep(_PAUSE_S)
        topic = topic_of(row)
        if topic is not None:
            self._topics[name] = topic
        elif row["errorCode"] != codes.UNKNOWN_TOPIC_OR_PARTITION:
            raise _refused(row["errorCode"], name)
        return topic

    async def bounds(self, name: str, partition: int) -> Bounds:
        """Ask where a partition, which there is, begins and ends.

        Raises:
            LostError: its leader cannot be asked.
            KafkaPersisterError: it refuses, or there is none in time.
        """

        async def ask(topic: Topic, connection: Connection) -> Bounds:
            found = []
            for special in (EARLIEST, LATEST):
                question = OffsetQuestion(topic.name, partition, special)
                answer = await list_offsets(connection, [question], isolation=self._isolation)
                one = answer.get((topic.name, partition))
                if one is None or one.error_code != codes.NONE:
                    raise _refused(codes.UNKNOWN_SERVER_ERROR if one is None else one.error_code, name, partition)
                found.append(one.offset)
            return Bounds(*found)

        return await self._led(name, partition, ask)

    async def records(self, name: str, partition: int, start: int, end: int) -> AsyncGenerator[list[Record]]:
        """Read the records with ``start`` <= offset < ``end``, as many at a time as a batch has.

        It ends early where the last records of the log are gone.

        Raises:
            LostError: the leader cannot be asked, or gives nothing in time.
            KafkaPersisterError: it refuses, or the log begins after or ends before the next offset (OFFSET_OUT_OF_RANGE).
            WireDecodeError: a batch cannot be read.
        """
        position, heard = start, time.monotonic()
        while position < end:
            one, frame = await self._fetched(name, partition, position)
            before = position
            for after, records in _batches(one, frame, position):
                position = after
                wanted = [record for record in records if record[0] < end]
                if wanted:
                    yield wanted
            if position > before:
                heard = time.monotonic()
            elif position >= (one.last_stable_offset if self._isolation else one.high_watermark):
                return
            elif time.monotonic() - heard > self._patience:
                raise LostError(f"{name}-{partition}", "no records", code=codes.REQUEST_TIMED_OUT, sent=True)

    async def _fetched(self, name: str, partition: int, offset: int) -> tuple[Fetched, bytes]:
        async def ask(topic: Topic, connection: Connection) -> tuple[Fetched, bytes]:
            answer = await fetch_topics(
                connection,
                [(topic, {partition: offset})],
                partition_max_bytes=self._max_bytes,
                max_wait_ms=_MAX_WAIT_MS,
                isolation=self._isolation,
            )
            one = next(iter(answer.partitions), None)
            if one is None or one.error_code != codes.NONE:
                raise _refused(codes.UNKNOWN_SERVER_ERROR if one is None else one.error_code, name, partition)
            return one, answer.frame

        return await self._led(name, partition, ask)

    async def _led(self, name: str, partition: int, ask: Callable[[Topic, Connection], Awaitable[_Answer]]) -> _Answer:
        """Ask the leader of a partition, and its next one where it is no longer that."""
        until = time.monotonic() + self._patience
        while True:
            topic = self._topics.get(name) or await self.topic(name)
            leaders = () if topic is None else topic.leaders
            node = self._client.node(leaders[partition]) if partition < len(leaders) else None
            try:
                if topic is None or node is None:
                    is_there = topic is not None
                    raise _refused(codes.LEADER_NOT_AVAILABLE if is_there else codes.UNKNOWN_TOPIC_OR_PARTITION, name, partition)
                return await ask(topic, await self._client.connection(node))
            except LostError as lost:
                if not lost.retriable or time.monotonic() >= until:
                    raise
            except KafkaPersisterError as refused:
                if refused.kafka_code not in _PASSING or time.monotonic() >= until:
                    raise
            self._topics.pop(name, None)
            await asyncio.sleep(_PAUSE_S)


def _batches(one: Fetched, frame: bytes, position: int) -> Iterator[tuple[int, list[Record]]]:
    """Iterate over the batches of an answer: the offset after each, and its records from a position on that count."""
    aborted = sorted(one.aborted or (), key=lambda transaction: transaction[1], reverse=True)
    aborting: set[int] = set()
    at = one.start
    while (batch := _core.decode_batch(frame, at, one.end, position)) is not None:
        at, _, last, producer_id, is_transactional, is_control, records = batch
        while aborted and aborted[-1][1] <= last:
            aborting.add(aborted.pop()[0])
        if is_control:
            # The transaction of this producer ends here.
            aborting.discard(producer_id)
        if last < position:
            continue
        position = last + 1
        yield position, [] if is_transactional and producer_id in aborting else records


def _refused(code: int, name: str, partition: int | None = None) -> KafkaPersisterError:
    place = name if partition is None else f"{name}-{partition}"
    return class_of(code)(f"{place}: code {code} ({codes.name_of(code)})", kafka_code=code)
