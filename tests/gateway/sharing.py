"""A gateway over a broker whose records a test knows by heart, and members that fetch and acknowledge by bare requests.

``apples`` has two partitions: records 0 to 19 in batches of five, and records 0 and 1 in one batch. ``beans`` has one, with three
batches of one record. All of them have been read once, so a fetch finds them at hand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from share_state.gateway import ShareGateway
from share_state.types import SharePartitionKey
from tests.gateway.hostile import HostileUpstream
from tests.gateway.patience import wait_until
from tests.gateway.serving import MEMBER, fetch, heartbeat, serving
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection

APPLES, BEANS = "apples", "beans"
#: Ids that a test may write down; the last one is nobody's.
A, B, NOBODY = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2, 3))
#: Another member.
OTHER = "B" * 22
#: Limits of a fetch that takes no record.
NO_LIMITS: dict[str, Any] = {"maxWaitMs": 0, "minBytes": 0, "maxBytes": 0, "maxRecords": 0}
#: The same ids as the gateway's parts have them.
A64, B64 = "AAAAAAAAQACAAAAAAAAAAQ", "AAAAAAAAQACAAAAAAAAAAg"
_SHORT = {A: A64, B: B64}
PLACES = [(A, 0), (A, 1), (B, 0)]
LOCK_MS = 20_000

Place = tuple[str, int]
#: First offset, last offset, types.
Batch = tuple[int, int, list[int]]


class Market:
    """The broker, the gateway over it, and a connection to that one."""

    def __init__(self, upstream: HostileUpstream, gateway: ShareGateway, connection: Connection) -> None:
        self.upstream = upstream
        self.gateway = gateway
        self.connection = connection

    def records(self, topic: str, partition: int, *batches: int) -> bytes:
        """Batches of a partition by number, as they were appended."""
        with self.upstream.lock:
            log = self.upstream.topics[topic].partitions[partition].log
            return b"".join(log.batches[number][1] for number in batches)

    def join(self, group: str, topics: Sequence[str] = (APPLES, BEANS)) -> None:
        """Have a group, so that its share partitions have states."""
        assert self.connection.ask("ShareGroupHeartbeat", 1, heartbeat(group, list(topics)))["errorCode"] == 0

    def member(self, group: str, places: Sequence[Place] = PLACES, **who: Any) -> Member:
        """A member with a session at epoch 1 and every share partition loaded, but no records."""
        self.join(group)
        member = Member(self, group, **who)
        assert rows(member.fetch(list(places), maxRecords=0)) == {}
        self.ready(group, places)
        return member

    def ready(self, group: str, places: Sequence[Place] = PLACES) -> None:
        """Wait until share partitions of a group are loaded."""

        wait_until(lambda: all(self.serves(group, place) for place in places), f"{places} of {group}")

    def serves(self, group: str, place: Place) -> bool:
        """Tell if a share partition is in memory, and loaded."""
        topic, number = place
        return self.gateway.plane.node.shown(SharePartitionKey(group, _SHORT[topic], number)) is not None

    @property
    def counts(self) -> dict[str, Any]:
        """The node's counts up to now."""
        return self.gateway.plane.node.counts()

    def count(self, name: str, *of: object) -> int:
        """A count of the node up to now, by its label if it has several."""
        found = self.counts[name]
        return int(found.get(of[0] if len(of) == 1 else of, 0) if of else found)


class Member:
    """Session over a connection, by default that of the market. Each request has the next epoch."""

    def __init__(self, market: Market, group: str, member: str = MEMBER, connection: Connection | None = None) -> None:
        self.connection = connection or market.connection
        self.named = {"groupId": group, "memberId": member}
        self.epoch = 0

    def fetch(
        self,
        places: Sequence[Place] = (),
        acknowledged: dict[Place, list[Batch]] | None = None,
        *,
        version: int = 2,
        epoch: int | None = None,
        **limits: Any,
    ) -> Message:
        """Ask ShareFetch; the acknowledgements come after the places that are added."""
        asked = fetch("", self._next(epoch), list(places), **limits)
        asked["topics"] += topics(acknowledged or {})
        return self.connection.ask("ShareFetch", version, {**asked, **self.named})

    def acknowledge(
        self, acknowledged: dict[Place, list[Batch]], *, version: int = 2, epoch: int | None = None, **more: Any
    ) -> Message:
        """Ask ShareAcknowledge."""
        asked = {"shareSessionEpoch": self._next(epoch), "topics": topics(acknowledged), **more}
        return self.connection.ask("ShareAcknowledge", version, {**asked, **self.named})

    def _next(self, epoch: int | None) -> int:
        if epoch is None:
            epoch = self.epoch
            self.epoch += 1
        return epoch


def topics(acknowledged: dict[Place, list[Batch]]) -> list[Message]:
    """Acknowledgements in a request: a row of its own for each place."""
    names = ("firstOffset", "lastOffset", "acknowledgeTypes")
    return [
        {
            "topicId": topic,
            "partitions": [
                {
                    "partitionIndex": number,
                    "acknowledgementBatches": [dict(zip(names, batch, strict=True)) for batch in batches],
                }
            ],
        }
        for (topic, number), batches in acknowledged.items()
    ]


def rows(answer: Message) -> dict[Place, Message]:
    """The rows of an answer without an error by their place, in their order."""
    assert answer["errorCode"] == 0, answer
    return {(one["topicId"], row["partitionIndex"]): row for one in answer["responses"] for row in one["partitions"]}


def given(answer: Message) -> dict[Place, list[tuple[int, int, int]]]:
    """The records of an answer: first offset, last offset, delivery count."""
    return {
        place: [(one["firstOffset"], one["lastOffset"], one["deliveryCount"]) for one in row["acquiredRecords"]]
        for place, row in rows(answer).items()
        if row["acquiredRecords"]
    }


def told(answer: Message) -> dict[Place, tuple[int, int]]:
    """The codes of the rows of a ShareFetch: of the fetch, and of the acknowledgements."""
    return {place: (row["errorCode"], row["acknowledgeErrorCode"]) for place, row in rows(answer).items()}


def refused(answer: Message) -> int:
    """The code of an answer that says nothing else."""
    expected: Message = {"throttleTimeMs": 0, "errorMessage": None, "responses": [], "nodeEndpoints": []}
    # Version 1 of ShareAcknowledge has no such time.
    if "acquisitionLockTimeoutMs" in answer:
        expected["acquisitionLockTimeoutMs"] = 0
    assert answer == {**expected, "errorCode": answer["errorCode"]}
    return int(answer["errorCode"])


@contextlib.contextmanager
def market(path: Path, **options: Any) -> Iterator[Market]:
    """Serve it."""
    groups = {"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": str(LOCK_MS)}
    with HostileUpstream() as upstream:
        for name, topic_id, partitions in ((APPLES, A, 2), (BEANS, B, 1)):
            upstream.create(name, partitions)
            with upstream.lock:
                upstream.topics[name].topic_id = topic_id
        for first in (0, 5, 10, 15):
            upstream.append(APPLES, 0, [b"%d" % number for number in range(first, first + 5)])
        upstream.append(APPLES, 1, [b"one", b"two"])
        for _ in range(3):
            upstream.append(BEANS, 0, [b"bean"])
        with (
            serving(upstream.bootstrap, path, **{"groups": groups, **options}) as gateway,
            Connection(gateway.bootstrap_servers) as connection,
        ):
            made = Market(upstream, gateway, connection)
            made.join("the first")
            reader = Member(made, "the first")
            for place in PLACES:
                assert given(reader.fetch([place], maxWaitMs=10_000))
            yield made
