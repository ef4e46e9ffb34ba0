"""What a redrive has to know of a cluster: its id, the queue and the limit of the group, and whether the target is open to it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import partial
from types import ModuleType
from typing import Any, Final, NamedTuple

from share_state.dead_letters.errors import ClusterRefusedError, NoSuchTopicError
from share_state.reading.asking import Connecting, in_thread, topics
from share_state.reading.cluster import SCHEME
from share_state.reading.failures import TIMED_OUT, ClusterReadError, NoAnswerError
from share_state.reading.state_topic import STATE_TOPIC, client_module

__all__ = ["Asking", "GroupSettings"]

_QUEUE: Final = "errors.deadletterqueue.topic.name"
_LIMIT: Final = "share.delivery.count.limit"
_NOT_THE_TOPIC, _NOT_THE_GROUP = 29, 30


class GroupSettings(NamedTuple):
    """What a group is configured with, as far as it concerns dead letters."""

    #: The topic of its dead-letter queue; None: it has none, or the cluster is older than 4.4.
    queue: str | None
    delivery_count_limit: int | None


class Asking:
    """An administrator's client, which asks and changes nothing.

    Args:
        source: ``kafka://HOST:PORT[,...]``.
        settings: further settings of the client, in librdkafka's names.
        timeout: seconds to wait for an answer.

    Raises:
        ClientMissingError: confluent-kafka is not there.
        ClusterReadError: the client refuses the settings.
    """

    def __init__(self, source: str, settings: Mapping[str, object] | None, timeout: float) -> None:
        self._client = client_module()
        self._admin: ModuleType = importlib.import_module("confluent_kafka.admin")
        self._connecting = Connecting()
        self._patience = timeout
        servers = source.removeprefix(SCHEME)
        ours = {"bootstrap.servers": servers, "error_cb": self._connecting, "log_level": 0}
        try:
            self._asked = self._admin.AdminClient({**(settings or {}), **ours})
        except self._client.KafkaException as error:
            raise ClusterReadError(f"the client's settings: {error.args[0].str()}") from None

    def cluster_id(self) -> str:
        """Return the id of the cluster.

        Raises:
            ClusterReadError: it does not answer.
        """
        try:
            self._reach()
            return str(in_thread(self._asked.describe_cluster(request_timeout=self._patience).result).cluster_id)
        except self._client.KafkaException as error:
            raise self._failure(error) from None

    def group(self, group: str) -> GroupSettings:
        """Return what a group is configured with; a group without configurations of its own has those of the broker.

        Raises:
            ClusterRefusedError: a right is missing.
            ClusterReadError: the cluster does not answer.
        """
        resource = self._admin.ConfigResource(self._admin.ResourceType.GROUP, group)
        try:
            self._reach()
            asked = self._asked.describe_configs([resource], request_timeout=self._patience)[resource]
            told: Mapping[str, Any] = in_thread(asked.result)
        except self._client.KafkaException as error:
            if error.args[0].code() == _NOT_THE_GROUP:
                text = f"the principal needs DESCRIBE_CONFIGS on the group {group}, which tells its dead-letter queue"
                raise ClusterRefusedError(text, kafka_code=_NOT_THE_GROUP, field="group", value=group) from None
            raise self._failure(error) from None
        limit = told[_LIMIT].value if _LIMIT in told else None
        return GroupSettings(
            queue=(told[_QUEUE].value or None) if _QUEUE in told else None,
            delivery_count_limit=int(limit) if limit else None,
        )

    def check_target(self, topic: str) -> None:
        """Refuse a target that is not there, or that the principal may not write to and read.

        What an interrupted redrive has sent is read back, so it needs both.

        Raises:
            NoSuchTopicError: it is not there.
            ClusterRefusedError: a right is missing.
            ClusterReadError: the cluster does not answer.
        """
        try:
            known = topics(self._client, self._asked, self._connecting, self._patience, topic)[topic]
            if known.error is not None and known.error.code() == self._client.KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise NoSuchTopicError(f"topic {topic} is not in the cluster", field="to", value=topic)
            if known.error is not None:
                raise self._client.KafkaException(known.error)  # noqa: TRY301  as an answer that says the same
            collection = self._client.TopicCollection([topic])
            describe = partial(
                self._asked.describe_topics, collection, include_authorized_operations=True, request_timeout=self._patience
            )
            described = in_thread(describe()[topic].result)
        except self._client.KafkaException as error:
            if error.args[0].code() == _NOT_THE_TOPIC:
                raise _needs("DESCRIBE", topic) from None
            raise self._failure(error) from None
        may = {operation.name for operation in described.authorized_operations or ()}
        for operation in ("WRITE", "READ"):
            if not may & {operation, "ALL"}:
                raise _needs(operation, topic)

    def _reach(self) -> None:
        """Ask for something small, which is answered as soon as a broker can be reached, and fails as soon as none can."""
        topics(self._client, self._asked, self._connecting, self._patience, STATE_TOPIC)

    def _failure(self, error: Any) -> ClusterReadError:  # noqa: ANN401  an exception of the client
        reason = error.args[0]
        self._asked.poll(0)
        if reason.code() == TIMED_OUT and self._connecting.last is None:
            return NoAnswerError(self._patience)
        text = reason.str() if self._connecting.last is None else f"{reason.str()}: {self._connecting.last}"
        return ClusterReadError(text, kafka_code=reason.code() if reason.code() > 0 else None)


def _needs(operation: str, topic: str) -> ClusterRefusedError:
    text = f"the principal needs {operation} on the topic {topic}, to which the records go"
    return ClusterRefusedError(text, kafka_code=_NOT_THE_TOPIC, field="to", value=topic)
