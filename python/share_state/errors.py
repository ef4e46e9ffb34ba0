"""What share_state raises.

::

    ShareStateError
    ├── InvalidRequestError            42   the call breaks the protocol's rules
    ├── InvalidRecordStateError       121   a record is not in the state that the call needs
    ├── ShareSessionNotFoundError     122
    ├── InvalidShareSessionEpochError 123
    ├── SessionLimitError             133
    ├── FencedStateEpochError         124   the state was initialised anew
    ├── FencedLeaderEpochError         74   another leader has read the state
    ├── UnknownPartitionError           3
    ├── UnsupportedVersionError        35
    ├── CorruptLogError                 2   segment, position, kind, repairs
    ├── CorruptStateError               –   field, index, value
    ├── WireDecodeError                42   position, kind
    ├── LimitExceededError              –   limit, asked, allowed
    ├── RowError                        –   row, partition, offset, reason
    ├── PersisterError               (any)  the persister answered with this code
    ├── ShareGroupError              (any)  a share group refuses with this code
    ├── ConfigError                     –   field, value, minimum, maximum
    ├── StoreError                      –   the embedded store failed or is in use; also an OSError where a file is at fault
    └── EnginePoisonedError             –   a bug: the object is unusable, others are not affected

Every error says in attributes what it says in its text. ``kafka_code`` is the number for the wire, or ``None`` when the
error has no place there.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "ConfigError",
    "CorruptLogError",
    "CorruptStateError",
    "EnginePoisonedError",
    "FencedLeaderEpochError",
    "FencedStateEpochError",
    "InvalidRecordStateError",
    "InvalidRequestError",
    "InvalidShareSessionEpochError",
    "LimitExceededError",
    "PersisterError",
    "RowError",
    "SessionLimitError",
    "ShareGroupError",
    "ShareSessionNotFoundError",
    "ShareStateError",
    "StoreError",
    "UnknownPartitionError",
    "UnsupportedVersionError",
    "WireDecodeError",
]


class ShareStateError(Exception):
    """Base of every error of this package.

    Attributes:
        kafka_code: Kafka's error code for the wire, or ``None``.
        field: the argument or field at fault, or ``None``.
        value: the value found there, or ``None``.
        index: the index of the batch at fault, or ``None``.
    """

    kafka_code: int | None = None

    def __init__(
        self,
        message: str = "",
        *,
        kafka_code: int | None = None,
        field: str | None = None,
        value: object = None,
        index: int | None = None,
    ) -> None:
        super().__init__(message)
        if kafka_code is not None:
            self.kafka_code = kafka_code
        self.field = field
        self.value = value
        self.index = index


class InvalidRequestError(ShareStateError, ValueError):
    """The call breaks the protocol's rules; nothing has changed."""

    kafka_code = 42


class InvalidRecordStateError(ShareStateError):
    """A record is not in the state that the call needs; nothing has changed. ``value`` is its offset."""

    kafka_code = 121


class ShareSessionNotFoundError(ShareStateError):
    """There is no such share session."""

    kafka_code = 122


class InvalidShareSessionEpochError(ShareStateError):
    """The share-session epoch is not the one expected."""

    kafka_code = 123


class SessionLimitError(ShareStateError):
    """There is no room for another share session."""

    kafka_code = 133


class FencedStateEpochError(ShareStateError):
    """The state was initialised anew: read it again before writing."""

    kafka_code = 124


class FencedLeaderEpochError(ShareStateError):
    """A leader with a higher epoch has read the state."""

    kafka_code = 74


class UnknownPartitionError(ShareStateError):
    """The topic or partition does not exist."""

    kafka_code = 3


class UnsupportedVersionError(ShareStateError):
    """The version of a message, record or format is not supported."""

    kafka_code = 35


class CorruptLogError(ShareStateError):
    """A log is damaged other than by a torn tail.

    Attributes:
        segment: the file.
        position: the byte in it.
        kind: what is wrong, in short.
        repairs: for each damaged log what is wrong with it, and what opening it with ``repair=True`` does and loses. Empty where
            no repair helps.
    """

    kafka_code = 2

    def __init__(
        self,
        message: str = "",
        *,
        segment: str = "",
        position: int = 0,
        kind: str = "",
        repairs: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(message)
        self.repairs = tuple(repairs)
        self.segment = segment
        self.position = position
        self.kind = kind


class CorruptStateError(ShareStateError):
    """A persisted state breaks its own rules; ``field``, ``index`` and ``value`` say where. Nothing of it was loaded."""


class WireDecodeError(ShareStateError, ValueError):
    """Bytes are not what they should be.

    Attributes:
        position: the byte at fault.
        kind: what is wrong, a short word.
        field: the innermost field at fault, in Kafka's spelling; ``None`` when that is not known.
    """

    kafka_code = 42

    def __init__(self, message: str = "", *, position: int = 0, kind: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.position = position
        self.kind = kind
        self.field = field


class LimitExceededError(ShareStateError):
    """A stated limit was exceeded; nothing has changed.

    Attributes:
        limit: which limit.
        asked: how much was asked for.
        allowed: how much is allowed.
    """

    def __init__(
        self,
        message: str = "",
        *,
        limit: str = "",
        asked: int = 0,
        allowed: int = 0,
        kafka_code: int | None = None,
    ) -> None:
        super().__init__(message, kafka_code=kafka_code)
        self.limit = limit
        self.asked = asked
        self.allowed = allowed


class RowError(ShareStateError, ValueError):
    """A row of a frame cannot be used.

    Attributes:
        row: its number in the input of its task, from 0.
        partition: its state partition, or None where it has none.
        offset: its offset there, or None where it has none.
        reason: why, a short word.
    """

    def __init__(
        self,
        message: str = "",
        *,
        row: int = 0,
        partition: int | None = None,
        offset: int | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(message)
        self.row = row
        self.partition = partition
        self.offset = offset
        self.reason = reason


class PersisterError(ShareStateError):
    """The persister refused; ``kafka_code`` is the code for the member (KIP-932, ``SharePartition.fetchPersisterError``)."""


class ShareGroupError(ShareStateError):
    """A share group refuses; nothing has changed. ``kafka_code`` is Kafka's code."""


class ConfigError(ShareStateError, ValueError):
    """A configuration value cannot be used.

    Attributes:
        minimum: the smallest legal value.
        maximum: the greatest legal value.
    """

    def __init__(
        self,
        message: str = "",
        *,
        kafka_code: int | None = None,
        field: str | None = None,
        value: object = None,
        minimum: int | None = None,
        maximum: int | None = None,
    ) -> None:
        super().__init__(message, kafka_code=kafka_code, field=field, value=value)
        self.minimum = minimum
        self.maximum = maximum


class StoreError(ShareStateError, OSError):
    """The embedded store failed, is closed, or is used by another process."""


class EnginePoisonedError(ShareStateError, RuntimeError):
    """A bug made a call panic half-way. The object refuses further use; other objects are not affected."""
