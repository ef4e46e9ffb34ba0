"""All readers of upstream partitions: where each is read, and what upstream's errors mean for them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from share_state.errors import ShareStateError, WireDecodeError
from share_state.gateway.counts import Counts
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.epochs import cut_at
from share_state.gateway.upstream.lanes import BrokerLanes
from share_state.gateway.upstream.offsets import list_offsets
from share_state.gateway.upstream.reader import PartitionReader, Read, Rings, Source
from share_state.gateway.upstream.topics import Topic, TopicRegistry
from share_state.kafka import codes
from share_state.kafka.client.fetch import Answer, Fetched
from share_state.kafka.client.offsets import EARLIEST, LATEST, Found
from share_state.kafka.client.peers import LostError, Node
from share_state.logs import named
from share_state.util.closing import cancel_all

__all__ = ["Readers"]

_LOG: Final = logging.getLogger("share_state.gateway.upstream")
_Found = TypeVar("_Found")
#: Seconds that upstream has to say where a log starts.
_PATIENCE: Final = 1.0
#: Seconds between two looks for leaders, from the first to the last (Kafka: ``retry.backoff.ms``, ``retry.backoff.max.ms``).
_FIRST_WAIT: Final = 0.1
#: Seconds for which a follower is read because the leader said so (``metadata.max.age.ms``).
_PREFERENCE: Final = 300.0
_LONGEST_WAIT: Final = 1.0
#: Seconds for which silence in a session is no news.
_SILENCE: Final = 1.0


class Readers:
    """The readers by topic, partition and isolation level.

    Args:
        upstream: the cluster that is read.
        registry: ids of topics.
        rings: take what is read.
        counts: where reads are counted.

    Attributes:
        truncated: called with the readers of a partition and the offset at which its log ends, when that is before what was
            read.
    """

    def __init__(self, upstream: Upstream, registry: TopicRegistry, rings: Rings, counts: Counts) -> None:
        self.upstream = upstream
        self.counts = counts
        self.truncated: Callable[[list[PartitionReader], int], None] = lambda _readers, _offset: None
        self._registry = registry
        self._rings = rings
        self._readers: dict[Source, PartitionReader] = {}
        self._lanes: dict[tuple[Node, int], BrokerLanes] = {}
        self._homeless: set[PartitionReader] = set()
        self._search: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: Rings for whose log start upstream is about to be asked.
        self._stale: list[Source] = []
        upstream.lives.end_of = self._end_of

    @property
    def has_made_up_ids(self) -> bool:
        """Whether upstream has to be asked for topics by their names."""
        return self._registry.has_made_up_ids

    def get(self, source: Source) -> PartitionReader | None:
        """Return the reader for a ring, if there is one."""
        return self._readers.get(source)

    def want(self, topic_id: str, partition: int, isolation: int, life: int, offset: int) -> None:
        """Read batches for a ring."""
        source = Source(topic_id, partition, isolation)
        reader = self._readers.get(source)
        if reader is None:
            # Upstream may not know the topic at the moment. It has a name as long as it may come back.
            name = self._registry.name_of(topic_id)
            if name is None:
                return
            reader = self._readers[source] = PartitionReader(self, self._rings, name, source)
        reader.want(life, offset)

    def ask_log_start(self, topic_id: str, partition: int, isolation: int) -> None:
        """Ask where a log starts, before batches are given out that were read a while ago."""
        self._stale.append(Source(topic_id, partition, isolation))
        if len(self._stale) == 1:
            # In the next turn of the loop: what is asked for until then is asked together.
            self._begin(self._freshen())

    def all(self) -> Iterable[PartitionReader]:
        """Return every reader."""
        return self._readers.values()

    def _end_of(self, topic_id: str, partition: int) -> int:
        """Return the greatest end offset that was seen of a partition, -1 for none."""
        return max((reader.seen_end for reader in self._of(topic_id, partition)), default=-1)

    def _of(self, topic_id: str, partition: int) -> list[PartitionReader]:
        """Return the readers of a partition, one for each isolation level that is used."""
        found = (self._readers.get(Source(topic_id, partition, isolation)) for isolation in (0, 1))
        return [reader for reader in found if reader is not None]

    def forget(self, topic_id: str) -> None:
        """Read no more of a topic."""
        for source in [source for source in self._readers if source.topic_id == topic_id]:
            reader = self._readers.pop(source)
            self._leave(reader)
            self._homeless.discard(reader)

    def read_tail(self, reader: PartitionReader) -> None:
        """Read on at the end of a ring."""
        if reader.lanes is None:
            self._find_home(reader)
        else:
            reader.lanes.read_tail(reader)

    def read_back(self, reader: PartitionReader) -> None:
        """Read what a ring does not hold."""
        if reader.lanes is None:
            self._find_home(reader)
        else:
            reader.lanes.read_back(reader)

    def take(self, wanted: dict[PartitionReader, int], answer: Answer) -> None:
        """Take an answer of upstream."""
        self.counts.upstream_bytes += len(answer.frame)
        if answer.error_code != codes.NONE:
            self.counts.upstream_errors[answer.error_code] += 1
            _LOG.info("a Fetch was refused: code=%d (%s)", answer.error_code, codes.name_of(answer.error_code))
            for one in wanted:
                self._fail(one)
            return
        # Not for those that were forgotten meanwhile.
        wanted = {reader: asked for reader, asked in wanted.items() if self._readers.get(reader.source) is reader}
        has_records = any(row.start < row.end for row in answer.partitions)
        by_place = {(reader.topic, reader.partition): reader for reader in wanted}
        by_place |= {(reader.topic_id, reader.partition): reader for reader in wanted}
        silent = dict(wanted)
        for row in answer.partitions:
            reader = by_place.get((row.topic, row.partition))
            if reader is not None:
                self._take_partition(reader, wanted[reader], row, answer.frame, has_records=has_records)
                silent.pop(reader, None)
        for reader, asked in silent.items():
            self._hear_nothing(reader, asked)
        self._rings.run()

    def lost(self, node: Node, readers: list[PartitionReader], why: Exception | None) -> None:
        """Take the loss of a connection: others may lead the partitions now, or one of them has what cannot be read."""
        _LOG.warning("%s: no answer to Fetch: %s", node, why)
        is_unreadable = isinstance(why, LostError) and why.code == codes.UNKNOWN_SERVER_ERROR
        if is_unreadable and len(readers) == 1:
            self._unusable(readers[0], readers[0].tail, why)
        for reader in readers:
            reader.is_suspect = is_unreadable
            self._fail(reader)

    async def _freshen(self) -> None:
        """Ask for the starts of logs. Upstream may not tell in time; then what is at hand is given out."""
        sources, self._stale = self._stale, []
        known = {source: topic for source in sources if (topic := self.upstream.known(source.topic_id)) is not None}
        # A broker refuses to be asked twice about a partition, as for both isolation levels.
        asked = dict.fromkeys((topic, source.partition, EARLIEST) for source, topic in known.items())
        found: Mapping[tuple[str, int], Found] = {}
        try:
            found = await asyncio.wait_for(list_offsets(self.upstream, asked), _PATIENCE)
        except (TimeoutError, ShareStateError, *UpstreamError) as lost:
            _LOG.info("upstream does not report log start offsets: %s", lost)
        finally:
            # In any case: fetches wait for it.
            self._rings.log_starts_told([(source, self._log_start(source, found)) for source in sources])
            self._rings.run()

    def _log_start(self, source: Source, found: Mapping[tuple[str, int], Found]) -> int | None:
        first = found.get((source.topic_id, source.partition))
        if first is None or first.error_code != codes.NONE:
            return None
        reader = self._readers.get(source)
        if reader is not None:
            reader.log_start_offset = max(reader.log_start_offset, first.offset)
        return first.offset

    def silent_since(self, limit: float) -> list[Source]:
        """Return the rings for which upstream has given no batches since a time (``time.monotonic()``)."""
        return [
            source
            for source, reader in self._readers.items()
            if reader.failing_since is not None and reader.failing_since < limit
        ]

    async def close(self) -> None:
        """End what is in progress."""
        # In this order: what looks for a range begins a search when it ends, and a search begins to read.
        await cancel_all(self._tasks)
        await cancel_all([] if self._search is None else [self._search])
        await asyncio.gather(*(lanes.close() for lanes in self._lanes.values()))

    def _take_partition(self, reader: PartitionReader, asked: int, row: Fetched, frame: bytes, *, has_records: bool) -> None:
        if row.error_code != codes.NONE:
            self.counts.upstream_errors[row.error_code] += 1
            self._refused(reader, asked, row)
            return
        if row.preferred_read_replica >= 0 and reader.preferred is None:
            # There is nothing else in such an answer. The leader is asked again in a while.
            self._move(reader, (row.preferred_read_replica, time.monotonic() + _PREFERENCE))
            return
        if row.diverging_epoch is not None:
            self._truncate(reader, row.diverging_epoch[1])
            return
        if row.log_start_offset > reader.log_start_offset:
            # Before the batches, which count as heard.
            reader.log_start_offset = row.log_start_offset
            self._rings.log_start_moved(reader.source, row.log_start_offset)
        if not has_records and row.start == row.end and asked < min(reader.tail, _end_of(reader, row)):
            # It has records there and gives none, nor are those of others in their place. It is asked again in a while.
            self._fail(reader)
            return
        try:
            reader.take(Read(asked, frame, row.start, row.end, row.aborted))
        except WireDecodeError as wrong:
            self._unusable(reader, asked, wrong)
            self._fail(reader)
            return
        if row.start == row.end and _end_of(reader, row) <= asked < reader.tail:
            # Nobody can read there yet, so the tail lies there too: a back read does not wait.
            reader.tail = asked
        if reader.preferred is not None and reader.preferred[1] < time.monotonic():
            self._move(reader, None)
        reader.failing_since = None
        reader.is_suspect = False
        reader.heard_at = time.monotonic()
        reader.high_watermark = row.high_watermark

    def _hear_nothing(self, reader: PartitionReader, asked: int) -> None:
        """Take the silence of a broker, which tells in a session of what is new alone. Some of it is a read of nothing."""
        if asked < reader.tail:
            # A back read is in no session.
            self._fail(reader)
        elif reader.heard_at is None or time.monotonic() - reader.heard_at >= _SILENCE:
            reader.heard_at = time.monotonic()
            reader.take(Read(asked, b"", 0, 0, None))

    def _unusable(self, reader: PartitionReader, asked: int, why: Exception | None) -> None:
        """Tell of records that cannot pass: nobody gets them, nor what follows them."""
        self.counts.upstream_errors[codes.CORRUPT_MESSAGE] += 1
        _LOG.error("upstream sent unusable batches at offset %d: %s: %s", asked, why, _named(reader))

    def _refused(self, reader: PartitionReader, asked: int, row: Fetched) -> None:
        """Take an error about a partition."""
        if row.error_code == codes.OFFSET_OUT_OF_RANGE and reader.preferred is None:
            self._fail(reader, look_for_home=False)
            self._begin(self._find_range(reader, asked))
        elif row.current_leader is not None and self.upstream.moved(reader.topic_id, reader.partition, *row.current_leader):
            # The broker that led says who leads now: no need to look.
            self._move(reader, None)
        else:
            name = codes.name_of(row.error_code)
            _LOG.info("upstream refused a partition: code=%d (%s) %s", row.error_code, name, _named(reader))
            self._fail(reader)

    def _move(self, reader: PartitionReader, preferred: tuple[int, float] | None) -> None:
        """Read elsewhere from now on: at a follower, or at the leader."""
        reader.preferred = preferred
        self._leave(reader)
        if not self._move_in(reader):
            self._fail(reader)

    def _fail(self, reader: PartitionReader, *, look_for_home: bool = True) -> None:
        # A follower may be behind, or have lost its leader: whatever it says, the leader knows better.
        reader.preferred = None
        if reader.failing_since is None:
            reader.failing_since = time.monotonic()
        self._leave(reader)
        if look_for_home:
            self._find_home(reader)

    @staticmethod
    def _leave(reader: PartitionReader) -> None:
        if reader.lanes is not None:
            reader.lanes.discard(reader)
            reader.lanes = None

    def _find_home(self, reader: PartitionReader) -> None:
        if self._readers.get(reader.source) is not reader:
            return  # Its topic is gone.
        self._homeless.add(reader)
        if self._search is None or self._search.done():
            self._search = asyncio.get_running_loop().create_task(self._find_homes())

    async def _find_homes(self) -> None:
        """Look for the leaders of readers that have none, until each has one."""
        begun, is_again = time.monotonic(), False
        while self._homeless:
            now = time.monotonic()
            failing = [now - reader.failing_since for reader in self._homeless if reader.failing_since is not None]
            is_again = is_again or bool(failing)
            if is_again:
                # The longer it lasts, the longer is waited.
                await asyncio.sleep(min(max(_FIRST_WAIT, min(failing, default=now - begun)), _LONGEST_WAIT))
            wanted = {reader.topic for reader in self._homeless}
            known = {reader.topic: self.upstream.known(reader.topic_id) for reader in self._homeless}
            if is_again or not all(known.values()):
                with contextlib.suppress(*UpstreamError):
                    await self._unless_refused(self.upstream.topics(wanted))
            for reader in list(self._homeless):
                if await self._unless_refused(self._looked_at(reader)) and self._move_in(reader):
                    self._homeless.discard(reader)
            is_again = True

    @staticmethod
    async def _unless_refused(work: Awaitable[_Found]) -> _Found | None:
        """Carry on without what a disk or an answer refuses: it is tried again with the next look."""
        try:
            return await work
        except ShareStateError as refused:
            _LOG.warning("leaders are looked for again: %s", refused)
            return None

    async def _looked_at(self, reader: PartitionReader) -> bool:
        """See whether a new leader still has what was read from the one before; says whether that is known."""
        topic = self.upstream.known(reader.topic_id)
        if topic is None or reader.partition >= len(topic.partitions):
            return False
        partition = topic.partitions[reader.partition]
        node = self.upstream.node(partition.leader)
        if node is None:
            return False
        try:
            cut = await cut_at(self.upstream, node, reader, partition.leader_epoch)
            is_cut = cut is not None and not await self.upstream.lives.shrank(topic)
        except UpstreamError as lost:
            _LOG.info("a new leader cannot be reached: %s: %s", lost, _named(reader))
            return False
        if cut is not None and is_cut:
            self._truncate(reader, cut)
        return True

    def _move_in(self, reader: PartitionReader) -> bool:
        topic = self.upstream.known(reader.topic_id)
        if topic is None or reader.partition >= len(topic.partitions):
            return False
        partition = topic.partitions[reader.partition]
        node = self.upstream.node(partition.leader if reader.preferred is None else reader.preferred[0])
        if node is None:
            return False
        lanes = self._lanes.get((node, reader.isolation))
        if lanes is None:
            lanes = self._lanes[node, reader.isolation] = BrokerLanes(self, node, reader.isolation)
        reader.lanes = lanes
        reader.leader_epoch = partition.leader_epoch
        lanes.read_tail(reader)
        if reader.back_reads:
            lanes.read_back(reader)
        return True

    async def _find_range(self, reader: PartitionReader, asked: int) -> None:
        """Find out on which side of the log an offset lies that upstream does not have."""
        topic = self.upstream.known(reader.topic_id)
        try:
            if topic is not None:
                await self._compare(reader, topic, asked)
        finally:
            # In any case: a replica that is behind others says the same, and must not be asked in a loop.
            self._find_home(reader)

    async def _compare(self, reader: PartitionReader, topic: Topic, asked: int) -> None:
        place = topic.topic_id, reader.partition
        first = (await list_offsets(self.upstream, [(topic, reader.partition, EARLIEST)]))[place]
        last = (await list_offsets(self.upstream, [(topic, reader.partition, LATEST)]))[place]
        seen = self._end_of(*place)
        if last.error_code == codes.NONE:
            reader.high_watermark = max(reader.high_watermark, last.offset)
        if first.error_code == codes.NONE and asked < first.offset:
            reader.restart()
            reader.log_start_offset = first.offset
            self._rings.log_start_moved(reader.source, first.offset)
            self._rings.run()
        elif last.error_code == codes.NONE and asked > last.offset and not await self.upstream.lives.shrank(topic):
            if asked <= seen:
                self._truncate(reader, last.offset)
            else:
                # Nobody has seen a record there: that a log ends before a start offset is legal.
                reader.tail = max(seen, last.offset)

    def _truncate(self, reader: PartitionReader, offset: int) -> None:
        self.counts.truncations += 1
        _LOG.warning("upstream truncated the log, which now ends at offset %d: %s", offset, _named(reader))
        # Seen once for both: who saw it later would forget what was settled of the new records.
        readers = self._of(reader.topic_id, reader.partition)
        # First those who know of more: they would ask for it again.
        self.truncated(readers, offset)
        for one in readers:
            one.restart()
            one.high_watermark = offset
        self._rings.run()

    def _begin(self, work: Any) -> None:  # noqa: ANN401  a coroutine
        async def guarded() -> None:
            with contextlib.suppress(*UpstreamError, ShareStateError):
                await work

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _end_of(reader: PartitionReader, row: Fetched) -> int:
    """Return the offset up to which an answer could hold records of a partition."""
    return row.last_stable_offset if reader.isolation else row.high_watermark


def _named(reader: PartitionReader) -> str:
    """Name a partition for the log."""
    return named(topic=reader.topic, topic_id=reader.topic_id, partition=reader.partition)
