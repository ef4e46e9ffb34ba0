"""Types of arguments, for annotations in programs that pass them on.

A word of Kafka's is a member of its enum, the bare id or the name in capitals or not:
``AcknowledgeType.ACCEPT``, ``1``, ``"ACCEPT"`` or ``"accept"``.
"""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias
from uuid import UUID

from share_state.types import AcknowledgeType, AcquireMode, LockTime, RecordState, SharePartitionKey, WallTime

__all__ = [
    "AcknowledgeTypeLike",
    "AcquireModeLike",
    "Column",
    "Compression",
    "InFlightStore",
    "IsolationLevel",
    "KeyLike",
    "LockMs",
    "RecordStateLike",
    "StateBatchesLike",
    "Sync",
    "TopicIdLike",
    "WallMs",
]

#: Moment on the clock of locks: a :class:`~share_state.LockTime`, or ms.
LockMs: TypeAlias = int | LockTime
#: Moment on the wall clock: a :class:`~share_state.WallTime`, or ms since the epoch.
WallMs: TypeAlias = int | WallTime
#: Topic id: a hyphenated UUID, Kafka's 22 characters, or a :class:`uuid.UUID`.
TopicIdLike: TypeAlias = str | UUID
#: Key of a share partition, or a tuple like it: group, topic id, partition.
KeyLike: TypeAlias = SharePartitionKey | tuple[str, TopicIdLike, int]

AcknowledgeTypeLike: TypeAlias = (
    AcknowledgeType | int | Literal["GAP", "ACCEPT", "RELEASE", "REJECT", "RENEW", "gap", "accept", "release", "reject", "renew"]
)
AcquireModeLike: TypeAlias = AcquireMode | int | Literal["BATCH_OPTIMIZED", "RECORD_LIMIT", "batch_optimized", "record_limit"]
RecordStateLike: TypeAlias = (
    RecordState
    | int
    | Literal[
        "AVAILABLE",
        "ACQUIRED",
        "ACKNOWLEDGED",
        "ARCHIVING",
        "ARCHIVED",
        "available",
        "acquired",
        "acknowledged",
        "archiving",
        "archived",
    ]
)
#: State batches: first offset, last offset, delivery state, delivery count.
StateBatchesLike: TypeAlias = Iterable[tuple[int, int, RecordStateLike, int]]

#: Time at which a store makes appended bytes durable; see :class:`share_state.StateStore`.
Sync: TypeAlias = Literal["always", "interval", "never"]
#: Codec of record batches in a log.
Compression: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
#: Property ``share.isolation.level``.
IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]
#: In-flight store of a share partition: the adaptive leaves, or the plain twin that specifies them.
InFlightStore: TypeAlias = Literal["leaves", "twin"]

#: Anything that ``numpy.asarray`` turns into an array of the dtype that the docstring names: also a memoryview or an Arrow array.
Column: TypeAlias = Any
