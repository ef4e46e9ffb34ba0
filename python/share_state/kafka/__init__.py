"""Both ends of the share coordinator's protocol: a persister that asks one, and a server that is one.

:class:`KafkaPersister` keeps state in the share coordinator of a Kafka cluster. It is a
:class:`share_state.persister.Persister`; :class:`AsyncKafkaPersister` has the same methods as coroutines.
:class:`ShareCoordinatorServer` answers the same requests over TCP from any persister, such as the durable
:func:`share_state.open`. ``share-state coordinator`` runs it.
"""

import warnings
from typing import TYPE_CHECKING

from share_state.kafka.blocking import KafkaPersister
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
from share_state.kafka.security import OAuthBearer, Plain, Scram, SecurityOptions

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

if TYPE_CHECKING:
    #: The old name.
    FakeShareCoordinator = ShareCoordinatorServer
else:

    def __getattr__(name: str) -> object:
        """Return a class by its old name, with a warning."""
        if name != "FakeShareCoordinator":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        text = "share_state.kafka.FakeShareCoordinator is deprecated: use ShareCoordinatorServer"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return ShareCoordinatorServer
