"""The exceptions of a persister over a cluster: who refused, what was refused, and whether the state may have changed.

::

    PersisterError
    └── KafkaPersisterError          (any)  node, key, kafka_name, attempts, outcome_unknown
        ├── RefusedError               42   also an InvalidRequestError: not initialised, a field out of range
        ├── FencedByStateEpochError   124   also a FencedStateEpochError
        ├── FencedByLeaderEpochError   74   also a FencedLeaderEpochError
        ├── UnknownTopicError           3   also an UnknownPartitionError, after the last attempt
        ├── NotAuthorizedError         31   the principal lacks CLUSTER_ACTION on the cluster
        ├── AuthenticationFailedError  58   wrong credentials, or an unsupported mechanism
        ├── BrokerTooOldError          35   also an UnsupportedVersionError: no share groups, or another protocol's version
        ├── CoordinatorUnavailableError 14, 15, 16  after the last attempt
        ├── BrokerUnreachableError     13   nothing was sent in the last attempt
        ├── BadAnswerError             -1   the answer cannot be decoded
        ├── OutcomeUnknownError     7, 13, -1  sent and not answered: the state may have changed
        └── PersisterClosedError       13   the persister was closed while the call waited

``outcome_unknown`` is true for an :class:`OutcomeUnknownError`, and for a refusal after an attempt that was never answered: the
refused attempt changed nothing, but the unanswered one may have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from share_state.errors import (
    FencedLeaderEpochError,
    FencedStateEpochError,
    InvalidRequestError,
    PersisterError,
    UnknownPartitionError,
    UnsupportedVersionError,
)
from share_state.kafka import codes
from share_state.kafka.shown_key import shown_key

if TYPE_CHECKING:
    from share_state.types import SharePartitionKey

__all__ = [
    "AuthenticationFailedError",
    "BadAnswerError",
    "BrokerTooOldError",
    "BrokerUnreachableError",
    "CoordinatorUnavailableError",
    "FencedByLeaderEpochError",
    "FencedByStateEpochError",
    "KafkaPersisterError",
    "NotAuthorizedError",
    "OutcomeUnknownError",
    "PersisterClosedError",
    "RefusedError",
    "UnknownTopicError",
    "class_of",
]


class KafkaPersisterError(PersisterError):
    """A call did not succeed.

    Attributes:
        node: the broker that answered, or was asked: ``broker 1 (localhost:9092)``; empty if there was none.
        key: the share partition, or ``None`` if the call was not about a single one.
        kafka_name: Kafka's name of ``kafka_code``.
        attempts: the number of attempts.
        outcome_unknown: whether an attempt was sent and never answered, so that the state may have changed.
    """

    def __init__(
        self,
        message: str = "",
        *,
        kafka_code: int = codes.UNKNOWN_SERVER_ERROR,
        node: str = "",
        key: SharePartitionKey | None = None,
        attempts: int = 1,
        outcome_unknown: bool = False,
    ) -> None:
        super().__init__(message, kafka_code=kafka_code)
        self.kafka_name = codes.name_of(kafka_code)
        self.node = node
        self.key = None if key is None else shown_key(key)
        self.attempts = attempts
        self.outcome_unknown = outcome_unknown


class RefusedError(KafkaPersisterError, InvalidRequestError):
    """The coordinator calls the request invalid; most often the share partition was never initialised."""


class FencedByStateEpochError(KafkaPersisterError, FencedStateEpochError):
    """The state was initialised again: read it again before writing."""


class FencedByLeaderEpochError(KafkaPersisterError, FencedLeaderEpochError):
    """A leader with a higher epoch has read the state."""


class UnknownTopicError(KafkaPersisterError, UnknownPartitionError):
    """The cluster does not know the topic or the partition."""


class NotAuthorizedError(KafkaPersisterError):
    """The principal may not do this; the requests of a persister need CLUSTER_ACTION on the cluster."""


class AuthenticationFailedError(KafkaPersisterError):
    """The broker or the client rejected the credentials of the other."""


class BrokerTooOldError(KafkaPersisterError, UnsupportedVersionError):
    """The broker does not have a request that a persister needs: share groups came with Kafka 4.1 and 4.2."""


class CoordinatorUnavailableError(KafkaPersisterError):
    """No coordinator accepted the request, in any attempt."""


class BrokerUnreachableError(KafkaPersisterError):
    """There is no connection, or it was lost before the request was sent."""


class BadAnswerError(KafkaPersisterError):
    """The answer does not belong to a request or cannot be decoded; the connection was closed."""


class OutcomeUnknownError(KafkaPersisterError):
    """The request was sent and not answered. The state may have changed; read it to find out."""


class PersisterClosedError(KafkaPersisterError):
    """The persister is closed, or was closed before the request was sent."""


_CLASSES: dict[int, type[KafkaPersisterError]] = {
    codes.INVALID_REQUEST: RefusedError,
    codes.FENCED_STATE_EPOCH: FencedByStateEpochError,
    codes.FENCED_LEADER_EPOCH: FencedByLeaderEpochError,
    codes.UNKNOWN_TOPIC_OR_PARTITION: UnknownTopicError,
    codes.UNKNOWN_TOPIC_ID: UnknownTopicError,
    codes.CLUSTER_AUTHORIZATION_FAILED: NotAuthorizedError,
    29: NotAuthorizedError,
    30: NotAuthorizedError,
    codes.SASL_AUTHENTICATION_FAILED: AuthenticationFailedError,
    codes.UNSUPPORTED_SASL_MECHANISM: AuthenticationFailedError,
    codes.ILLEGAL_SASL_STATE: AuthenticationFailedError,
    codes.UNSUPPORTED_VERSION: BrokerTooOldError,
    codes.COORDINATOR_LOAD_IN_PROGRESS: CoordinatorUnavailableError,
    codes.COORDINATOR_NOT_AVAILABLE: CoordinatorUnavailableError,
    codes.NOT_COORDINATOR: CoordinatorUnavailableError,
    codes.NETWORK_EXCEPTION: BrokerUnreachableError,
    codes.REQUEST_TIMED_OUT: BrokerUnreachableError,
}


def class_of(code: int) -> type[KafkaPersisterError]:
    """Return the exception class for an error code of a broker."""
    return _CLASSES.get(code, KafkaPersisterError)
