"""Fetch (1): which partitions from where, and the record batches that came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from share_state._core import decode_fetch_answer, encode_message
from share_state.kafka import codes
from share_state.kafka.client.apis import FETCH
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.metadata import NO_ID, Topic
from share_state.kafka.errors import class_of

__all__ = [
    "FETCH_BY_NAME",
    "NO_ANSWER",
    "NO_SESSION",
    "Answer",
    "Fetched",
    "decode",
    "encode",
    "fetch",
    "fetch_topics",
    "partition_row",
    "topic_field",
]

#: The newest version that names topics. The next one has their ids, which some clusters do not know.
FETCH_BY_NAME: Final = 12
#: Id and epoch of a session where there is none (KIP-227).
NO_SESSION: Final = (0, -1)
#: Bytes of an answer, in which a batch that is larger comes alone.
_MAX_BYTES: Final = 16 << 20


class Fetched(NamedTuple):
    """Answer of a broker for one partition. The batches are ``frame[start:end]``."""

    #: The name up to version 12, and then the id in base64.
    topic: str
    partition: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    #: Producer id and first offset of each aborted transaction in the batches; None where it was not asked for.
    aborted: list[tuple[int, int]] | None
    preferred_read_replica: int
    diverging_epoch: tuple[int, int] | None
    current_leader: tuple[int, int] | None
    start: int
    end: int


class Answer(NamedTuple):
    """Answer of a broker, and the frame that it came in."""

    throttle_ms: int
    error_code: int
    session_id: int
    partitions: list[Fetched]
    frame: bytes


#: Stands for an answer that did not come.
NO_ANSWER: Final = Answer(0, codes.NONE, 0, [], b"")


def topic_field(version: int, name: str, topic_id: str) -> dict[str, str]:
    """Give the field of a request by which a version calls a topic."""
    return {"topicId": topic_id} if version > FETCH_BY_NAME else {"topic": name}


def partition_row(
    partition: int, offset: int, *, max_bytes: int, leader_epoch: int = -1, last_fetched_epoch: int = -1
) -> dict[str, int]:
    """Make the row of a partition that is read from an offset on."""
    return {
        "partition": partition,
        "currentLeaderEpoch": leader_epoch,
        "fetchOffset": offset,
        "lastFetchedEpoch": last_fetched_epoch,
        "logStartOffset": -1,
        "partitionMaxBytes": max_bytes,
    }


def encode(
    version: int,
    topics: Sequence[dict[str, Any]],
    *,
    isolation: int = 0,
    max_wait_ms: int = 0,
    session: tuple[int, int] = NO_SESSION,
    forgotten: Sequence[dict[str, Any]] = (),
) -> bytes:
    """Return the bytes of a request.

    Args:
        version: of Fetch.
        topics: a ``topic_field`` each, with ``partitions``: a ``partition_row`` each.
        isolation: 0 for read_uncommitted, 1 for read_committed.
        max_wait_ms: how long the broker may wait for something to send.
        session: id and epoch of the session.
        forgotten: topics as above, with the numbers of ``partitions`` that the session is to forget.
    """
    session_id, session_epoch = session
    message = {
        "replicaId": -1,
        "maxWaitMs": max_wait_ms,
        "minBytes": 1,
        "maxBytes": _MAX_BYTES,
        "isolationLevel": isolation,
        "sessionId": session_id,
        "sessionEpoch": session_epoch,
        "topics": topics,
        "forgottenTopicsData": forgotten,
        "rackId": "",
    }
    return encode_message(FETCH, version, message)


def decode(version: int, frame: bytes, start: int) -> Answer:
    """Take an answer apart without copying the batches.

    Raises:
        WireDecodeError: it is no answer.
    """
    throttle_ms, error_code, session_id, partitions, _ = decode_fetch_answer(version, frame, start)
    return Answer(throttle_ms, error_code, session_id, [Fetched(*row) for row in partitions], frame)


async def fetch(connection: Connection, version: int, body: bytes) -> Answer:
    """Send a request and wait for its answer.

    Raises:
        LostError: there is none.
    """
    return await connection.ask(FETCH, version, body, decode)


async def fetch_topics(
    connection: Connection,
    wanted: Iterable[tuple[Topic, Mapping[int, int]]],
    *,
    partition_max_bytes: int,
    max_wait_ms: int = 0,
    isolation: int = 0,
) -> Answer:
    """Read partitions from offsets on, outside of any session.

    Args:
        connection: to the broker that leads them.
        wanted: topics, each with the offset of each partition; those of a broker all have ids, or none has.
        partition_max_bytes: of one partition; a batch that is larger comes whole.
        max_wait_ms: how long the broker may wait for something to send.
        isolation: 0 for read_uncommitted, 1 for read_committed.

    Raises:
        LostError: the broker does not answer.
        BrokerTooOldError: it does not have the request.
        KafkaPersisterError: it refuses the request as a whole.
    """
    topics = list(wanted)
    version = connection.version_of(FETCH)
    if any(topic.topic_id == NO_ID for topic, _ in topics):
        version = min(version, FETCH_BY_NAME)
    rows = [
        {
            **topic_field(version, topic.name, topic.topic_id),
            "partitions": [partition_row(*place, max_bytes=partition_max_bytes) for place in offsets.items()],
        }
        for topic, offsets in topics
    ]
    answer = await fetch(connection, version, encode(version, rows, isolation=isolation, max_wait_ms=max_wait_ms))
    if answer.error_code != codes.NONE:
        code = answer.error_code
        raise class_of(code)(f"Fetch is answered with {code} ({codes.name_of(code)})", kafka_code=code)
    return answer
