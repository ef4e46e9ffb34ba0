"""A member of requests made by hand, which writes down all that it was told as events of a history."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tests.gateway.patience import wait_until
from tests.gateway.wire import Connection
from tests.gateway.wire.batches import headers
from tests.proof.histories.system import Line

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
#: INVALID_REQUEST, INVALID_RECORD_STATE: nothing of the acknowledgement happened.
_REFUSED: Final = frozenset({42, 121})
#: By these a share partition says that it is not ready yet.
_NOT_YET: Final = frozenset({3, 5, 6, 15, 100})
_MAX_BYTES: Final = 1 << 24

#: First offset, last offset, type.
Range = tuple[int, int, int]


@dataclass(slots=True)
class Fetched:
    """Answer to a ShareFetch for the one partition."""

    code: int = 0
    #: First offset, last offset, delivery count.
    acquired: list[Range] = field(default_factory=list)
    #: First and last offset of each batch that came.
    batches: list[tuple[int, int]] = field(default_factory=list)

    @property
    def offsets(self) -> list[int]:
        """Every acquired offset."""
        return [offset for first, last, _ in self.acquired for offset in range(first, last + 1)]

    def __str__(self) -> str:
        told = ", ".join(f"{first}-{last} ({count})" for first, last, count in self.acquired) or "nothing"
        return f"error {self.code}" if self.code else told


class Topic(Protocol):
    """A topic with one partition, its group, and the history of both."""

    name: str
    group: str
    topic_id: str

    def tell(self, kind: str, **fields: Any) -> None:
        """Write down an event of the share partition, which ends now."""

    def note(self, kind: str, **fields: Any) -> None:
        """Write down an event of the group."""


class Member:
    """A member that has joined and been assigned the topic's one partition."""

    def __init__(self, topic: Topic, name: str, bootstrap: str) -> None:
        #: In the history; the server knows it by another one.
        self.name = name
        self.member_id = str(uuid.uuid4())
        self._topic = topic
        self._connection = Connection(bootstrap)
        self._session_epoch = self._member_epoch = 0
        wait_until(self._is_assigned, f"a partition of {topic.name} is assigned")

    def fetch(self, *, most: int = 500, batch: int = 500, limit: bool = False, wait_ms: int = 100) -> Fetched:
        """Fetch once.

        Args:
            most: how many records are asked for.
            batch: the batch size, where acquired ranges are cut.
            limit: ask for no record beyond ``most``; else whole batches come.
            wait_ms: how long the server may wait for records.
        """
        opens = self._session_epoch == 0
        asked = [{"partitionIndex": 0, "acknowledgementBatches": []}]
        sent = time.monotonic_ns()
        answer = self._connection.ask("ShareFetch", 2, {
            "groupId": self._topic.group, "memberId": self.member_id, "shareSessionEpoch": self._session_epoch,
            "maxWaitMs": wait_ms, "minBytes": 1, "maxBytes": _MAX_BYTES, "maxRecords": most, "batchSize": batch,
            "shareAcquireMode": int(limit),
            "topics": [{"topicId": self._topic.topic_id, "partitions": asked}] if opens else [],
            "forgottenTopicsData": [],
        }, complete=False)  # fmt: skip
        if answer["errorCode"]:
            return self._told(Fetched(answer["errorCode"]), sent, 0)
        self._session_epoch += 1
        fetched = Fetched()
        for topic in answer["responses"]:
            for row in topic["partitions"]:
                fetched.code = row["errorCode"]
                fetched.acquired = [
                    (one["firstOffset"], one["lastOffset"], one["deliveryCount"]) for one in row["acquiredRecords"]
                ]
                fetched.batches = [(head.base_offset, head.last_offset) for head in headers(row["records"] or b"")]
        return self._told(fetched, sent, answer["acquisitionLockTimeoutMs"])

    def take(self, until: int, **how: Any) -> list[Range]:
        """Fetch until the record at an offset is acquired; all that was acquired."""
        taken: list[Range] = []

        def there() -> bool:
            fetched = self.fetch(**how)
            if fetched.code not in {0, *_NOT_YET}:
                raise RuntimeError(f"a fetch was answered by error {fetched.code}")
            taken.extend(fetched.acquired)
            return any(last >= until for _, last, _ in fetched.acquired)

        wait_until(there, f"the record at {until} is acquired")
        return taken

    def acknowledge(self, *ranges: Range) -> int:
        """Acknowledge ranges, in the order given; the error code of the answer."""
        batches = [{"firstOffset": first, "lastOffset": last, "acknowledgeTypes": [kind]} for first, last, kind in ranges]
        row = {"partitionIndex": 0, "acknowledgementBatches": batches}
        sent = time.monotonic_ns()
        answer = self._acknowledge(self._session_epoch, [{"topicId": self._topic.topic_id, "partitions": [row]}])
        self._session_epoch += 1
        code = int(answer["errorCode"] or answer["responses"][0]["partitions"][0]["errorCode"])
        outcome = "refused" if code in _REFUSED else "unknown" if code else "ok"
        self._topic.tell("ack", sent=sent, member=self.name, ranges=[list(one) for one in ranges], outcome=outcome, code=code)
        return code

    def end_session(self) -> None:
        """End the share session, which releases what is held. The answer does not wait for that."""
        self._acknowledge(-1, [])
        self.begin_again()

    def close(self) -> None:
        """Lose the connection."""
        self._connection.close()
        self._topic.note("gone", member=self.name)

    def begin_again(self) -> None:
        """Begin another session with the next fetch."""
        self._session_epoch = 0
        self._topic.note("gone", member=self.name)

    def connect_again(self, bootstrap: str) -> None:
        """Lose the connection, and have another one at once."""
        self._connection.close()
        self.begin_again()
        self._connection = Connection(bootstrap)

    def _acknowledge(self, epoch: int, topics: list[Line]) -> Line:
        asked = {"groupId": self._topic.group, "memberId": self.member_id, "shareSessionEpoch": epoch, "topics": topics}
        return self._connection.ask("ShareAcknowledge", 2, {**asked, "isRenewAck": False})

    def _told(self, fetched: Fetched, sent: int, lock_ms: int) -> Fetched:
        for first, last, count in fetched.acquired:
            span = {"first": first, "last": last, "delivery_count": count, "lock_ms": lock_ms}
            self._topic.tell("grant", sent=sent, member=self.name, **span)
        if not fetched.acquired:
            # Shows nothing that the checker knows, and all that a reader wants to know.
            self._topic.tell("view", sent=sent, member=self.name, fetched=str(fetched))
        return fetched

    def _is_assigned(self) -> bool:
        first = self._member_epoch == 0
        if first:
            # A broker makes the topics of its coordinators when somebody looks for one.
            self._connection.ask("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": [self._topic.group]})
        answer = self._connection.ask("ShareGroupHeartbeat", 1, {
            "groupId": self._topic.group, "memberId": self.member_id, "memberEpoch": self._member_epoch, "rackId": None,
            "subscribedTopicNames": [self._topic.name] if first else None,
        })  # fmt: skip
        if answer["errorCode"] == 0:
            self._member_epoch = answer["memberEpoch"]
        return answer["errorCode"] == 0 and bool((answer["assignment"] or {}).get("topicPartitions"))
