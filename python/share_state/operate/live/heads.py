"""Facts about share groups from the logs of topics: the first record that a group may still be given, and open transactions.

The state topic does not tell a record in a member's hands from an offset without one: a marker, an aborted record. Where the
difference matters the log is read, which needs READ on the topic. Nothing is acquired.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.errors import ShareStateError
from share_state.kafka import codes
from share_state.kafka.client.fetch import NO_ANSWER, fetch_topics
from share_state.kafka.client.peers import LostError
from share_state.operate.analysis.start_offset_reason import head_offset
from share_state.operate.analysis.topic_id import hyphenated
from share_state.operate.live.log_batches import batches, for_groups

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from share_state.kafka.client.connections import Connections
    from share_state.kafka.client.fetch import Answer, Fetched
    from share_state.kafka.client.metadata import Topic
    from share_state.kafka.client.peers import Node
    from share_state.operate.live.asked import Asked
    from share_state.operate.live.rates import Key
    from share_state.types import StateBatch

__all__ = ["Head", "Heads", "OpenTransaction", "Question"]

_PARTITION_MAX_BYTES: Final = 1 << 20
#: Requests to one broker in one look, and share partitions in one of them. What is left is read at the next look.
_ROUNDS: Final = 32
_AT_ONCE: Final = 200
#: A place in the cluster: topic id and partition.
_Place = tuple[str, int]


class Head(NamedTuple):
    """The first record at or after the start offset that is not settled and that the group may be given.

    Attributes:
        offset: of the record; None where there is none up to where the group reads.
        at_ms: its timestamp, or that of the first record of its batch; None where it has none.
    """

    offset: int | None
    at_ms: int | None


class OpenTransaction(NamedTuple):
    """The first open transaction of a log: groups that read committed records are given nothing from it on.

    Attributes:
        offset: of its first record, the last stable offset.
        waiting: offsets from there to the log end.
        since_ms: timestamp of its first record, in ms since the epoch; None where the log may not be read.
        producer_id: of its producer; None likewise.
    """

    offset: int
    waiting: int
    since_ms: int | None
    producer_id: int | None


class Question(NamedTuple):
    """A log, and what of it a group has settled.

    Attributes:
        topic, partition: the log.
        start: where to begin.
        end: where the group stops reading: the log end, or the last stable offset.
        isolation: 1 where the group reads committed records only, otherwise 0.
        settled: the state batches of the share partition.
        basis: what the answer depends on beside the log. While it stays the same, what was read is not read again.
    """

    topic: Topic
    partition: int
    start: int
    end: int
    isolation: int
    settled: Sequence[StateBatch]
    basis: Hashable


@dataclass(slots=True)
class _Looked:
    """Place up to which a log was read for a share partition."""

    basis: Hashable
    position: int
    head: Head | None = None


class Heads:
    """Reads logs, as little as is needed, and remembers it. All of it lives on one event loop.

    Args:
        asked: the cluster.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._connections: Connections | None = None
        self._looked: dict[Key, _Looked] = {}
        self._transactions: dict[_Place, tuple[int, int, int]] = {}

    async def close(self) -> None:
        """Close the connections."""
        if self._connections is not None:
            await self._connections.close()

    async def look(self, questions: Mapping[Key, Question]) -> dict[Key, Head]:
        """Answer the questions; what may not be read, or was not read to its end yet, is left out."""
        self._looked = {
            key: known
            if (known := self._looked.get(key)) is not None and known.basis == asked.basis
            else _Looked(asked.basis, asked.start)
            for key, asked in questions.items()
        }
        by_node: dict[tuple[Node, int], list[Key]] = {}
        for key, asked in questions.items():
            if self._looked[key].head is None and (node := self._leader(asked.topic, asked.partition)) is not None:
                by_node.setdefault((node, asked.isolation), []).append(key)
        await asyncio.gather(*(self._read(*where, keys, questions) for where, keys in by_node.items()))
        return {key: known.head or Head(None, None) for key, known in self._looked.items() if self._is_known(key, questions[key])}

    def _is_known(self, key: Key, asked: Question) -> bool:
        return self._looked[key].head is not None or self._looked[key].position >= asked.end

    async def _read(self, node: Node, isolation: int, keys: list[Key], questions: Mapping[Key, Question]) -> None:
        """Read what one broker leads."""
        for _ in range(_ROUNDS):
            keys = [key for key in keys if not self._is_known(key, questions[key])]
            some: dict[_Place, Key] = {}
            for key in keys:
                some.setdefault(key[1:], key)
            chosen = list(some.items())[:_AT_ONCE]
            if not chosen:
                return
            wanted: dict[str, tuple[Topic, dict[int, int]]] = {}
            for (topic_id, partition), key in chosen:
                wanted.setdefault(topic_id, (questions[key].topic, {}))[1][partition] = self._looked[key].position
            told = await self._fetch(node, wanted.values(), isolation, _PARTITION_MAX_BYTES)
            for one in told.partitions:
                key = some[hyphenated(one.topic), one.partition]
                if one.error_code != codes.NONE or one.start == one.end:
                    keys.remove(key)
                elif not self._take(key, questions[key], one, told.frame):
                    # The broker sends a whole batch of the first partition only, whatever its size.
                    keys.remove(key)
                    keys.insert(0, key)
            if not told.partitions:
                return

    def _take(self, key: Key, asked: Question, one: Fetched, frame: bytes) -> bool:
        """Look at the batches that came; False where there was none."""
        known, before = self._looked[key], self._looked[key].position
        for batch, is_given in for_groups(batches(frame, one.start, one.end), one.aborted or ()):
            first = max(batch.first, before)
            offset = head_offset(first, asked.settled) if is_given and batch.last >= first else None
            if offset is not None and offset <= batch.last:
                known.head = Head(offset, batch.since_ms if batch.since_ms >= 0 else None)
                return True
            known.position = max(known.position, batch.last + 1)
        return known.position > before

    async def transactions(self, ends: Mapping[_Place, tuple[Topic, int, int]]) -> dict[_Place, OpenTransaction]:
        """Tell of the open transactions.

        Args:
            ends: by place, the topic, the last stable offset and the log end of those where the two differ.
        """
        known = {}
        for place, (topic, stable, _) in ends.items():
            told = self._transactions.get(place)
            if told is None or told[0] != stable:
                told = await self._first_batch(topic, place[1], stable)
            if told is not None:
                known[place] = told
        self._transactions = known
        return {
            place: OpenTransaction(stable, end - stable, *(known[place][1:] if place in known else (None, None)))
            for place, (_, stable, end) in ends.items()
        }

    async def _first_batch(self, topic: Topic, partition: int, offset: int) -> tuple[int, int, int] | None:
        if (node := self._leader(topic, partition)) is None:
            return None
        told = await self._fetch(node, [(topic, {partition: offset})], 0, 1)
        for one in told.partitions:
            for batch in batches(told.frame, one.start, one.end):
                return offset, batch.since_ms, batch.producer_id
        return None

    async def _fetch(self, node: Node, wanted: Iterable[tuple[Topic, Mapping[int, int]]], isolation: int, most: int) -> Answer:
        if self._connections is None:
            self._connections = self._asked.connections()
        try:
            connection = await self._connections.connection(node)
            return await fetch_topics(connection, wanted, partition_max_bytes=most, isolation=isolation)
        except (LostError, ShareStateError):
            # As where an end cannot be asked for: it is not known.
            return NO_ANSWER

    def _leader(self, topic: Topic, partition: int) -> Node | None:
        return self._asked.node(topic.leaders[partition]) if 0 <= partition < len(topic.leaders) else None
