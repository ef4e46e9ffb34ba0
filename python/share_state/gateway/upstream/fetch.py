"""One Fetch to one broker: which partitions from where, and what came back (KIP-227 sessions included)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from share_state._core import decode_fetch_answer, encode_message
from share_state.gateway.upstream.apis import FETCH

if TYPE_CHECKING:
    from share_state.gateway.upstream.reader import PartitionReader

__all__ = ["FetchSession", "PartitionAnswer", "decode", "encode"]

#: Bytes of an answer, and of one partition in it. A batch that is larger comes alone.
_MAX_BYTES: Final = 16 << 20
_PARTITION_MAX_BYTES: Final = 1 << 20
#: A session pays from so many partitions on.
_SESSION_FROM: Final = 20
_MAX_EPOCH: Final = 0x7FFF_FFFF
_BY_ID: Final = 13


class PartitionAnswer(NamedTuple):
    """What upstream says of one partition. The batches are ``frame[start:end]``."""

    topic: str
    partition: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: list[tuple[int, int]] | None
    preferred_read_replica: int
    diverging_epoch: tuple[int, int] | None
    current_leader: tuple[int, int] | None
    start: int
    end: int


class Answer(NamedTuple):
    """An answer of Fetch, beside the frame that it came in."""

    throttle_ms: int
    error_code: int
    session_id: int
    partitions: list[PartitionAnswer]
    frame: bytes


class FetchSession:
    """What a connection has told its broker, so that only changes need be said (KIP-227)."""

    __slots__ = ("_asked", "_epoch", "_id")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin again: the broker has forgotten the session, or the connection is another."""
        self._id = 0
        self._epoch = 0
        self._asked: dict[PartitionReader, tuple[int, int]] = {}

    @property
    def is_open(self) -> bool:
        """Whether the broker keeps one."""
        return self._id != 0

    def changes(self, wanted: dict[PartitionReader, int]) -> tuple[int, int, dict[PartitionReader, int], list[PartitionReader]]:
        """Give session id, session epoch, what is to be said, and what is to be forgotten."""
        if self._id == 0:
            epoch = 0 if len(wanted) >= _SESSION_FROM else -1
            self._asked = {reader: (offset, reader.leader_epoch) for reader, offset in wanted.items()} if epoch == 0 else {}
            return 0, epoch, wanted, []
        said = {reader: offset for reader, offset in wanted.items() if self._asked.get(reader) != (offset, reader.leader_epoch)}
        forgotten = [reader for reader in self._asked if reader not in wanted]
        for reader in forgotten:
            del self._asked[reader]
        self._asked |= {reader: (offset, reader.leader_epoch) for reader, offset in said.items()}
        return self._id, self._epoch, said, forgotten

    def answered(self, session_id: int) -> None:
        """Take the id that the broker answered with; 0 means that it keeps no session."""
        if session_id == 0:
            self.reset()
            return
        self._id = session_id
        self._epoch = 1 if self._epoch == _MAX_EPOCH else self._epoch + 1


def encode(
    version: int,
    wanted: dict[PartitionReader, int],
    *,
    isolation: int,
    max_wait_ms: int,
    session: FetchSession | None,
) -> bytes:
    """Return the bytes of a request.

    Args:
        version: of Fetch.
        wanted: from which offset each partition is to be read.
        isolation: 0 for read_uncommitted, 1 for read_committed.
        max_wait_ms: how long the broker may wait for something to send.
        session: that of the connection, or ``None`` for a request outside of any.
    """
    session_id, session_epoch, said, forgotten = (0, -1, wanted, []) if session is None else session.changes(wanted)
    message = {
        "replicaId": -1,
        "maxWaitMs": max_wait_ms,
        "minBytes": 1,
        "maxBytes": _MAX_BYTES,
        "isolationLevel": isolation,
        "sessionId": session_id,
        "sessionEpoch": session_epoch,
        "topics": [
            {
                **topic,
                "partitions": [
                    {
                        "partition": reader.partition,
                        "currentLeaderEpoch": reader.leader_epoch,
                        "fetchOffset": said[reader],
                        "lastFetchedEpoch": reader.last_fetched_epoch if said[reader] == reader.tail else -1,
                        "logStartOffset": -1,
                        "partitionMaxBytes": _PARTITION_MAX_BYTES,
                    }
                    for reader in readers
                ],
            }
            for topic, readers in _by_topic(version, said)
        ],
        "forgottenTopicsData": [
            {**topic, "partitions": [reader.partition for reader in readers]} for topic, readers in _by_topic(version, forgotten)
        ],
        "rackId": "",
    }
    return encode_message(FETCH, version, message)


def decode(version: int, frame: bytes, start: int) -> Answer:
    """Take an answer apart without copying the batches.

    Raises:
        WireDecodeError: it is no answer.
    """
    throttle_ms, error_code, session_id, partitions, _ = decode_fetch_answer(version, frame, start)
    return Answer(throttle_ms, error_code, session_id, [PartitionAnswer(*row) for row in partitions], frame)


def _by_topic(version: int, readers: Iterable[PartitionReader]) -> list[tuple[dict[str, Any], list[PartitionReader]]]:
    grouped: dict[str, list[PartitionReader]] = {}
    for reader in readers:
        grouped.setdefault(reader.topic_id, []).append(reader)
    if version >= _BY_ID:
        return [({"topicId": topic_id}, group) for topic_id, group in grouped.items()]
    return [({"topic": group[0].topic}, group) for group in grouped.values()]
