"""Follows the state topic: long polls to the brokers that lead its partitions, into the fold in Rust and the copy on disk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.kafka import codes
from share_state.kafka.client.client import UnansweredError
from share_state.kafka.client.fetch import Fetched, fetch_topics
from share_state.kafka.client.metadata import Topic
from share_state.kafka.client.offsets import EARLIEST
from share_state.operate.live.rights import NotAllowedError, Right
from share_state.operate.reading.plain import STATE_TOPIC

if TYPE_CHECKING:
    from pathlib import Path

    from share_state._core import StateTopicFollower
    from share_state.kafka.client.connections import Connections
    from share_state.kafka.client.peers import Node
    from share_state.operate.live.asked import Asked
    from share_state.operate.live.copy import TopicCopy
    from share_state.operate.live.problems import Problems

__all__ = ["StatePartitionPlace", "StateTopic"]

_MAX_WAIT_MS: Final = 500
_PARTITION_MAX_BYTES: Final = 4 << 20
#: Seconds before what failed is tried again.
_PAUSE_S: Final = 1.0
#: Frames that are larger are folded beside the event loop.
_LARGE: Final = 256 << 10
#: Records of the copy between two prunings.
_PRUNE_EVERY: Final = 10_000
_SOURCE: Final = f"the topic {STATE_TOPIC}"
_LEADERS: Final = f"leaders of the partitions of {STATE_TOPIC}"


class StatePartitionPlace(NamedTuple):
    """Place up to which one partition of the state topic was read, by offsets."""

    #: The first offset that was not read yet.
    read: int
    #: The first offset that a share coordinator still needs; None where a snapshot is missing or nothing is live.
    needed: int | None
    #: Bounds of the log, as the last answer of its leader has them; None before the first.
    log_start: int | None
    log_end: int | None


class StateTopic:
    """Reads the state topic from its log start, or from where the copy ends, for as long as it runs.

    Args:
        asked: the cluster.
        follower: takes the records.
        problems: is told what fails.
        directory: of the copy; None keeps none.
    """

    def __init__(self, asked: Asked, follower: StateTopicFollower, problems: Problems, directory: Path | None) -> None:
        self._asked = asked
        self._follower = follower
        self._problems = problems
        self._directory = directory
        self._copy: TopicCopy | None = None
        self._topic: Topic | None = None
        self._next: dict[int, int] = {}
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._unpruned = 0
        self._moved = asyncio.Event()
        #: Set once every partition was read to the end that it had at the beginning.
        self.caught_up = asyncio.Event()
        #: Records, or batches, that could not be read.
        self.refused = 0

    @property
    def behind(self) -> int | None:
        """Number of offsets of the state topic that are not read yet; None while that is not known."""
        if self._topic is None or self._ends.keys() != set(range(len(self._topic.leaders))):
            return None
        return sum(max(0, end - self._next[partition]) for partition, end in self._ends.items())

    def places(self) -> dict[int, StatePartitionPlace]:
        """Return how far each state partition was read."""
        return {
            number: StatePartitionPlace(
                place["next_offset"], place["needed_from"], self._starts.get(number), self._ends.get(number)
            )
            for number, place in self._follower.places().items()
        }

    async def run(self) -> None:
        """Follow the topic until the task is cancelled."""
        connections = self._asked.connections()
        try:
            while True:
                try:
                    await self._once(connections)
                except UnansweredError as error:
                    self._problems.note(_SOURCE, error)
                except NotAllowedError as error:
                    self._not_allowed(error.right)
                await asyncio.sleep(_PAUSE_S)
        finally:
            await connections.close()
            if self._copy is not None:
                self._copy.close()

    async def _once(self, connections: Connections) -> None:
        """Follow the topic while its leaders stay where they are."""
        topic = await self._asked.topic(STATE_TOPIC)
        if topic is None:
            # Brokers make it with the first share group.
            self._problems.answered(_SOURCE)
            self._topic = Topic(STATE_TOPIC, "", ())
            self.caught_up.set()
            return
        if self._topic is None or self._topic.topic_id != topic.topic_id:
            await self._begin(topic)
        self._topic = topic
        by_node: dict[Node, list[int]] = {}
        for partition, leader in enumerate(topic.leaders):
            if (node := self._asked.node(leader)) is not None:
                by_node.setdefault(node, []).append(partition)
        led = sum(map(len, by_node.values()))
        if led < len(topic.leaders):
            self._problems.note(_LEADERS, f"{len(topic.leaders) - led} of {len(topic.leaders)} have none")
        else:
            self._problems.answered(_LEADERS)
        self._moved.clear()
        async with asyncio.TaskGroup() as readers:
            for node, partitions in by_node.items():
                readers.create_task(self._read(connections, node, topic, partitions))

    async def _begin(self, topic: Topic) -> None:
        """Begin with a topic that was not followed yet."""
        for partition in self._follower.places():
            self._follower.begin(partition, 0)
        if self._directory is not None:
            # Late: the copy brings in modules that a view without one does without.
            from share_state.operate.live.copy import TopicCopy  # noqa: PLC0415

            if self._copy is not None:
                self._copy.close()
            self._copy = await asyncio.to_thread(TopicCopy, self._directory, topic.topic_id)
            await asyncio.to_thread(self._copy.load, self._follower)
        places = self._follower.places()
        everywhere = [(topic, partition) for partition in range(len(topic.leaders))]
        starts = await self._asked.offsets(everywhere, set(), at=EARLIEST)
        for partition in range(len(topic.leaders)):
            known = places[partition]["next_offset"] if partition in places else 0
            if known == 0:
                known = starts.get((topic.topic_id, partition), 0)
                self._follower.begin(partition, known)
            self._next[partition] = known
        self._starts.clear()
        self._ends.clear()

    async def _read(self, connections: Connections, node: Node, topic: Topic, partitions: list[int]) -> None:
        """Read the partitions that a broker leads, until one of them moves away."""
        while not self._moved.is_set():
            try:
                connection = await connections.connection(node)
                offsets = {partition: self._next[partition] for partition in partitions}
                answer = await fetch_topics(
                    connection, [(topic, offsets)], partition_max_bytes=_PARTITION_MAX_BYTES, max_wait_ms=_MAX_WAIT_MS
                )
                for one in answer.partitions:
                    await self._take(topic, one, answer.frame)
            except UnansweredError as error:
                self._problems.note(_SOURCE, error)
                self._moved.set()

    async def _take(self, topic: Topic, one: Fetched, frame: bytes) -> None:
        if one.error_code == codes.NONE:
            self._starts[one.partition] = one.log_start_offset
            self._ends[one.partition] = one.high_watermark
            if one.end > one.start:
                await self._fold(one, frame)
            if self.behind == 0:
                self.caught_up.set()
            self._problems.answered(_SOURCE)
        elif one.error_code == codes.OFFSET_OUT_OF_RANGE:
            # Pruned meanwhile, or another log than before: as a loader does, from its start.
            starts = await self._asked.offsets([(topic, one.partition)], set(), at=EARLIEST)
            start = starts.get((topic.topic_id, one.partition))
            if start is not None:
                self._follower.begin(one.partition, start)
                self._next[one.partition] = start
                if self._copy is not None:
                    self._copy.forget(one.partition)
        elif one.error_code == codes.TOPIC_AUTHORIZATION_FAILED:
            self._not_allowed(Right("READ", "topic", STATE_TOPIC))
            self._moved.set()
        else:
            # Its leader is another one, or is being elected.
            self._moved.set()

    def _not_allowed(self, right: Right) -> None:
        self._problems.note(_SOURCE, f"it cannot be read: {right} is missing", {right})

    async def _fold(self, one: Fetched, frame: bytes) -> None:
        taking = (one.partition, frame, one.start, one.end)
        if one.end - one.start > _LARGE:
            next_offset, (start, end), refused = await asyncio.to_thread(self._follower.take, *taking)
        else:
            next_offset, (start, end), refused = self._follower.take(*taking)
        read = next_offset - self._next[one.partition]
        self._next[one.partition] = next_offset
        for offset, text in refused:
            self.refused += 1
            self._problems.note(f"state partition {one.partition}, offset {offset}", f"passed over: {text}")
        if self._copy is not None:
            self._unpruned += read
            try:
                self._keep(self._copy, one.partition, memoryview(frame)[start:end])
            except OSError as error:
                # The view goes on; the next start reads more from the cluster.
                self._problems.note(f"the copy in {self._directory}", error)
                self._copy.close()
                self._copy = None

    def _keep(self, copy: TopicCopy, partition: int, batches: memoryview) -> None:
        copy.append(partition, batches)
        if self._unpruned >= _PRUNE_EVERY:
            self._unpruned = 0
            copy.prune({number: place["needed_from"] for number, place in self._follower.places().items()})
