"""State in a real cluster: a persister over Kafka's share coordinator, and a share coordinator of our own to test against.

:class:`KafkaPersister` is a :class:`share_state.persister.Persister`; :class:`AsyncKafkaPersister` has the same methods to
be awaited. :class:`FakeShareCoordinator` answers the same requests over TCP on our own coordinator and log.
"""

from share_state.kafka.blocking import KafkaPersister
from share_state.kafka.clock import RetryPolicy
from share_state.kafka.errors import (
    AuthenticationFailedError,
    BadAnswerError,
    BrokerTooOldError,
    BrokerUnreachableError,
    CoordinatorUnavailableError,
    FencedByLeaderEpochError,
    FencedByStateEpochError,
    KafkaPersisterError,
    NotAuthorizedError,
    OutcomeUnknownError,
    PersisterClosedError,
    RefusedError,
    UnknownTopicError,
)
from share_state.kafka.fake import FakeShareCoordinator, Topic, serve_in_thread
from share_state.kafka.persister import AsyncKafkaPersister
from share_state.kafka.security import OAuthBearer, Plain, Scram, SecurityOptions

__all__ = [
    "AsyncKafkaPersister",
    "AuthenticationFailedError",
    "BadAnswerError",
    "BrokerTooOldError",
    "BrokerUnreachableError",
    "CoordinatorUnavailableError",
    "FakeShareCoordinator",
    "FencedByLeaderEpochError",
    "FencedByStateEpochError",
    "KafkaPersister",
    "KafkaPersisterError",
    "NotAuthorizedError",
    "OAuthBearer",
    "OutcomeUnknownError",
    "PersisterClosedError",
    "Plain",
    "RefusedError",
    "RetryPolicy",
    "Scram",
    "SecurityOptions",
    "Topic",
    "UnknownTopicError",
    "serve_in_thread",
]
