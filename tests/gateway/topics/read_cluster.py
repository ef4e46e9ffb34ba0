"""A stand-in for the cluster that `Readers` read: its brokers answer what a test gives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway.counts import Counts
from share_state.gateway.upstream import readers as module
from share_state.gateway.upstream.reader import PartitionReader, Source
from share_state.gateway.upstream.readers import Readers
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.fetch import Answer, Fetched
from share_state.kafka.client.offsets import Found
from share_state.kafka.client.peers import Address, Node
from tests.gateway.topics.rings import Rings

FIRST, SECOND = (Node(number, Address("127.0.0.1", number)) for number in (1, 2))
T, OTHER = (Topic(name, name * 22, is_internal=False, partitions=(Partition(1, 5),) * 2) for name in "to")


class Lanes:
    """Lanes to a broker: the reads asked of it."""

    def __init__(self, _readers: Readers, node: Node, isolation: int) -> None:
        self.node = node
        self.isolation = isolation
        self.tails: list[PartitionReader] = []
        self.backs: list[PartitionReader] = []

    def read_tail(self, reader: PartitionReader) -> None:
        self.tails.append(reader)

    def read_back(self, reader: PartitionReader) -> None:
        self.backs.append(reader)

    def discard(self, reader: PartitionReader) -> None:
        self.tails = [one for one in self.tails if one is not reader]
        self.backs = [one for one in self.backs if one is not reader]

    async def close(self) -> None:
        self.tails.clear()


class Cluster:
    """Two brokers and two topics; what it is asked, and what the readers tell."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.known = {one.topic_id: one for one in (T, OTHER)}
        self.offsets: dict[int, Found] = {}
        self.asked_for: list[set[str]] = []
        self.shrunk = False
        self.is_news = False
        lives = SimpleNamespace(end_of=None, shrank=self._shrank)
        self.upstream = SimpleNamespace(
            lives=lives,
            known=self.known.get,
            node={1: FIRST, 2: SECOND}.get,
            topics=self._topics,
            moved=lambda *_: self.is_news,
        )
        names = {one.topic_id: one.name for one in (T, OTHER)}
        registry = SimpleNamespace(has_made_up_ids=False, name_of=names.get)
        self.rings = Rings()
        self.readers = Readers(cast("Any", self.upstream), cast("Any", registry), self.rings, Counts())
        self.cuts: list[tuple[list[PartitionReader], int]] = []
        self.readers.truncated = lambda readers, offset: self.cuts.append((readers, offset))
        monkeypatch.setattr(module, "BrokerLanes", Lanes)
        monkeypatch.setattr(module, "cut_at", self._no_cut)
        monkeypatch.setattr(module, "list_offsets", self._list_offsets)
        monkeypatch.setattr(module, "_FIRST_WAIT", 0.001)

    async def _shrank(self, _topic: Topic) -> bool:
        return self.shrunk

    async def _topics(self, names: set[str]) -> None:
        self.asked_for.append(names)

    async def _no_cut(self, *_: object) -> None:
        return None

    async def _list_offsets(self, _: object, asked: Iterable[tuple[Topic, int, int]]) -> dict[tuple[str, int], Found]:
        return {(topic.topic_id, partition): self.offsets[timestamp] for topic, partition, timestamp in asked}

    def lanes(self, reader: PartitionReader) -> Lanes:
        lanes: object = reader.lanes
        assert isinstance(lanes, Lanes)
        return lanes

    def reader(self, partition: int = 0, isolation: int = 0, topic: Topic = T, offset: int = 0) -> PartitionReader:
        """The reader for a ring that wants to be read from an offset on."""
        source = Source(topic.topic_id, partition, isolation)
        self.readers.want(*source, 1, offset)
        found = self.readers.get(source)
        assert found is not None
        return found

    async def at_home(self, partition: int = 0, isolation: int = 0, topic: Topic = T, offset: int = 0) -> PartitionReader:
        """A reader that has found its leader."""
        reader = self.reader(partition, isolation, topic, offset)
        await self.quiet()
        assert self.lanes(reader).tails[-1:] == [reader]
        return reader

    async def quiet(self) -> None:
        """Wait until nothing is looked for."""
        async with asyncio.timeout(10):
            while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.gather(*tasks)

    def answer(
        self,
        reader: PartitionReader,
        batches: bytes = b"",
        *,
        asked: int | None = None,
        among: dict[PartitionReader, int] | None = None,
        **fields: Any,
    ) -> None:
        """An answer with one row, for the tail of a reader or another offset, to a request for others as well."""
        row = Fetched(
            topic=reader.topic_id,
            partition=reader.partition,
            error_code=0,
            high_watermark=reader.high_watermark,
            last_stable_offset=-1,
            log_start_offset=-1,
            aborted=None,
            preferred_read_replica=-1,
            diverging_epoch=None,
            current_leader=None,
            start=0,
            end=len(batches),
        )
        answer = Answer(0, 0, 0, [row._replace(**fields)], batches)
        self.readers.take({reader: max(reader.tail, 0) if asked is None else asked, **(among or {})}, answer)


def run(test: Callable[[Cluster], Coroutine[Any, Any, None]], monkeypatch: pytest.MonkeyPatch) -> None:
    async def whole() -> None:
        cluster = Cluster(monkeypatch)
        try:
            await test(cluster)
            assert not cluster.rings.is_due
        finally:
            await cluster.readers.close()

    asyncio.run(whole())
