"""Records of a hostile upstream, and which of its requests are meant."""

from __future__ import annotations

from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.faults import Which
from tests.gateway.wire.batches import records
from tests.gateway.wire.codec import Message, api_key

FETCH = api_key("Fetch")
#: Fetches of one broker while a member waits twice for 100 ms: one that asks again without a pause sends thousands.
FEW = 40


def values(first: int, count: int) -> list[bytes | None]:
    """The values of so many records: their numbers."""
    return [b"%d" % number for number in range(first, first + count)]


def fetches_of(upstream: HostileUpstream, name: str) -> Which:
    """Fetches that want a topic."""
    topic_id = upstream.topics[name].topic_id

    def which(key: int, message: Message) -> bool:
        return key == FETCH and any({one.get("topicId"), one.get("topic")} & {topic_id, name} for one in message["topics"])

    return which


def there(upstream: HostileUpstream, name: str) -> dict[tuple[int, int], bytes | None]:
    """Every record that a topic has, by partition and offset."""
    with upstream.lock:
        return {
            (number, offset): value
            for number, partition in enumerate(upstream.topics[name].partitions)
            for _, data in partition.log.batches
            for offset, value in records(data)
            if offset >= partition.log.start
        }


def settled(books: Books, topic_id: str) -> dict[tuple[int, int], bytes | None]:
    """Records of a topic that a group has settled, by partition and offset."""
    return {(place.partition, place.offset): books.values[place] for place in books.settled if place.topic_id == topic_id}


def all_settled(books: Books, count: int, *members: Member) -> bool:
    """Take what is there; true once so many records are settled."""
    for member in members:
        member.acknowledge(member.poll())
    return len(books.settled) >= count
