"""A member of a share group over a bare connection: it joins, takes records, and writes down everything in the group's books."""

from __future__ import annotations

import uuid
from collections import defaultdict
from types import TracebackType
from typing import Final, Self

from tests.gateway.faults.books import ACCEPT, Books, Place
from tests.gateway.patience import wait_until
from tests.gateway.wire.batches import records
from tests.gateway.wire.codec import Message, api_key, decode, encode
from tests.gateway.wire.connection import Connection, Disconnected

_FETCH: Final = api_key("ShareFetch")
_VERSION: Final = 1
_GAP: Final = 0
#: SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH: begin another session.
_SESSION_LOST: Final = frozenset({122, 123})


class Member:
    """A context manager, whose end closes the connection without a goodbye.

    Args:
        bootstrap: where the gateway listens.
        group: its group.
        topics: what it subscribes to; all their partitions are fetched.
        books: of the group.
    """

    def __init__(self, bootstrap: str, group: str, topics: list[str], books: Books) -> None:
        self.name = str(uuid.uuid4())
        self.books = books
        self.errors: list[int] = []
        #: Its epochs, as it was told.
        self.epochs: list[int] = []
        self._bootstrap = bootstrap
        self._group = group
        self._topics = topics
        self.places: set[tuple[str, int]] = set()
        self._epoch = 0
        self._to_acknowledge: list[tuple[Place, int]] = []
        self._sent: list[tuple[Place, int]] = []
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Lose the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._forget()

    @property
    def connection(self) -> Connection:
        """The connection, opened when it is first needed."""
        if self._connection is None:
            self._connection = Connection(self._bootstrap)
        return self._connection

    def join(self) -> Self:
        """Join the group, or say again that it is there, and learn where records are."""
        # Metadata first: the gateway initialises share partitions of what it has told of, with the next heartbeat.
        found = self.connection.ask("Metadata", 12, {"topics": [{"name": name} for name in self._topics]})["topics"]
        self.places = {
            (topic["topicId"], one["partitionIndex"]) for topic in found if topic["errorCode"] == 0 for one in topic["partitions"]
        }
        answer = self.connection.ask("ShareGroupHeartbeat", 1, {
            "groupId": self._group, "memberId": self.name, "memberEpoch": 0, "rackId": None, "subscribedTopicNames": self._topics,
        })  # fmt: skip
        assert answer["errorCode"] == 0, answer
        self.epochs.append(answer["memberEpoch"])
        return self

    def leave(self) -> None:
        """Leave the group."""
        asked = {"groupId": self._group, "memberId": self.name, "memberEpoch": -1, "rackId": None, "subscribedTopicNames": None}
        assert self.connection.ask("ShareGroupHeartbeat", 1, asked)["errorCode"] == 0

    def moved(self, bootstrap: str) -> None:
        """The gateway listens elsewhere, if this is another address than before."""
        if bootstrap != self._bootstrap:
            self.close()
            self._bootstrap = bootstrap

    @property
    def has_more_to_say(self) -> bool:
        """True if there are acknowledgements that go with the next poll."""
        return bool(self._to_acknowledge)

    @property
    def topic(self) -> str:
        """The id of the only topic."""
        (found,) = {topic_id for topic_id, _ in self.places}
        return found

    def topic_id(self, name: str) -> str:
        """The id of a topic, as Metadata tells it now."""
        (found,) = self.connection.ask("Metadata", 12, {"topics": [{"name": name}]})["topics"]
        return str(found["topicId"])

    def acknowledge(self, places: list[Place], kind: int = ACCEPT) -> None:
        """Acknowledge with the next poll."""
        self._to_acknowledge += [(place, kind) for place in places]

    def poll(self, wait_ms: int = 100, *, most: int = 500) -> list[Place]:
        """Send acknowledgements and take records.

        Raises:
            Disconnected: the connection is gone, and with it everything that was held.
        """
        self.ask(wait_ms, most=most)
        return self.answered()

    def ask(self, wait_ms: int = 100, *, most: int = 500) -> None:
        """Send what :meth:`poll` sends, and do not wait."""
        self._sent, self._to_acknowledge = self._to_acknowledge, []
        if self._epoch == 0:
            # Acknowledgements belong to a session: what was held in an earlier one is no longer.
            self._sent = []
        for place, _ in self._sent:
            self.books.send(place)
        try:
            self.connection.send(_FETCH, _VERSION, encode(_FETCH, _VERSION, self._request(self._sent, wait_ms, most)))
        except Disconnected:
            self.close()
            raise

    def answered(self) -> list[Place]:
        """Take the answer to what was asked."""
        try:
            answer = decode(_FETCH, _VERSION, self.connection.receive(_FETCH, _VERSION), response=True, complete=False)
        except Disconnected:
            self.close()
            raise
        if answer["errorCode"] != 0:
            assert answer["errorCode"] in _SESSION_LOST, answer
            self._forget()
            return []
        self._epoch += 1
        return self._take(answer, self._sent)

    def drain(self, settled: int, what: str = "every record is settled") -> None:
        """Accept whatever comes until so many records of the group are settled."""

        def look() -> bool:
            self.acknowledge(self.poll())
            return len(self.books.settled) >= settled

        wait_until(look, what)
        self.poll(0)

    def _forget(self) -> None:
        self._epoch = 0
        self._to_acknowledge = []
        self.books.let_go(self.name)

    def _request(self, sent: list[tuple[Place, int]], wait_ms: int, most: int) -> Message:
        topics: dict[str, dict[int, list[Message]]] = defaultdict(lambda: defaultdict(list))
        if self._epoch == 0:
            for topic_id, number in self.places:
                topics[topic_id][number] = []
        for place, kind in sorted(sent):
            batch = {"firstOffset": place.offset, "lastOffset": place.offset, "acknowledgeTypes": [kind]}
            topics[place.topic_id][place.partition].append(batch)
        return {
            "groupId": self._group,
            "memberId": self.name,
            "shareSessionEpoch": self._epoch,
            "maxWaitMs": wait_ms,
            "minBytes": 1,
            "maxBytes": 1 << 20,
            "maxRecords": most,
            "batchSize": most,
            "topics": [
                {
                    "topicId": topic_id,
                    "partitions": [{"partitionIndex": one, "acknowledgementBatches": rows} for one, rows in partitions.items()],
                }
                for topic_id, partitions in topics.items()
            ],
            "forgottenTopicsData": [],
        }

    def _take(self, answer: Message, sent: list[tuple[Place, int]]) -> list[Place]:
        codes: dict[tuple[str, int], int] = {}
        taken: list[Place] = []
        answered = [(topic["topicId"], row) for topic in answer["responses"] for row in topic["partitions"]]
        for topic_id, row in answered:
            codes[topic_id, row["partitionIndex"]] = row["acknowledgeErrorCode"]
        # First what was settled: a record that is released comes with the same answer.
        for place, kind in sent:
            self.books.confirm(place, kind, self.name, codes[place[:2]]) if kind != _GAP else self.books.unheard.discard(place)
        for topic_id, row in answered:
            if row["errorCode"] != 0:
                self.errors.append(row["errorCode"])
            values = dict(records(row["records"] or b""))
            for acquired in row["acquiredRecords"]:
                for offset in range(acquired["firstOffset"], acquired["lastOffset"] + 1):
                    place = Place(topic_id, row["partitionIndex"], offset)
                    if offset in values:
                        self.books.deliver(place, values[offset], self.name)
                        taken.append(place)
                    else:
                        self._to_acknowledge.append((place, _GAP))
        return taken
