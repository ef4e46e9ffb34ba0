"""Requests of Fetch for the readers of one broker, with what its session has been told (KIP-227)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from share_state.kafka.client.fetch import NO_SESSION, partition_row, topic_field
from share_state.kafka.client.fetch import encode as encode_fetch

if TYPE_CHECKING:
    from share_state.gateway.upstream.reader import PartitionReader

__all__ = ["FetchSession", "encode"]

#: Bytes of one partition in an answer. A batch that is larger comes alone.
_PARTITION_MAX_BYTES: Final = 1 << 20
#: A session pays from so many partitions on.
_SESSION_FROM: Final = 20
_MAX_EPOCH: Final = 0x7FFF_FFFF


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
    session_id, session_epoch, said, forgotten = (*NO_SESSION, wanted, []) if session is None else session.changes(wanted)
    topics = [
        {**topic, "partitions": [_row(reader, said[reader]) for reader in readers]} for topic, readers in _by_topic(version, said)
    ]
    left = [{**topic, "partitions": [reader.partition for reader in readers]} for topic, readers in _by_topic(version, forgotten)]
    told = session_id, session_epoch
    return encode_fetch(version, topics, isolation=isolation, max_wait_ms=max_wait_ms, session=told, forgotten=left)


def _row(reader: PartitionReader, offset: int) -> dict[str, int]:
    return partition_row(
        reader.partition,
        offset,
        max_bytes=_PARTITION_MAX_BYTES,
        leader_epoch=reader.leader_epoch,
        last_fetched_epoch=reader.last_fetched_epoch if offset == reader.tail else -1,
    )


def _by_topic(version: int, readers: Iterable[PartitionReader]) -> list[tuple[dict[str, Any], list[PartitionReader]]]:
    grouped: dict[str, list[PartitionReader]] = {}
    for reader in readers:
        grouped.setdefault(reader.topic_id, []).append(reader)
    return [(topic_field(version, group[0].topic, topic_id), group) for topic_id, group in grouped.items()]
