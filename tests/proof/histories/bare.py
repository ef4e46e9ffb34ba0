"""A member over a bare connection, which knows to the moment when each request left, and can have the id of another one."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

from tests.gateway.clients.plan import Plan
from tests.gateway.wire import Connection, Disconnected
from tests.gateway.wire.codec import Message
from tests.proof.histories.system import Line

_HEARTBEAT_S: Final = 0.3
_RETRY_S: Final = 0.1
_REFUSED: Final = 121
#: SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, SHARE_SESSION_LIMIT_REACHED: begin another session.
_SESSION_LOST: Final = frozenset({122, 123, 133})
_KINDS: Final = {"ACCEPT": 1, "RELEASE": 2, "REJECT": 3, "RENEW": 4}

Acks = dict[int, list[list[int]]]


class BareMember:
    """See :class:`tests.proof.histories.members.Recorded`; a thread of the run itself."""

    def __init__(self, plan: Plan, number: int, *, member_id: str | None = None) -> None:
        self.name = member_id or f"b{number}"
        self._plan = plan
        self._random = random.Random(plan.seed)  # noqa: S311 - a workload
        self._lines: list[Line] = []
        self._connection: Connection | None = None
        self._member_epoch = self._session_epoch = 0
        self._heard = 0.0
        self._places: tuple[str, list[int]] | None = None
        #: Acknowledgements to send, by partition.
        self._held: Acks = {}
        self._leaving = threading.Event()
        self._killed = threading.Event()
        self._going = threading.Event()
        self._going.set()
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def kill(self) -> None:
        """Lose the connection without a word."""
        self._tell_gone()
        self._killed.set()
        self.stop()

    def pause(self) -> None:
        """Do nothing until :meth:`resume`."""
        self._going.clear()

    def resume(self) -> None:
        """Go on."""
        self._going.set()

    def stop(self) -> None:
        """Leave."""
        self._leaving.set()
        self._going.set()
        self._thread.join()

    def wait(self, seconds: float) -> bool:
        """See :class:`tests.proof.histories.members.Recorded`."""
        raise NotImplementedError(f"a bare member does not end by itself, not in {seconds} s either")

    def lines(self, lock_ms: int) -> Iterator[Line]:
        """See :class:`tests.proof.histories.members.Recorded`."""
        for line in self._lines:
            yield {**line, "lock_ms": lock_ms} if line["type"] == "grant" else line

    def failure(self) -> str | None:
        """See :class:`tests.proof.histories.members.Recorded`: it goes on after every error but an answer that it cannot read."""
        return self._failure

    def _run(self) -> None:
        try:
            while not self._leaving.is_set():
                try:
                    self._turn()
                except (OSError, Disconnected):
                    self._lose()
                    self._leaving.wait(_RETRY_S)
                self._going.wait()
        except Exception as error:  # noqa: BLE001 - of the verdict, and not of a thread that nobody looks at
            self._failure = repr(error)
        finally:
            if not self._killed.is_set():
                self._tell_gone()
            self._lose()

    def _turn(self) -> None:
        if self._connection is None:
            self._connection = Connection(self._plan.bootstrap)
            self._connection.patience(20.0)
        if time.monotonic() - self._heard > _HEARTBEAT_S:
            self._heartbeat(self._connection)
        if self._member_epoch <= 0 or self._places is None:
            self._leaving.wait(_RETRY_S)
            return
        if self._held and self._random.random() < 0.5:
            self._exchange(self._connection, "ShareAcknowledge", {})
        wanted = {"maxWaitMs": 200, "minBytes": 1, "maxBytes": 1 << 20, "maxRecords": 200, "batchSize": 200}
        self._exchange(self._connection, "ShareFetch", {**wanted, "forgottenTopicsData": []})
        if self._held and self._plan.stall_after and self._random.random() < 0.05:
            self._leaving.wait(self._plan.stall_seconds)

    def _heartbeat(self, connection: Connection) -> None:
        answer = connection.ask("ShareGroupHeartbeat", 1, {
            "groupId": self._plan.group, "memberId": self.name, "memberEpoch": self._member_epoch, "rackId": None,
            "subscribedTopicNames": self._plan.topics if self._member_epoch == 0 else None,
        })  # fmt: skip
        self._heard = time.monotonic()
        # Whatever is wrong: it joins again.
        self._member_epoch = answer["memberEpoch"] if answer["errorCode"] == 0 else 0
        if self._places is None:
            (topic,) = connection.ask("Metadata", 12, {"topics": [{"name": self._plan.topics[0]}]})["topics"]
            if topic["errorCode"] == 0:
                self._places = (topic["topicId"], [one["partitionIndex"] for one in topic["partitions"]][:2])

    def _exchange(self, connection: Connection, name: str, more: dict[str, Any]) -> None:
        """Send what is to be acknowledged with a request, and tell what came of both."""
        assert self._places is not None
        topic_id, partitions = self._places
        if self._session_epoch == 0:
            # Another session begins, and with it ends whatever this id held.
            self._tell_gone()
            self._held = {}
            if name == "ShareAcknowledge":
                return
        held, self._held = self._held, {}
        sent = time.monotonic_ns()
        rows: list[Message] = [
            {
                "partitionIndex": one,
                "acknowledgementBatches": [
                    {"firstOffset": first, "lastOffset": last, "acknowledgeTypes": [kind]}
                    for first, last, kind in held.get(one, [])
                ],
            }
            for one in (partitions if name == "ShareFetch" else held)
        ]
        try:
            answer = connection.ask(name, 1, {
                "groupId": self._plan.group, "memberId": self.name, "shareSessionEpoch": self._session_epoch,
                "topics": [{"topicId": topic_id, "partitions": rows}], **more,
            }, complete=False)  # fmt: skip
        except (OSError, Disconnected):
            self._tell_acks(sent, held, {})
            raise
        if answer["errorCode"] != 0:
            self._tell_acks(sent, held, {})
            self._session_epoch = 0
            if answer["errorCode"] not in _SESSION_LOST:
                self._leaving.wait(_RETRY_S)
            return
        self._session_epoch += 1
        field = "acknowledgeErrorCode" if name == "ShareFetch" else "errorCode"
        answered = [row for topic in answer["responses"] for row in topic["partitions"]]
        self._tell_acks(sent, held, {row["partitionIndex"]: row[field] for row in answered})
        for row in answered if name == "ShareFetch" else ():
            self._take(sent, row)

    def _take(self, sent: int, row: Message) -> None:
        t = time.monotonic_ns()
        decided = self._held.setdefault(row["partitionIndex"], [])
        for one in row["acquiredRecords"]:
            first, last = one["firstOffset"], one["lastOffset"]
            self._lines.append({
                "type": "grant", "t": t, "sent": sent, **self._at(row["partitionIndex"]), "first": first, "last": last,
                "delivery_count": one["deliveryCount"],
            })  # fmt: skip
            middle = self._random.randint(first, last)
            for low, high in ((first, middle), (middle + 1, last)):
                if low <= high:
                    decided.append([low, high, _KINDS[self._random.choices(tuple(_KINDS), self._plan.weights)[0]]])
        if not decided:
            del self._held[row["partitionIndex"]]

    def _tell_acks(self, sent: int, held: Acks, codes: dict[int, int]) -> None:
        t = time.monotonic_ns()
        for partition, ranges in held.items():
            code = codes.get(partition)
            outcome = "ok" if code == 0 else "refused" if code == _REFUSED else "unknown"
            self._lines.append({"type": "ack", "t": t, "sent": sent, **self._at(partition), "ranges": ranges, "outcome": outcome})

    def _tell_gone(self) -> None:
        self._lines.append({"type": "gone", "t": time.monotonic_ns(), "group": self._plan.group, "member": self.name})

    def _at(self, partition: int) -> Line:
        return {"group": self._plan.group, "topic": self._plan.topics[0], "partition": partition, "member": self.name}

    def _lose(self) -> None:
        """The connection, and with it the session and whatever it held."""
        self._tell_gone()
        if self._connection is not None:
            self._connection.close()
        self._connection, self._session_epoch, self._held = None, 0, {}
