"""Which life of a topic is it, where upstream has no ids for topics: signs that it was deleted and created again.

(a) Its name was unknown to two brokers in a row and is known again. (b) A log ends earlier than before. (c) A leader epoch is
lower than before, and the broker that leads in it says so itself. (d) It has fewer partitions.

(d) is proof, and so are two of the others together. (b) alone is a log that was cut, (a) alone a broker that has just started
and has not heard of the topic, (c) alone metadata of a broker that is behind: a needless new id would lose records with
``share.auto.offset.reset=latest``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from share_state.gateway.upstream.offsets import list_offsets
from share_state.gateway.upstream.topics import Partition, Topic, TopicRegistry, newest
from share_state.kafka import codes
from share_state.kafka.client.offsets import LATEST
from share_state.kafka.client.peers import Address

if TYPE_CHECKING:
    from share_state.gateway.upstream.cluster import Upstream

__all__ = ["Lives"]

#: So many brokers in a row must not know a topic; of a cluster of one it is asked as often.
_WITNESSES: Final = 2


class Lives:
    """Keeps the signs, by the names of topics.

    Args:
        upstream: the cluster.
        registry: names and ids.
    """

    def __init__(self, upstream: Upstream, registry: TopicRegistry) -> None:
        #: Gives the greatest end offset that was seen of a partition of a topic id, -1 for none.
        self.end_of: Callable[[str, int], int] = lambda _id, _partition: -1
        self._upstream = upstream
        self._registry = registry
        self._unknown_to: dict[str, list[Address]] = {}
        #: Topics that have vanished and come back, and whose logs have not been looked at yet.
        self._back: set[str] = set()

    def missed(self, name: str, broker: Address) -> None:
        """Note that a broker does not know a topic."""
        self._unknown_to.setdefault(name, []).append(broker)

    def knows(self, name: str) -> None:
        """Note that a broker knows a topic."""
        witnesses = self._unknown_to.pop(name, [])
        if len(witnesses) >= _WITNESSES and len(set(witnesses)) >= min(_WITNESSES, len(self._upstream.nodes())):
            self._back.add(name)

    async def judged(self, known: Topic, told: tuple[Partition, ...]) -> tuple[bool, tuple[Partition, ...]]:
        """Judge what a broker says of a topic without an id.

        Returns:
            Whether it is another topic of that name, and its partitions as they are to be believed.
        """
        older = self._older(known.name, told)
        if not older and known.name not in self._back:
            return False, newest(known.partitions, told)
        # A leader that is asked in an epoch that is not its own refuses.
        asked = [(Topic(known.name, known.topic_id, known.is_internal, told), number, LATEST) for number in range(len(told))]
        found = await list_offsets(self._upstream, asked, in_epoch=True)
        confirmed = {number for (_, number), one in found.items() if one.error_code == codes.NONE}
        is_shorter = any(found[known.topic_id, number].offset < self.end_of(known.topic_id, number) for number in confirmed)
        is_back, has_older = known.name in self._back, bool(older & confirmed)
        if confirmed:
            self._back.discard(known.name)
        if is_back + is_shorter + has_older >= _WITNESSES:
            return True, told
        believed = newest(known.partitions, told)
        return False, tuple(told[number] if number in confirmed else one for number, one in enumerate(believed))

    async def shrank(self, topic: Topic) -> bool:
        """Look at Metadata because a log ends earlier than before, and say whether the topic is another one."""
        if not self._registry.is_made_up(topic.name):
            return False
        await self._upstream.topics([topic.name])
        now = self._upstream.known_by_name(topic.name)
        if now is None or now.topic_id != topic.topic_id:
            return True
        if not self._older(topic.name, now.partitions):
            return False
        await self._upstream.begin_anew(topic.name)
        return True

    def _older(self, name: str, told: tuple[Partition, ...]) -> set[int]:
        """Return the partitions whose leader epoch is lower than one that was seen."""
        seen = self._registry.epochs_of(name)
        return {number for number, (one, epoch) in enumerate(zip(told, seen, strict=False)) if 0 <= one.leader_epoch < epoch}
