"""InitProducerId (22) and Produce (0): records to the leaders of partitions, each batch once (KIP-98).

All replicas in sync acknowledge a batch. One that was not answered is sent again with the same sequence numbers, by which the
broker tells that it has it. No request goes out before the one before it is answered, and none creates a topic.
"""

from __future__ import annotations

import asyncio
import random
import struct
import time
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from share_state._core import ERROR_CODES, encode_batch
from share_state.kafka import codes
from share_state.kafka.client.apis import INIT_PRODUCER_ID, PRODUCE
from share_state.kafka.client.client import Client, UnansweredError
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.leaders import PAUSE_S, Leaders, refused
from share_state.kafka.client.metadata import Topic
from share_state.kafka.client.peers import LostError
from share_state.kafka.errors import KafkaPersisterError

__all__ = ["NewRecord", "NotProducedError", "Producer", "partition_of"]

#: Timestamp in ms since the epoch, key, value, headers.
NewRecord: TypeAlias = tuple[int, bytes | None, bytes | None, Sequence[tuple[bytes, bytes | None]]]

_ALL_REPLICAS: Final = -1
#: Milliseconds that a leader may wait for them.
_TIMEOUT_MS: Final = 30_000
#: As in Kafka's client, which has no transaction then.
_NO_TRANSACTION: Final = {"transactionalId": None, "transactionTimeoutMs": 0x7FFF_FFFF}
#: Codes with which a leader refuses a batch before it appends it. After any other one the batch may be in the log: one that leads
#: no more, or whose disk failed, may have appended it and waited for the replicas (``DelayedProduce``).
_NOT_WRITTEN: Final = frozenset(
    ERROR_CODES[name]
    for name in (
        "CORRUPT_MESSAGE",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "LEADER_NOT_AVAILABLE",
        "MESSAGE_TOO_LARGE",
        "INVALID_TOPIC_EXCEPTION",
        "RECORD_LIST_TOO_LARGE",
        "NOT_ENOUGH_REPLICAS",
        "TOPIC_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
        "INVALID_TIMESTAMP",
        "UNSUPPORTED_COMPRESSION_TYPE",
        "INVALID_RECORD",
    )
)
_SEQUENCES: Final = 0x7FFF_FFFF
_WORD: Final = 0xFFFF_FFFF


class NotProducedError(Exception):
    """A batch was not confirmed.

    Attributes:
        code: Kafka's.
        in_doubt: whether it may be in the log all the same.
    """

    def __init__(self, cause: LostError | KafkaPersisterError, *, in_doubt: bool) -> None:
        super().__init__(str(cause))
        self.code = cause.code if isinstance(cause, LostError) else cause.kafka_code
        self.in_doubt = in_doubt


class Producer(Leaders):
    """Idempotent producer. All of it lives on one event loop.

    Args:
        client: of the cluster; the caller closes it.
        patience: seconds for a batch, with all attempts.
        compression: number of Kafka's codec.
    """

    def __init__(self, client: Client, patience: float, compression: int = 0) -> None:
        super().__init__(client, patience)
        self._compression = compression
        self._id = (-1, -1)
        #: The next sequence number of each partition.
        self._sequences: dict[tuple[str, int], int] = {}

    async def begin(self) -> None:
        """Get the id of a producer.

        Raises:
            LostError: no broker can be asked.
            KafkaPersisterError: it is refused.
        """
        until = time.monotonic() + self.patience
        while True:
            answer = await (await self._client.any()).request(INIT_PRODUCER_ID, _NO_TRANSACTION)
            code = answer["errorCode"]
            if code == codes.NONE:
                self._id = answer["producerId"], answer["producerEpoch"]
                return
            if code not in codes.RETRIABLE or time.monotonic() >= until:
                raise refused(code, "InitProducerId")
            await asyncio.sleep(PAUSE_S)

    async def partitions(self, name: str) -> int:
        """Return the number of partitions of a topic.

        Raises:
            NotProducedError: no broker can be asked, or the topic is not there, or has no partition yet.
        """
        try:
            topic = self._topics.get(name) or await self.topic(name)
            if topic is None or not topic.leaders:
                raise refused(codes.UNKNOWN_TOPIC_OR_PARTITION if topic is None else codes.LEADER_NOT_AVAILABLE, name)
        except UnansweredError as error:
            raise NotProducedError(error, in_doubt=False) from None
        return len(topic.leaders)

    async def produce(self, name: str, partition: int, records: Sequence[NewRecord]) -> int:
        """Append records as one batch, and return the offset of the first.

        Raises:
            NotProducedError: this is not confirmed. Where it is not in doubt, nothing was written and the producer goes on.
            WireDecodeError: they are more than a batch can have.
        """
        place = name, partition
        sequence = self._sequences.get(place, 0)
        batch = encode_batch(records, self._compression, *self._id, sequence)
        message = {
            "transactionalId": None,
            "acks": _ALL_REPLICAS,
            "timeoutMs": _TIMEOUT_MS,
            "topicData": [{"name": name, "partitionData": [{"index": partition, "records": batch}]}],
        }
        in_doubt = False

        async def ask(_topic: Topic, connection: Connection) -> int:
            nonlocal in_doubt
            try:
                answer = await connection.request(PRODUCE, message)
            except LostError as lost:
                in_doubt = in_doubt or lost.sent
                raise
            rows = [row for topic in answer["responses"] for row in topic["partitionResponses"]]
            row: dict[str, Any] = rows[0] if rows else {"errorCode": codes.UNKNOWN_SERVER_ERROR}
            code: int = row["errorCode"]
            if code == codes.NONE and row["baseOffset"] < 0:
                # Without its offset nobody can say where it is.
                code = codes.UNKNOWN_SERVER_ERROR
            if code != codes.NONE:
                in_doubt = in_doubt or code not in _NOT_WRITTEN
                raise refused(code, *place, row.get("errorMessage"))
            return int(row["baseOffset"])

        try:
            offset = await self.led(name, partition, ask)
        except UnansweredError as error:
            raise NotProducedError(error, in_doubt=in_doubt) from None
        self._sequences[place] = sequence + len(records) & _SEQUENCES
        return offset


def partition_of(key: bytes | None, partitions: int) -> int:
    """Return the partition to which Kafka's Java producer sends a key; any for none."""
    if key is None:
        return random.randrange(partitions)  # noqa: S311  no secret
    return (_murmur2(key) & _SEQUENCES) % partitions


def _murmur2(data: bytes) -> int:
    """Hash as Kafka does (``Utils.murmur2``)."""
    factor, whole = 0x5BD1E995, len(data) & ~3
    found = 0x9747B28C ^ len(data)
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        mixed = word * factor & _WORD
        mixed = (mixed ^ mixed >> 24) * factor & _WORD
        found = found * factor & _WORD ^ mixed
    if data[whole:]:
        found = (found ^ int.from_bytes(data[whole:], "little")) * factor & _WORD
    found = (found ^ found >> 13) * factor & _WORD
    return found ^ found >> 15
