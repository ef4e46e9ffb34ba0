"""Share partitions in memory without a cluster: a manager over a store that obeys, and readers that do nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import share_state as ss
from share_state.gateway.clock import lock_ms
from share_state.gateway.counts import Counts
from share_state.gateway.share_partitions import ServedPartition, SharePartitionManager
from share_state.gateway.upstream.topics import Partition, Topic

T, U = (
    Topic(name, topic_id, is_internal=False, partitions=(Partition(1, 5),) * 3)
    for name, topic_id in (("t", "AAECAwQFBgcICQoLDA0ODw"), ("u", "AAECAwQFBgcICQoLDA0OEA"))
)
GENERATION = 7
COMMITTED = ss.GroupConfig(isolation_level="read_committed")
KEPT = ss.ReadStateResult(1, 5, [])


class Reader:
    """Reader of a share partition."""

    def __init__(self, topic: Topic, partition: int, isolation: int) -> None:
        self.topic, self.topic_id, self.partition, self.isolation = topic.name, topic.topic_id, partition, isolation
        self.log_start_offset = -1
        self.served: set[ServedPartition] = set()
        self.stale_from = 1 << 60

    def is_stale(self, offset: int) -> bool:
        return offset >= self.stale_from


class World:
    """A manager and all that it depends on; what it does is written down."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self.reads: dict[tuple[str, str, int], Any] = {}
        self.writes: list[tuple[str, int, Any]] = []
        self.wrong: Any = None
        self.store_error: Exception | None = None
        self.offset: int | None = 9
        self.known = {one.topic_id: one for one in (T, U)}
        self.configs: dict[str, ss.GroupConfig] = {}
        self.all_readers: dict[tuple[str, int, int], Reader] = {}
        self.freshened: list[list[Any]] = []
        self.forgotten: list[str] = []
        self.found: list[tuple[str, int, str, int]] = []
        self.woken: list[ServedPartition] = []
        self.threads: set[str] = set()
        self.hold_reads = threading.Event()
        self.hold_reads.set()
        self.config = SimpleNamespace(resolved=lambda group: self.configs.get(group, ss.GroupConfig()), changed=None)
        self.readers = SimpleNamespace(
            reader=self._reader,
            freshen=self._freshen,
            forget=self.forgotten.append,
            upstream=SimpleNamespace(known=self.known.get),
            arrived=None,
            log_start_moved=None,
        )
        self.counts = Counts()
        self.manager = SharePartitionManager(
            cast("Any", self),
            executor,
            cast("Any", self.readers),
            cast("Any", self.config),
            generation=GENERATION,
            start_offsets=cast("Any", SimpleNamespace(find=self._find)),
            counts=self.counts,
        )
        self.manager.wake = self.woken.append

    def _reader(self, topic: Topic, partition: int, isolation: int) -> Reader:
        place = topic.topic_id, partition, isolation
        return self.all_readers.setdefault(place, Reader(topic, partition, isolation))

    async def _freshen(self, readers: list[Any]) -> None:
        self.freshened.append(readers)

    async def _find(self, topic: Topic, partition: int, strategy: str, isolation: int) -> int | None:
        self.found.append((topic.name, partition, strategy, isolation))
        return self.offset

    def read_states(self, asked: Iterable[tuple[ss.SharePartitionKey, int]]) -> list[Any]:
        assert self.hold_reads.wait(30)
        if self.store_error is not None:
            raise self.store_error
        self.threads.add(threading.current_thread().name.partition("_")[0])
        return [self.reads.get((*key,), KEPT) for key, epoch in asked if epoch == GENERATION]

    def write_states(self, asked: Iterable[tuple[ss.SharePartitionKey, ss.WriteState]]) -> list[Any]:
        self.threads.add(threading.current_thread().name.partition("_")[0])
        asked = list(asked)
        self.writes += [(key.group, key.partition, state) for key, state in asked]
        return [self.wrong for _ in asked]

    async def served(self, group: str = "g", topic: Topic = T, partition: int = 0) -> ServedPartition:
        served = self.manager.serve(group, topic, partition)
        assert not served.is_ready or served in self.manager.all()
        await self.manager.ready(served)
        return served

    async def holding(self, member: str = "m", *place: Any) -> ServedPartition:
        """Share partition of which a member holds records 5 to 9."""
        served = await self.served(*place)
        assert served.engine.acquire(member, [(5, 9)], max_records=5, now_ms=lock_ms())
        self.manager.holds(served, member)
        return served


def run(test: Callable[[World], Coroutine[Any, Any, None]]) -> None:
    async def all_of_it() -> None:
        with ThreadPoolExecutor(4, thread_name_prefix="own") as executor:
            world = World(executor)
            await test(world)
            world.hold_reads.set()
            await world.manager.close()
            # Whatever waits for the disk waits in the threads of the gateway.
            assert world.threads <= {"own"}

    asyncio.run(all_of_it())
