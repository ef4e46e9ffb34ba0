"""The exceptions of share_state.

::

    ShareStateError
    ├── InvalidRequestError            42   the call breaks the protocol's rules
    │   └── ArgumentValueError         42   an argument has an invalid value; also a ValueError
    │       └── ArgumentRangeError     42   a number is too large or too small; also an OverflowError
    ├── ArgumentTypeError               –   an argument has an invalid type; also a TypeError
    ├── SharePartitionNotActiveError  5/-1  the share partition is not active; status
    ├── InvalidRecordStateError       121   a record is not in the state that the call needs
    ├── ShareSessionNotFoundError     122
    ├── InvalidShareSessionEpochError 123
    ├── SessionLimitError             133
    ├── FencedStateEpochError         124   the state was initialised again
    ├── FencedLeaderEpochError         74   another leader has read the state
    ├── UnknownPartitionError           3
    ├── UnsupportedVersionError        35
    ├── CorruptLogError                 2   segment, position, kind, repairs
    ├── CorruptStateError               –   field, index, value
    ├── WireDecodeError                42   position, kind
    ├── LimitExceededError              –   limit, asked, allowed
    ├── NotAHistoryError                –   line, field
    ├── RowError                        –   row, partition, offset, reason
    ├── PersisterError               (any)  the persister refused; its own code, name and text, and its exception as the cause
    ├── ShareGroupError              (any)  a share group refuses with this code
    ├── ConfigError                     –   field, value, minimum, maximum
    ├── StoreError                      –   the embedded store failed or is in use; also an OSError where a file is at fault
    └── EnginePoisonedError             –   a bug: the object is unusable, others are not affected

Every error has the facts of its text as attributes: ``field`` is the name of the argument, ``key`` the share partition.
``kafka_code`` is the number for the wire, or ``None`` if the error never reaches the wire. The errors of
the engine are attributes of ``share_state`` too: ``except ss.PersisterError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from share_state.types import SharePartitionKey

__all__ = [
    "ArgumentRangeError",
    "ArgumentTypeError",
    "ArgumentValueError",
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
    "NotAHistoryError",
    "PersisterError",
    "RowError",
    "SessionLimitError",
    "ShareGroupError",
    "SharePartitionNotActiveError",
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
        key: the share partition concerned, or ``None``.
    """

    kafka_code: int | None = None
    key: SharePartitionKey | None = None

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

    def __reduce__(self) -> tuple[object, ...]:
        # The constructors take their facts by name, which `Exception.__reduce__` would lose.
        return _remade, (type(self), self.args, self.__dict__)


def _remade(error: type[ShareStateError], args: tuple[object, ...], facts: dict[str, object]) -> ShareStateError:
    made = error.__new__(error, *args)
    made.args = args
    made.__dict__.update(facts)
    return made


class InvalidRequestError(ShareStateError, ValueError):
    """The call breaks the protocol's rules; nothing has changed."""

    kafka_code = 42


#: PyO3 names the argument that it could not convert in a note that begins so.
_PROCESSING: Final = "while processing '"

#: The placeholder for the name of the argument in the text of such an exception.
_UNNAMED: Final = "a value"


class _ArgumentError(ShareStateError):
    """An argument cannot be used. The code that converts it does not know its name."""

    def add_note(self, note: str, /) -> None:
        """Take the name of the argument, or of the one that contains it, from a note of the extension."""
        if not note.startswith(_PROCESSING):
            super().add_note(note)
            return
        if self.field is None:
            self.field = note.removeprefix(_PROCESSING).removesuffix("'")
            self.args = (str(self.args[0]).replace(_UNNAMED, self.field, 1),)


class ArgumentValueError(_ArgumentError, InvalidRequestError):
    """An argument has an invalid value; nothing has changed."""


class ArgumentRangeError(ArgumentValueError, OverflowError):
    """A number is too large or too small for its argument; nothing has changed.

    Attributes:
        minimum: the smallest number that fits.
        maximum: the greatest number that fits.
    """

    def __init__(
        self, message: str = "", *, value: object = None, minimum: int | None = None, maximum: int | None = None
    ) -> None:
        super().__init__(message, value=value)
        self.minimum = minimum
        self.maximum = maximum


class ArgumentTypeError(_ArgumentError, TypeError):
    """An argument has an invalid type, or is an array of a wrong dtype or shape; nothing has changed."""


class SharePartitionNotActiveError(ShareStateError):
    """The share partition is not active: it is not initialised yet, its state could not be read, or it is fenced.

    ``kafka_code`` is LEADER_NOT_AVAILABLE (5), or UNKNOWN_SERVER_ERROR (-1) when the state could not be read. Nothing has
    changed.

    Attributes:
        status: ``SharePartition.status`` as the call found it.
    """

    def __init__(self, message: str = "", *, status: str = "", kafka_code: int | None = None) -> None:
        super().__init__(message, kafka_code=kafka_code)
        self.status = status


class InvalidRecordStateError(ShareStateError):
    """A record is not in the state that the call needs; nothing has changed. ``value`` is its offset."""

    kafka_code = 121


class ShareSessionNotFoundError(ShareStateError):
    """The share session does not exist."""

    kafka_code = 122


class InvalidShareSessionEpochError(ShareStateError):
    """The share-session epoch is not the expected one."""

    kafka_code = 123


class SessionLimitError(ShareStateError):
    """The limit of share sessions is reached."""

    kafka_code = 133


class FencedStateEpochError(ShareStateError):
    """The state was initialised again: read it again before writing."""

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
        repairs: for each damaged log, the damage, and what opening with ``repair=True`` does and loses. Empty if no repair
            helps.
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
    """A persisted state is inconsistent; ``field``, ``index`` and ``value`` say where. Nothing was loaded."""


class WireDecodeError(ShareStateError, ValueError):
    """Bytes cannot be decoded.

    Attributes:
        position: the byte at fault.
        kind: what is wrong, a short word.
        field: the innermost field at fault, in Kafka's spelling; ``None`` if unknown.
    """

    kafka_code = 42

    def __init__(self, message: str = "", *, position: int = 0, kind: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.position = position
        self.kind = kind
        self.field = field


class NotAHistoryError(ShareStateError, ValueError):
    """A line is none of a history of what clients saw.

    Attributes:
        line: the line, from 1.
        field: the field that is wrong; None where the line is no JSON object.
    """

    def __init__(self, message: str = "", *, line: int = 0, field: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.field = field


class LimitExceededError(ShareStateError):
    """A stated limit was exceeded; nothing has changed.

    Attributes:
        limit: the name of the limit.
        asked: the amount that the call needs.
        allowed: the limit itself.
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
        partition: its state partition, or None if it has none.
        offset: its offset there, or None if it has none.
        reason: the reason, a short word.
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
    """The persister refused; ``kafka_code`` is the code for the member (KIP-932, ``SharePartition.fetchPersisterError``).

    The exception of the persister itself, if there is one, is the ``__cause__``.

    Attributes:
        persister_code: Kafka's code that the persister answered, or ``None`` if it is the same.
        persister_code_name: Kafka's name of that code, or ``None``.
        persister_message: the text of the persister, or ``None``.
    """

    def __init__(
        self,
        message: str = "",
        *,
        kafka_code: int | None = None,
        persister_code: int | None = None,
        persister_code_name: str | None = None,
        persister_message: str | None = None,
    ) -> None:
        super().__init__(message, kafka_code=kafka_code)
        self.persister_code = persister_code
        self.persister_code_name = persister_code_name
        self.persister_message = persister_message


class ShareGroupError(ShareStateError):
    """A share group refuses a request; nothing has changed. ``kafka_code`` is Kafka's code."""


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
    """The embedded store failed, is closed, or is used by another process.

    Attributes:
        errno: the operating system's error number, like that of :class:`OSError`; ``None`` if the cause is another one.
    """

    def __init__(
        self,
        message: str = "",
        *,
        kafka_code: int | None = None,
        field: str | None = None,
        value: object = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message, kafka_code=kafka_code, field=field, value=value)
        self.errno = errno


class EnginePoisonedError(ShareStateError, RuntimeError):
    """A bug made a call panic half-way. The object refuses further use; other objects are not affected."""
