"""The share partitions in memory: loading, fencing, forgetting them (Kafka: ``SharePartitionManager``, ``SharePartitionCache``).

A share partition that a client asks for is loaded from the store: its state is read in the leader epoch of this generation,
which fences every earlier start of the gateway. One that the store fences, or whose group or topic is gone, is dropped, and
the next fetch loads it again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from share_state._core import SharePartition, StateStore, WriteState
from share_state.errors import CorruptStateError, PersisterError, ShareStateError
from share_state.gateway.clock import lock_ms
from share_state.gateway.counts import Counts
from share_state.gateway.group_configs import GroupConfigs
from share_state.gateway.lock_timers import LockTimers
from share_state.gateway.start_offsets import StartOffsets
from share_state.gateway.upstream.reader import PartitionReader
from share_state.gateway.upstream.readers import Readers
from share_state.gateway.upstream.topics import Topic
from share_state.gateway.writes import WritePump
from share_state.kafka import codes
from share_state.logs import named
from share_state.types import SharePartitionKey
from share_state.util.closing import cancel_all

if TYPE_CHECKING:
    from share_state.gateway.waiting_fetch import WaitingFetch

__all__ = ["ServedPartition", "SharePartitionManager"]

_LOG: Final = logging.getLogger("share_state.gateway")
_READ_COMMITTED: Final = "read_committed"
#: The answers of the store after which an object must not be used any more
#: (``SharePartitionManager.handleFencedSharePartitionException``).
_FENCING: Final = frozenset(
    {codes.NOT_LEADER_OR_FOLLOWER, codes.FENCED_STATE_EPOCH, codes.GROUP_ID_NOT_FOUND, codes.UNKNOWN_TOPIC_OR_PARTITION}
)


class ServedPartition:
    """A share partition in memory.

    Attributes:
        key: group, topic id (base64), partition.
        engine: its state.
        reader: where its records come from.
        is_ready: whether it can serve.
        error_code: why it never will, for the fetches that wait for it; 0 while that is open.
        waiting: the fetches that wait for something to happen here, oldest first.
    """

    __slots__ = ("engine", "error_code", "is_ready", "key", "reader", "settling", "used_at", "waiting")

    def __init__(self, key: SharePartitionKey, engine: SharePartition, reader: PartitionReader) -> None:
        self.key = key
        self.engine = engine
        self.reader = reader
        self.is_ready = False
        self.error_code = codes.NONE
        #: When a request last named it (``time.monotonic()``).
        self.used_at = time.monotonic()
        self.waiting: dict[WaitingFetch, None] = {}
        #: Acknowledgements that wait for their write, by its token.
        self.settling: dict[int, asyncio.Future[int]] = {}


class SharePartitionManager:
    """The share partitions by key, and which member holds records of which.

    Args:
        store: where the states are kept.
        executor: where calls of the store run that wait for its disk.
        readers: where records come from.
        configs: configurations of groups.
        generation: leader epoch of every share partition.
        start_offsets: finds where a share partition without a start offset begins.
        counts: where loads, writes and acknowledgements are counted.
    """

    def __init__(
        self,
        store: StateStore,
        executor: ThreadPoolExecutor,
        readers: Readers,
        configs: GroupConfigs,
        *,
        generation: int,
        start_offsets: StartOffsets,
        counts: Counts,
    ) -> None:
        self.counts = counts
        self.writes = WritePump(store, executor, self._settled, counts)
        self.timers = LockTimers(self._locks_expired)
        #: Called with a share partition at which a waiting fetch may find something.
        self.wake: Callable[[ServedPartition], None] = lambda _served: None
        self._store = store
        self._executor = executor
        self._readers = readers
        self._configs = configs
        self.generation = generation
        self._start_offsets = start_offsets
        self._served: dict[SharePartitionKey, ServedPartition] = {}
        self._held: dict[tuple[str, str], set[ServedPartition]] = {}
        self._loading: dict[ServedPartition, asyncio.Task[None]] = {}
        configs.changed = self._configure
        readers.arrived = self._arrived
        readers.log_start_moved = self._log_start_moved

    def __len__(self) -> int:
        return len(self._served)

    def all(self) -> Iterable[ServedPartition]:
        """Return every share partition in memory."""
        return self._served.values()

    def get(self, group: str, topic_id: str, partition: int) -> ServedPartition | None:
        """Return a share partition if it is in memory."""
        return self._served.get(SharePartitionKey(group, topic_id, partition))

    def serve(self, group: str, topic: Topic, partition: int) -> ServedPartition:
        """Return a share partition, and begin to load it where it is not in memory."""
        key = SharePartitionKey(group, topic.topic_id, partition)
        served = self._served.get(key)
        if served is not None:
            served.used_at = time.monotonic()
        else:
            config = self._configs.resolved(group)
            reader = self._readers.reader(topic, partition, int(config.isolation_level == _READ_COMMITTED))
            engine = SharePartition(*key, leader_epoch=self.generation, config=config)
            served = self._served[key] = ServedPartition(key, engine, reader)
            reader.served.add(served)
            self._loading[served] = task = asyncio.get_running_loop().create_task(self._load(served, topic))
            task.add_done_callback(lambda _: self._loading.pop(served))
        return served

    async def freshen(self, served: Iterable[ServedPartition]) -> None:
        """See to it that nothing is given out that was deleted upstream a moment ago."""
        stale = [one.reader for one in served if one.is_ready and one.reader.is_stale(one.engine.next_fetch_offset())]
        if stale:
            await self._readers.freshen(stale)

    def holds(self, served: ServedPartition, member: str) -> None:
        """Note that a member was given records."""
        self._held.setdefault((served.key.group, member), set()).add(served)
        self.timers.arm(served)

    def release(self, group: str, member: str) -> None:
        """Make everything that a member holds available again: its session has ended (``releaseSession``)."""
        now_ms = lock_ms()
        for served in self._held.pop((group, member), ()):
            if served.is_ready and served.engine.release(member, now_ms=now_ms):
                self.changed(served)

    def changed(self, served: ServedPartition) -> None:
        """Carry on after a change of a share partition: write what is to be written, wake who may gain."""
        self.writes.add(served)
        self.wake(served)

    def acknowledge(
        self, served: ServedPartition, member: str, batches: list[tuple[int, int, bytes]]
    ) -> asyncio.Future[int] | int:
        """Acknowledge records.

        Returns:
            Kafka's code, or a future of it where a write has to be durable first.
        """
        try:
            token = served.engine.acknowledge_batches(member, batches, now_ms=lock_ms())
        except ShareStateError as refused:
            return codes.UNKNOWN_SERVER_ERROR if refused.kafka_code is None else refused.kafka_code
        if token is None:
            self.wake(served)
            return codes.NONE
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        served.settling[token] = future
        self.writes.add(served)
        return future

    def drop(self, served: ServedPartition, error_code: int) -> None:
        """Serve a share partition no more; a fetch that waits for it is told why."""
        if self._served.get(served.key) is served:
            del self._served[served.key]
        served.reader.served.discard(served)
        served.is_ready = False
        served.error_code = error_code
        served.engine.fence()
        self.wake(served)

    def hold(self, served: ServedPartition) -> None:
        """Serve a share partition no more until :meth:`let_go`: its state is being changed elsewhere."""
        served.is_ready = False
        served.engine.fence()

    def let_go(self, served: ServedPartition) -> None:
        """Forget a share partition, so that the next fetch loads it again."""
        self.drop(served, codes.NONE)

    def sweep(self, silent_since: float) -> None:
        """Forget share partitions that nobody has used for a while and that hold nothing."""
        for served in list(self._served.values()):
            engine = served.engine
            is_quiet = served.used_at < silent_since and not served.waiting and not served.settling
            if is_quiet and served.is_ready and engine.poll_timeout() is None and not engine.writes_under_way:
                self.drop(served, codes.NONE)

    def drop_topics(self, topics: Collection[tuple[str, str]]) -> None:
        """Drop the share partitions of groups and topics, (group, topic id): their states have been changed elsewhere."""
        for key, served in list(self._served.items()):
            if (key.group, key.topic_id) in topics:
                self.drop(served, codes.NONE)

    def drop_topic(self, topic_id: str) -> None:
        """Drop the share partitions of a topic that is gone."""
        for key, served in list(self._served.items()):
            if key.topic_id == topic_id:
                self.drop(served, codes.UNKNOWN_TOPIC_ID)
        self._readers.forget(topic_id)

    async def ready(self, served: ServedPartition) -> None:
        """Wait until a share partition is loaded, or has failed to."""
        loading = self._loading.get(served)
        if loading is not None:
            await asyncio.wait([loading])

    async def close(self) -> None:
        """Finish what is in progress: every write is answered."""
        await cancel_all(self._loading.values())
        self.timers.close()
        await self.writes.close()

    async def _load(self, served: ServedPartition, topic: Topic) -> None:
        began = time.monotonic()
        code = await self._loaded(served, topic)
        self.counts.load_times.observe(time.monotonic() - began)
        if code != codes.NONE:
            _LOG.warning("not loaded: code=%d (%s) %s", code, codes.name_of(code), _named(served))
            self.drop(served, code)
            return
        served.is_ready = True
        if served.reader.log_start_offset > served.engine.start_offset:
            served.engine.move_log_start_offset(served.reader.log_start_offset)
        # Records on their way to a dead-letter queue when the gateway ended.
        self.changed(served)
        self.timers.arm(served)

    async def _loaded(self, served: ServedPartition, topic: Topic) -> int:
        """Load a state; returns the code for the clients that wait."""
        try:
            return await self._read(served, topic)
        except CorruptStateError as corrupt:
            _LOG.error("the state is corrupt: %s: %s", corrupt, _named(served))
        except PersisterError as refused:
            return refused.kafka_code or codes.UNKNOWN_SERVER_ERROR
        except ShareStateError as unusable:
            _LOG.error("not loaded: %s: %s", unusable, _named(served))
        return codes.UNKNOWN_SERVER_ERROR

    async def _read(self, served: ServedPartition, topic: Topic) -> int:
        engine, loop = served.engine, asyncio.get_running_loop()
        engine.begin_initialize()
        (read,) = await loop.run_in_executor(self._executor, self._store.read_states, [(served.key, self.generation)])
        if isinstance(read, ShareStateError):
            _LOG.error("the state cannot be read: %s: %s", read, _named(served))
            engine.initialize_failed(read.kafka_code or codes.UNKNOWN_SERVER_ERROR)
            return codes.UNKNOWN_SERVER_ERROR  # It has raised, with the code for the clients.
        strategy = engine.initialize(read)
        if strategy is None:
            return codes.NONE
        offset = await self._start_offsets.find(topic, served.key.partition, strategy, served.reader.isolation)
        if offset is None:
            return codes.OFFSET_NOT_AVAILABLE
        engine.resolve_start_offset(offset)
        # Kept at once: after a restart "latest" would be another offset, and the records between would be lost.
        state = WriteState(read.state_epoch, self.generation, offset, engine.delivery_complete_count, [])
        (wrong,) = await loop.run_in_executor(self._executor, self._store.write_states, [(served.key, state)])
        if wrong is None:
            return codes.NONE
        _LOG.error("the start offset cannot be written: %s: %s", wrong, _named(served))
        return wrong.kafka_code or codes.UNKNOWN_SERVER_ERROR

    def _settled(self, served: ServedPartition, token: int, error_code: int) -> None:
        code = served.engine.handle_write_result(token, error_code, now_ms=lock_ms())
        future = served.settling.pop(token, None)
        if future is not None and not future.done():
            future.set_result(code)
        if code in _FENCING and served.error_code == codes.NONE:
            self.drop(served, code)
        self.timers.arm(served)
        self.changed(served)

    def _locks_expired(self, served: ServedPartition) -> None:
        if served.engine.handle_timeout(now_ms=lock_ms()):
            self.changed(served)

    def _arrived(self, reader: PartitionReader) -> None:
        for served in list(reader.served):
            self.wake(served)

    def _log_start_moved(self, reader: PartitionReader) -> None:
        for served in list(reader.served):
            if served.is_ready and served.engine.move_log_start_offset(reader.log_start_offset):
                self.changed(served)

    def _configure(self, groups: Collection[str]) -> None:
        for key, served in list(self._served.items()):
            if key.group not in groups:
                continue
            config = self._configs.resolved(key.group)
            isolation = int(config.isolation_level == _READ_COMMITTED)
            served.engine.configure(config)
            topic = self._readers.upstream.known(key.topic_id)
            if served.reader.isolation != isolation and topic is not None:
                served.reader.served.discard(served)
                served.reader = self._readers.reader(topic, key.partition, isolation)
                served.reader.served.add(served)


def _named(served: ServedPartition) -> str:
    key = served.key
    return named(group=key.group, topic=served.reader.topic, topic_id=key.topic_id, partition=key.partition)
