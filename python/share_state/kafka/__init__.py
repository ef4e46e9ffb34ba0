"""Both ends of the share coordinator's protocol: a persister that asks one, and a server that is one.

:class:`KafkaPersister` keeps state in the share coordinator of a Kafka cluster. It is a
:class:`share_state.persister.Persister`; :class:`AsyncKafkaPersister` has the same methods as coroutines.
:class:`ShareCoordinatorServer` answers the same requests over TCP from any persister, such as the durable
:func:`share_state.open`. ``share-state coordinator`` runs it.
"""

from share_state.kafka.blocking import KafkaPersister
from share_state.kafka.client.security import OAuthBearer, Plain, Scram, SecurityOptions
from share_state.kafka.clock import RetryPolicy
from share_state.kafka.coordinator_server import ShareCoordinatorServer, Topic, serve_in_thread
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
from share_state.kafka.persister import AsyncKafkaPersister

__all__ = [
    "AsyncKafkaPersister",
    "AuthenticationFailedError",
    "BadAnswerError",
    "BrokerTooOldError",
    "BrokerUnreachableError",
    "CoordinatorUnavailableError",
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
    "ShareCoordinatorServer",
    "Topic",
    "UnknownTopicError",
    "serve_in_thread",
]
