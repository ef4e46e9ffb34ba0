"""A share consumer of requests made by hand: what it sends and when is known to the byte, which of no client library is.

It renews, limits records and tells the lock time-out (ShareFetch and ShareAcknowledge v2), for one topic on one node. Its records
are the offsets it is told to hold; that their batches come with them is checked.
"""

from __future__ import annotations

import itertools
import struct
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import ModuleType
from typing import Any, TypeVar

from kio.schema.find_coordinator.v4.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v4.response import FindCoordinatorResponse
from kio.schema.share_acknowledge.v2 import request as acknowledge_request
from kio.schema.share_acknowledge.v2.response import ShareAcknowledgeResponse
from kio.schema.share_fetch.v2 import request as fetch_request
from kio.schema.share_fetch.v2.response import PartitionData, ShareFetchResponse
from kio.schema.share_group_heartbeat.v1.request import ShareGroupHeartbeatRequest
from kio.schema.share_group_heartbeat.v1.response import ShareGroupHeartbeatResponse
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i8, i32, i32Timedelta, i64

from tests.kafka.raw_requests import Connection

#: Time limit of asking for what comes by itself.
PATIENCE_S = 30.0
#: Wait of a fetch at the server.
_MAX_WAIT = timedelta(milliseconds=500)
_MAX_BYTES = 2**31 - 1
#: Loading, moving, not there yet: Kafka's codes 14, 15, 16.
_COORDINATOR_IS_COMING = frozenset({14, 15, 16})
#: The topic, its partition or its leader is not known yet.
_LEADER_IS_COMING = frozenset({3, 5, 6, 74, 100})
_BATCH_HEAD = struct.Struct(">qi11xi")

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4

#: Partition and offset.
Record = tuple[int, int]
_T = TypeVar("_T")


class RefusedError(Exception):
    """The server answers a member's request with an error; ``code`` is Kafka's."""

    def __init__(self, what: str, code: int, message: str | None = None) -> None:
        super().__init__(f"{what}: code {code} {message or ''}")
        self.code = code


class NotHeldError(Exception):
    """The member does not hold the record (Java's client: ``IllegalStateException``)."""


@dataclass(slots=True)
class Topic:
    """Topic to which a member subscribes."""

    name: str
    topic_id: uuid.UUID


@dataclass(slots=True)
class Polled:
    """Records of a poll, and the delivery count of each."""

    records: list[Record] = field(default_factory=list)
    delivery_counts: list[int] = field(default_factory=list)
    lock_timeout_ms: int = 0


class Member:
    """Member of a share group."""

    def __init__(self, bootstrap: str, group: str, topic: Topic, *, max_records: int = 500, mode: int = 0) -> None:
        self.group = GroupId(group)
        self.topic = topic
        self.member_id = str(uuid.uuid4())
        self.lock_timeout_ms = 0
        #: Acknowledgements that the server has confirmed, and renewals among them.
        self.confirmed = self.renewed = 0
        #: Acknowledgements that go with the next request.
        self.pending: dict[Record, int] = {}
        self._limit, self._mode = max_records, mode
        self._held: dict[Record, int] = {}
        self._buffered: list[Record] = []
        self._assigned: set[int] = set()
        self._in_session: set[int] = set()
        self._session_epoch = self._member_epoch = 0
        self._connection = Connection(bootstrap)

    def join(self) -> None:
        """Find the coordinator, enter the group and wait for partitions.

        Raises:
            RefusedError: the server will not have it.
        """
        for _ in _patiently():
            request = FindCoordinatorRequest(key_type=i8(0), coordinator_keys=(self.group,))
            (found,) = self._connection.ask(request, FindCoordinatorResponse).coordinators
            if found.error_code == 0:
                break
        for _ in _patiently():
            self.heartbeat()
            if self._assigned:
                return
        raise RefusedError("nothing was assigned", 0)

    def heartbeat(self) -> None:
        """Show itself, and take over the partitions it is told."""
        first = self._member_epoch == 0
        request = ShareGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=i32(self._member_epoch),
            subscribed_topic_names=(TopicName(self.topic.name),) if first else None,
        )
        answer = self._connection.ask(request, ShareGroupHeartbeatResponse)
        if answer.error_code in _COORDINATOR_IS_COMING:
            return
        if answer.error_code != 0:
            raise RefusedError("heartbeat", answer.error_code, answer.error_message)
        self._member_epoch = answer.member_epoch
        if answer.assignment is not None:
            mine = (one.partitions for one in answer.assignment.topic_partitions if one.topic_id == self.topic.topic_id)
            self._assigned = set(itertools.chain.from_iterable(mine))

    def poll(self, wanted: int | None = None) -> Polled:
        """Acknowledge what is pending and fetch until there are so many records, or any.

        Records that were just renewed come from what the member has, as those of a client's buffer do.
        """
        if RENEW in self.pending.values():
            self.commit()
        if self._buffered:
            records, self._buffered = self._buffered, []
            return Polled(records, [self._held[record] for record in records], self.lock_timeout_ms)
        polled = Polled()
        for _ in _patiently():
            for record, count in self._fetch():
                polled.records.append(record)
                polled.delivery_counts.append(count)
            if wanted == 0 or (polled.records and len(polled.records) >= (wanted or 1)):
                break
            self.heartbeat()
        polled.lock_timeout_ms = self.lock_timeout_ms
        return polled

    def fetch_all(self) -> None:
        """Fetch until the server has nothing more for it, as often as it takes to be sure that its partitions are ready."""
        for _ in range(2):
            while self._fetch():
                pass
            self.heartbeat()

    def acknowledge(self, records: Iterable[Record], kind: int) -> None:
        """Say what became of records; it goes with the next request.

        Raises:
            NotHeldError: the member does not hold one of them any more.
        """
        said = dict.fromkeys(records, kind)
        for record in said:
            if record not in self._held:
                raise NotHeldError(record)
        self.pending.update(said)

    def commit(self) -> None:
        """Send what is pending in a ShareAcknowledge."""
        if not self.pending:
            return
        kinds, self.pending = self.pending, {}
        refused = self._acknowledge(kinds, self._next_epoch())
        if refused:
            raise RefusedError("acknowledge", next(iter(refused.values())))

    def close(self) -> None:
        """Send what is pending with the end of the session, and leave the group."""
        if self._session_epoch:
            kinds, self.pending = self.pending, {}
            self._acknowledge(kinds, -1)
        request = ShareGroupHeartbeatRequest(group_id=self.group, member_id=self.member_id, member_epoch=i32(-1))
        self._connection.ask(request, ShareGroupHeartbeatResponse)
        self._connection.close()

    def vanish(self) -> None:
        """End without a word."""
        self._connection.close()

    def _next_epoch(self) -> int:
        epoch, self._session_epoch = self._session_epoch, self._session_epoch + 1
        return epoch

    def _fetch(self) -> list[tuple[Record, int]]:
        kinds, self.pending = self.pending, {}
        batches = dict(_batches(fetch_request, kinds))
        added, gone = self._assigned - self._in_session, self._in_session - self._assigned
        request = fetch_request.ShareFetchRequest(
            group_id=self.group,
            member_id=self.member_id,
            share_session_epoch=i32(self._next_epoch()),
            max_wait=i32Timedelta.parse(_MAX_WAIT),
            min_bytes=i32(1),
            max_bytes=i32(_MAX_BYTES),
            max_records=i32(self._limit),
            batch_size=i32(self._limit),
            share_acquire_mode=i8(self._mode),
            topics=self._topics(
                fetch_request.FetchTopic,
                [
                    fetch_request.FetchPartition(partition_index=i32(p), acknowledgement_batches=batches.get(p, ()))
                    for p in sorted(added | batches.keys())
                ],
            ),
            forgotten_topics_data=self._topics(fetch_request.ForgottenTopic, [i32(p) for p in sorted(gone)]),
        )
        self._in_session = set(self._assigned)
        answer = self._connection.ask(request, ShareFetchResponse)
        if answer.error_code != 0:
            raise RefusedError("fetch", answer.error_code, answer.error_message)
        if answer.acquisition_lock_timeout:
            self.lock_timeout_ms = answer.acquisition_lock_timeout // timedelta(milliseconds=1)
        self._confirm(kinds, {p.partition_index: p.acknowledge_error_code for p in _partitions(answer)})
        return [given for data in _partitions(answer) for given in self._acquired(data)]

    def _acquired(self, data: PartitionData) -> Iterator[tuple[Record, int]]:
        if data.error_code in _LEADER_IS_COMING:
            # A new session asks for it again.
            self._in_session.discard(data.partition_index)
            return
        if data.error_code != 0:
            raise RefusedError(f"fetch of partition {data.partition_index}", data.error_code, data.error_message)
        brought = set(_offsets(data.records or b""))
        for acquired in data.acquired_records:
            for offset in range(acquired.first_offset, acquired.last_offset + 1):
                if offset not in brought:
                    raise RefusedError(f"offset {offset} of partition {data.partition_index} came without its batch", 0)
                self._held[data.partition_index, offset] = acquired.delivery_count
                yield (data.partition_index, offset), acquired.delivery_count

    def _acknowledge(self, kinds: dict[Record, int], epoch: int) -> dict[int, int]:
        partitions = [
            acknowledge_request.AcknowledgePartition(partition_index=i32(p), acknowledgement_batches=batches)
            for p, batches in _batches(acknowledge_request, kinds)
        ]
        request = acknowledge_request.ShareAcknowledgeRequest(
            group_id=self.group,
            member_id=self.member_id,
            share_session_epoch=i32(epoch),
            is_renew_ack=RENEW in kinds.values(),
            topics=self._topics(acknowledge_request.AcknowledgeTopic, partitions),
        )
        answer = self._connection.ask(request, ShareAcknowledgeResponse)
        if answer.error_code != 0:
            raise RefusedError("acknowledge", answer.error_code, answer.error_message)
        codes: dict[int, int] = {p.partition_index: p.error_code for topic in answer.responses for p in topic.partitions}
        if answer.acquisition_lock_timeout and RENEW in kinds.values():
            self.lock_timeout_ms = answer.acquisition_lock_timeout // timedelta(milliseconds=1)
        return self._confirm(kinds, codes)

    def _confirm(self, kinds: dict[Record, int], codes: Mapping[int, int]) -> dict[int, int]:
        """Takes note of an answer to acknowledgements, and returns what was refused: code by partition."""
        for record, kind in kinds.items():
            if record[0] not in codes:
                raise RefusedError(f"the acknowledgements of partition {record[0]} were not answered", 0)
            if codes[record[0]] != 0:
                continue
            self.confirmed += 1
            if kind == RENEW:
                self.renewed += 1
                self._buffered.append(record)
            else:
                self._held.pop(record, None)
        return {p: code for p, code in codes.items() if code != 0 and any(p == record[0] for record in kinds)}

    def _topics(self, kind: Callable[..., _T], partitions: Iterable[object]) -> tuple[_T, ...]:
        """The one topic with these partitions, or none."""
        named = tuple(partitions)
        return (kind(topic_id=self.topic.topic_id, partitions=named),) if named else ()


def _partitions(answer: ShareFetchResponse) -> Iterator[PartitionData]:
    return itertools.chain.from_iterable(topic.partitions for topic in answer.responses)


def _batches(module: ModuleType, kinds: dict[Record, int]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Acknowledgement batches by partition: neighbours of one kind make one batch."""
    for partition, records in itertools.groupby(sorted(kinds), key=lambda record: record[0]):
        offsets = [offset for _, offset in records]
        runs = itertools.groupby(enumerate(offsets), key=lambda at: (at[1] - at[0], kinds[partition, at[1]]))
        batches = []
        for (_, kind), run in runs:
            held = [offset for _, offset in run]
            first, last = i64(held[0]), i64(held[-1])
            batches.append(module.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=(i8(kind),)))
        yield partition, tuple(batches)


def _offsets(records: bytes) -> Iterator[int]:
    """Every offset of the record batches in these bytes."""
    at = 0
    while at < len(records):
        base, length, last_delta = _BATCH_HEAD.unpack_from(records, at)
        yield from range(base, base + last_delta + 1)
        at += 12 + length


def _patiently() -> Iterator[None]:
    """Turns until patience is at its end."""
    until = time.monotonic() + PATIENCE_S
    while True:
        yield
        if time.monotonic() > until:
            return
