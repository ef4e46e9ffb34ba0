"""Members as bare as they can be; what is timed is encoded before the clock starts, and sent by a program in Rust."""

from __future__ import annotations

import asyncio
import struct
import uuid
from collections.abc import Sequence
from typing import Any, Self, cast

from tests.gateway.patience import wait_until
from tests.gateway.records import topic_metadata
from tests.gateway.wire import Connection
from tests.gateway.wire.codec import Message, api_key, decode, encode
from tests.gateway.wire.connection import request_header

_HEARTBEAT, _FETCH, _ACKNOWLEDGE = "ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge"
_FETCH_VERSION, _ACKNOWLEDGE_VERSION = 2, 1
_PLENTY = 50 * 1024 * 1024
_RECORD_LIMIT = 1
_ACCEPT = 1
_LENGTH = struct.Struct(">i")
#: Length, correlation id and tags stand before an answer's body.
_HEAD = 9


def new_member_id() -> str:
    """An id as clients choose it."""
    return str(uuid.uuid4())


def topic_id(bootstrap: str, topic: str) -> str:
    """The id of a topic, hyphenated."""
    with Connection(bootstrap) as connection:
        topic_metadata(connection, topic)
        answer = connection.ask("Metadata", 12, {"topics": [{"topicId": str(uuid.UUID(int=0)), "name": topic}]})
        return str(answer["topics"][0]["topicId"])


def open_group(bootstrap: str, group: str, topic: str, partitions: int) -> None:
    """Join as one member, so that the share partitions are initialised; it stays until its session times out."""
    member = new_member_id()
    epochs = [0]
    with Connection(bootstrap) as connection:

        def assigned() -> bool:
            connection.ask("FindCoordinator", 6, {"coordinatorKeys": [group]})
            asked = {"groupId": group, "memberId": member, "memberEpoch": epochs[0], "subscribedTopicNames": [topic]}
            answer = connection.ask(_HEARTBEAT, 1, asked)
            if answer["errorCode"] == 0:
                epochs[0] = answer["memberEpoch"]
            given = (answer["assignment"] or {}).get("topicPartitions", [])
            return sum(len(one["partitions"]) for one in given) == partitions

        wait_until(assigned, f"{group} has {partitions} partitions assigned")


class Member(asyncio.Protocol):
    """Connection with a share session over some partitions of one topic; one request at a time, as share consumers do."""

    def __init__(self, group: str, topic: str, partitions: Sequence[int]) -> None:
        """Give the id of the topic, not its name."""
        self._group = group
        self._topic = topic
        self._partitions = partitions
        self._member = new_member_id()
        self._epoch = 0
        self._transport: asyncio.Transport
        self._received = bytearray()
        self._answered: asyncio.Future[bytes] | None = None

    async def connect(self, bootstrap: str) -> Self:
        """Open the connection."""
        host, _, port = bootstrap.rpartition(":")
        await asyncio.get_running_loop().create_connection(lambda: self, host, int(port))
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits."""
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(exc or ConnectionError("the server has closed the connection"))

    def data_received(self, data: bytes) -> None:
        """Take what has come of an answer."""
        self._received += data
        if len(self._received) >= _LENGTH.size and self._answered is not None:
            (length,) = _LENGTH.unpack_from(self._received)
            if len(self._received) == _LENGTH.size + length:
                self._answered.set_result(bytes(self._received[_HEAD:]))
                self._received.clear()

    def close(self) -> None:
        """End the connection."""
        self._transport.close()

    async def fetch(self, records: int, wait_ms: int = 0) -> dict[int, list[int]]:
        """Take at most so many records; their offsets by partition."""
        partitions = [{"partitionIndex": partition} for partition in self._partitions] if self._epoch == 0 else []
        message = {
            "groupId": self._group,
            "memberId": self._member,
            "shareSessionEpoch": self._epoch,
            "maxWaitMs": wait_ms,
            "minBytes": 1,
            "maxBytes": _PLENTY,
            "maxRecords": records,
            "batchSize": max(records, 1),
            "shareAcquireMode": _RECORD_LIMIT,
            "topics": [{"topicId": self._topic, "partitions": partitions}] if partitions else [],
        }
        answer = await self._ask(_FETCH, _FETCH_VERSION, message)
        if answer["errorCode"]:
            raise RuntimeError(f"{_FETCH}: error {answer['errorCode']}")
        self._epoch += 1
        return {
            partition["partitionIndex"]: [
                offset for run in partition["acquiredRecords"] for offset in range(run["firstOffset"], run["lastOffset"] + 1)
            ]
            for topic in answer["responses"]
            for partition in topic["partitions"]
        }

    def acknowledging(self, offsets: dict[int, list[int]]) -> list[bytes]:
        """Requests that accept one record each, in the order in which they have to be sent."""
        frames = []
        for partition, held in offsets.items():
            for offset in held:
                batch = {"firstOffset": offset, "lastOffset": offset, "acknowledgeTypes": [_ACCEPT]}
                message = {
                    "groupId": self._group,
                    "memberId": self._member,
                    "shareSessionEpoch": self._epoch,
                    "topics": [
                        {
                            "topicId": self._topic,
                            "partitions": [{"partitionIndex": partition, "acknowledgementBatches": [batch]}],
                        }
                    ],
                }
                frames.append(_frame(_ACKNOWLEDGE, _ACKNOWLEDGE_VERSION, message))
                self._epoch += 1
        return frames

    async def idle(self, until: float, wait_ms: int) -> int:
        """Do what a consumer does that finds nothing: wait in one ShareFetch after the other; how many there were."""
        await self.fetch(500)
        count = 0
        while asyncio.get_running_loop().time() < until:
            await self.fetch(500, wait_ms)
            count += 1
        return count

    async def heartbeat_once(self, topic: str, epoch: int) -> int:
        """Tell the group coordinator that it is there; the epoch that the answer gives."""
        message: dict[str, Any] = {"groupId": self._group, "memberId": self._member, "memberEpoch": epoch}
        if epoch == 0:
            message["subscribedTopicNames"] = [topic]
        answer = await self._ask(_HEARTBEAT, 1, message)
        if answer["errorCode"]:
            raise RuntimeError(f"{_HEARTBEAT}: error {answer['errorCode']}: {answer['errorMessage']}")
        return int(answer["memberEpoch"])

    async def _ask(self, name: str, version: int, message: Message) -> Message:
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(_frame(name, version, message))
        return decode(api_key(name), version, await self._answered, response=True)


def refused(answer: bytes) -> int:
    """The first error code of an answer to a ShareAcknowledge, given without its header, or 0."""
    found = decode(api_key(_ACKNOWLEDGE), _ACKNOWLEDGE_VERSION, answer, response=True)
    codes = [found["errorCode"]]
    codes += [partition["errorCode"] for topic in found["responses"] for partition in topic["partitions"]]
    return next((code for code in codes if code), 0)


def _frame(name: str, version: int, message: Message) -> bytes:
    """A request with its length; all have the same correlation id, since none is sent before the last is answered."""
    key = api_key(name)
    body = request_header(key, version, 1, "bench") + encode(key, version, message)
    return _LENGTH.pack(len(body)) + body
