"""Reads records of partitions by their offsets: joins no group and commits nothing."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator
from typing import Final, NamedTuple, TypeAlias

from share_state import _core
from share_state.kafka import codes
from share_state.kafka.client.client import Client
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.fetch import Fetched, fetch_topics
from share_state.kafka.client.leaders import Leaders, refused
from share_state.kafka.client.metadata import Topic
from share_state.kafka.client.offsets import EARLIEST, LATEST, OffsetQuestion, list_offsets
from share_state.kafka.client.peers import LostError

__all__ = ["Bounds", "LogReader", "Record"]

#: Offset, timestamp in ms since the epoch, key, value, headers.
Record: TypeAlias = tuple[int, int, bytes | None, bytes | None, list[tuple[bytes, bytes | None]]]

#: Milliseconds that a broker may wait where it has nothing.
_MAX_WAIT_MS: Final = 100


class Bounds(NamedTuple):
    """Readable part of a partition: from `start`, below `end`."""

    start: int
    end: int


class LogReader(Leaders):
    """Reads one partition after the other. All of it lives on one event loop.

    Args:
        client: of the cluster; the caller closes it.
        patience: seconds to wait for an answer, or for a leader.
        isolation: 0 for read_uncommitted, 1 for read_committed.
        max_bytes: of one answer; a batch that is larger comes whole.
    """

    def __init__(self, client: Client, *, patience: float, isolation: int = 0, max_bytes: int = 1 << 20) -> None:
        super().__init__(client, patience)
        self._isolation = isolation
        self._max_bytes = max_bytes

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
                    raise refused(codes.UNKNOWN_SERVER_ERROR if one is None else one.error_code, name, partition)
                found.append(one.offset)
            return Bounds(*found)

        return await self.led(name, partition, ask)

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
            elif time.monotonic() - heard > self.patience:
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
                raise refused(codes.UNKNOWN_SERVER_ERROR if one is None else one.error_code, name, partition)
            return one, answer.frame

        return await self.led(name, partition, ask)


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
