"""The upstream cluster: its brokers and topics, and connections to them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from share_state.gateway.upstream.lives import Lives
from share_state.gateway.upstream.topics import Partition, Topic, TopicRegistry, newest, partitions_of
from share_state.kafka import codes
from share_state.kafka.client.apis import METADATA
from share_state.kafka.client.client import MAX_FRAME, UnansweredError
from share_state.kafka.client.connection import Connection, ConnectionOptions
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.metadata import ZERO_ID, by_id, by_name, metadata_message, nodes_of
from share_state.kafka.client.peers import Address, LostError, Node
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.clock import LoopClock
from share_state.kafka.errors import BrokerUnreachableError
from share_state.logs import named

__all__ = ["Upstream"]

_LOG: Final = logging.getLogger("share_state.gateway.upstream")
#: The first Metadata that can be asked for topics by their ids.
_BY_ID: Final = 12
_NEEDS: Final = "the upstream of a gateway is Kafka 2.8 or newer, or speaks its protocol"
_CONTROL: Final = "control"
#: Topics that upstream is asked for at once: a client may name tens of thousands that there are not.
_TOPICS_AT_ONCE: Final = 1000

#: No broker of the upstream can be asked, or none wants to answer.
UpstreamError: Final = UnansweredError


class Upstream:
    """What upstream says of itself. All of it lives on one event loop.

    Args:
        bootstrap: addresses of some of its brokers.
        security: how connections are secured.
        registry: where names and ids of topics are kept.
        request_timeout: seconds that an answer may take.
    """

    def __init__(
        self,
        bootstrap: Sequence[Address],
        security: SecurityOptions,
        registry: TopicRegistry,
        *,
        request_timeout: float = 30.0,
    ) -> None:
        self._bootstrap = list(bootstrap)
        self._options = ConnectionOptions(
            security,
            LoopClock(),
            "share-state-gateway",
            connect_timeout=10.0,
            request_timeout=request_timeout,
            max_frame=MAX_FRAME,
            needs=_NEEDS,
            trailing=True,
        )
        self._registry = registry
        self._connections: dict[str, Connections] = {}
        self._nodes: dict[int, Node] = {}
        self._topics: dict[str, Topic] = {}
        #: The same with those that upstream does not know any more, as they were.
        self._last: dict[str, Topic] = {}
        #: Topics that upstream no longer knows, and since when (``time.monotonic()``).
        self._missing: dict[str, float] = {}
        self.lives = Lives(self, registry)
        self._has_told_all = False
        #: Topics came, went or changed, and ids of topics that are gone: :attr:`changed` is not called yet.
        self._is_news = False
        self._gone: list[str] = []
        #: Topics that were deleted and created again.
        self.recreations = 0
        #: Called when topics came, went or changed, with the ids of those that are gone.
        self.changed: Callable[[list[str]], None] = lambda _gone: None

    @property
    def bootstrap(self) -> list[Address]:
        """Addresses of brokers that were given."""
        return list(self._bootstrap)

    def node(self, node_id: int) -> Node | None:
        """Return a broker by its id."""
        return self._nodes.get(node_id)

    def nodes(self) -> list[Node]:
        """Return every broker that is known."""
        return list(self._nodes.values())

    def known(self, topic_id: str) -> Topic | None:
        """Return a topic by its id, as of the last answer that told of it."""
        name = self._registry.name_of(topic_id)
        topic = None if name is None else self._topics.get(name)
        return None if topic is None or topic.topic_id != topic_id else topic

    def known_by_name(self, name: str) -> Topic | None:
        """Return a topic by its name, as of the last answer that told of it."""
        return self._topics.get(name)

    def lane(self, name: str) -> Connections:
        """Give connections of their own for one use, so that it waits for no other."""
        found = self._connections.get(name)
        if found is None:
            found = self._connections[name] = self.connections()
        return found

    @property
    def control(self) -> Connections:
        """Connections for short questions."""
        return self.lane(_CONTROL)

    def connections(self, client_id: str | None = None, request_timeout: float | None = None) -> Connections:
        """Make connections for somebody who closes them again, under a name and with a patience of his own if need be."""
        # The brokers that answered last are asked first; what was given stays the last resort.
        addresses = [node.address for node in self._nodes.values()] + self._bootstrap
        usual = self._options
        options = replace(usual, client_id=client_id or usual.client_id, request_timeout=request_timeout or usual.request_timeout)
        return Connections(list(dict.fromkeys(addresses)), options)

    def moved(self, topic_id: str, partition: int, leader: int, leader_epoch: int) -> bool:
        """Take a broker's word for who leads a partition now; says whether that is news, and the leader is known."""
        topic = self.known(topic_id)
        if topic is None or self._last.get(topic.name) is not topic:
            return False  # A newer answer is about to be published.
        if not 0 <= partition < len(topic.partitions) or leader not in self._nodes:
            return False
        if leader_epoch <= topic.partitions[partition].leader_epoch:
            return False
        partitions = list(topic.partitions)
        partitions[partition] = Partition(leader, leader_epoch)
        self._topics[topic.name] = self._last[topic.name] = replace(topic, partitions=tuple(partitions))
        return True

    async def begin_anew(self, name: str) -> None:
        """Take a topic without an id for another one than before."""
        former = self._registry.renew(name)
        self._last.pop(name, None)
        self._topics.pop(name, None)
        if former is not None:
            _LOG.warning("a topic was created again: %s", named(topic=name, former_id=former))
            self.recreations += 1
            self._gone.append(former)
        await self.topics([name])

    async def topics(self, names: Iterable[str]) -> dict[str, Topic]:
        """Ask upstream for topics; those that do not exist are not among the answers.

        Raises:
            UpstreamError: no broker can be asked.
        """
        wanted = sorted(set(names))
        if not wanted:
            return {}
        found = await self._ask_in_parts(by_name(wanted))
        return {topic.name: topic for topic in found}

    async def all_topics(self) -> list[Topic]:
        """Ask upstream for every topic.

        Raises:
            UpstreamError: no broker can be asked.
        """
        found = await self._ask(None)
        self._has_told_all = True
        return found

    def all_known(self) -> list[Topic] | None:
        """Return every topic, as of the last answers that told of it; ``None`` where upstream has never told all."""
        return list(self._topics.values()) if self._has_told_all else None

    async def topics_by_id(self, topic_ids: Iterable[str]) -> dict[str, Topic]:
        """Ask upstream for topics by their ids.

        Raises:
            UpstreamError: no broker can be asked.
        """
        names = {topic_id: self._registry.name_of(topic_id) for topic_id in topic_ids}
        found = {topic.topic_id: topic for topic in (await self.topics(n for n in names.values() if n is not None)).values()}
        strange = [topic_id for topic_id, name in names.items() if name is None and topic_id != ZERO_ID]
        if strange and (await self.control.any()).version_of(METADATA) >= _BY_ID:
            answered = await self._ask_in_parts(by_id(strange))
            found |= {topic.topic_id: topic for topic in answered}
        return {topic_id: found[topic_id] for topic_id in names if topic_id in found}

    async def close(self) -> None:
        """Close every connection."""
        lanes, self._connections = list(self._connections.values()), {}
        await asyncio.gather(*(lane.close() for lane in lanes))

    async def _ask_in_parts(self, topics: list[dict[str, Any]]) -> list[Topic]:
        """Ask for many topics, a thousand at a time: others are served between the answers."""
        parts = [topics[start : start + _TOPICS_AT_ONCE] for start in range(0, len(topics), _TOPICS_AT_ONCE)]
        return [topic for part in parts for topic in await self._ask(part)]

    async def _ask(self, topics: list[dict[str, Any]] | None) -> list[Topic]:
        control = self.control
        connection = await self._opened(control)
        answer = await connection.request(METADATA, metadata_message(topics))
        self._nodes = nodes_of(answer)
        rows = await self._asked_again(connection, answer["topics"])
        return await self._seen(rows)

    async def _asked_again(self, first: Connection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Ask another broker for topics that the first does not know any more: it may have just started."""
        lost = {
            row["name"] for row in rows if row["errorCode"] == codes.UNKNOWN_TOPIC_OR_PARTITION and row["name"] in self._topics
        }
        for name in lost:
            self.lives.missed(name, first.node.address)
        other = next((node for node in self._nodes.values() if node.address != first.node.address), None)
        if not lost or other is None:
            return rows
        try:
            connection = await self.control.connection(other)
            answer = await connection.request(METADATA, metadata_message(by_name(sorted(lost))))
        except UpstreamError:
            return rows
        for row in answer["topics"]:
            if row["errorCode"] == codes.UNKNOWN_TOPIC_OR_PARTITION:
                self.lives.missed(row["name"], other.address)
        second = {row["name"]: row for row in answer["topics"]}
        return [second.get(row["name"], row) for row in rows]

    async def _opened(self, connections: Connections) -> Connection:
        try:
            return await connections.any()
        except LostError as lost:
            # Brokers may have moved while none was asked: what was given is tried again, from the start.
            # Somebody else who lost these may have made others.
            if self._connections.get(_CONTROL) is connections:
                del self._connections[_CONTROL]
            await connections.close()
            raise BrokerUnreachableError(str(lost), kafka_code=codes.NETWORK_EXCEPTION, node=lost.node) from lost

    async def _seen(self, answered: list[dict[str, Any]]) -> list[Topic]:
        topics = []
        for row in answered:
            if row["errorCode"] == codes.UNKNOWN_TOPIC_OR_PARTITION and self._topics.pop(row["name"], None) is not None:
                # Perhaps deleted, perhaps asked of a broker that has just started: its state is kept for a while.
                self._missing.setdefault(row["name"], time.monotonic())
                self._is_news = True
            # An error of a topic that exists: its leader is being elected, or it is none of ours.
            if row["errorCode"] not in {codes.NONE, codes.LEADER_NOT_AVAILABLE} or row["name"] is None:
                continue
            name, partitions, former = row["name"], partitions_of(row["partitions"]), None
            self.lives.knows(name)
            before = self._last.get(name)
            if row.get("topicId", ZERO_ID) == ZERO_ID and before is not None and self._registry.id_of(name) == before.topic_id:
                is_another, partitions = await self.lives.judged(before, partitions)
                # Somebody else may have judged it meanwhile.
                if is_another and self._registry.id_of(name) == before.topic_id:
                    former = self._registry.renew(name)
            topic_id, replaced = self._registry.see(name, row.get("topicId", ZERO_ID), len(partitions))
            former = former or replaced
            if before is not None and before.topic_id == topic_id and row.get("topicId", ZERO_ID) != ZERO_ID:
                partitions = newest(before.partitions, partitions)
            self._registry.saw_epochs(name, partitions)
            topic = Topic(name, topic_id, row.get("isInternal", False), partitions)
            self._last[name] = topic
            if former is not None:
                _LOG.warning("a topic was created again: %s", named(topic=topic.name, topic_id=topic_id, former_id=former))
                self.recreations += 1
                self._topics.pop(name, None)
                self._gone.append(former)
            self._missing.pop(topic.name, None)
            topics.append(topic)
        await self._publish(topics)
        return topics

    async def _publish(self, topics: list[Topic]) -> None:
        """Make topics known.

        Groups and clients hear of them in one step. A client that heard of an id before the groups would read a share
        partition that nobody has initialised.
        """
        # On disk before anybody hears of an id: it would not be the same after a restart.
        await self._registry.save()
        for topic in topics:
            # Another answer may have told of more meanwhile, or of another topic, whose id is not on disk yet.
            last = self._last.get(topic.name)
            if last is not None and last.topic_id == topic.topic_id:
                self._is_news = self._is_news or self._topics.get(topic.name) != last
                self._topics[topic.name] = last
        if self._is_news or self._gone:
            self._is_news, gone, self._gone = False, self._gone, []
            self.changed(gone)

    def view(self) -> list[tuple[str, str, int]]:
        """Return every topic that exists and that clients may subscribe to: name, id, number of partitions."""
        return [(topic.name, topic.topic_id, len(topic.partitions)) for topic in self._topics.values() if not topic.is_internal]

    def rows(self) -> list[tuple[str, str, int, bool]]:
        """Return every topic that exists: id, name, number of partitions, and whether it is Kafka's own."""
        topics = self._topics.values()
        return [(topic.topic_id, topic.name, len(topic.partitions), topic.is_internal) for topic in topics]

    def names(self) -> list[str]:
        """Return the name of every topic that clients were told of."""
        return [name for name, _, _ in self._registry.view()]

    async def forget_deleted(self, grace: float) -> None:
        """Take topics for deleted that have been missing for so many seconds."""
        since = time.monotonic() - grace
        gone = [name for name, missing in self._missing.items() if missing < since]
        self._gone += [topic_id for name in gone if (topic_id := self._registry.renew(name)) is not None]
        for name in gone:
            _LOG.warning("a topic is gone: %s", named(topic=name))
            del self._missing[name]
            self._last.pop(name, None)
        await self._publish([])
