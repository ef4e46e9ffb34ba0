"""Facts about a cluster for a redrive: its id, a group's queue and limit, and the access to the target."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from share_state.kafka import codes
from share_state.kafka.client.client import Client
from share_state.kafka.client.configs import Described, Resource, describe_configs
from share_state.kafka.client.metadata import by_name
from share_state.operate.dead_letters.errors import ClusterRefusedError, NoSuchTopicError
from share_state.operate.reading.asking import ask
from share_state.operate.reading.failures import ClusterReadError

__all__ = ["Asking", "GroupSettings"]

_Answer = TypeVar("_Answer")
_QUEUE: Final = "errors.deadletterqueue.topic.name"
_LIMIT: Final = "share.delivery.count.limit"
#: Bits of the operations that a principal may do with a topic (Kafka: ``AclOperation``), by their names.
_ALL: Final = 1 << 2
_OPERATIONS: Final = {"WRITE": 1 << 4, "READ": 1 << 3}


class GroupSettings(NamedTuple):
    """Configuration of a group, as far as it concerns dead letters."""

    #: The topic of its dead-letter queue; None: it has none, or the cluster is older than 4.4.
    queue: str | None
    delivery_count_limit: int | None


class Asking:
    """Questions to a cluster, which change nothing.

    Args:
        source: ``kafka://HOST:PORT[,...]``.
        settings: further settings of the client, in librdkafka's names.
        timeout: seconds to wait for an answer.
    """

    def __init__(self, source: str, settings: Mapping[str, object] | None, timeout: float) -> None:
        self._cluster = source, settings, timeout

    def _ask(self, question: Callable[[Client], Coroutine[Any, Any, _Answer]]) -> _Answer:
        return ask(*self._cluster, question)

    def cluster_id(self) -> str:
        """Return the id of the cluster.

        Raises:
            ClusterReadError: it does not answer.
        """
        return str(self._ask(lambda client: client.metadata([]))["clusterId"])

    def group(self, group: str) -> GroupSettings:
        """Return what a group is configured with; a group without configurations of its own has those of the broker.

        Raises:
            ClusterRefusedError: a right is missing.
            ClusterReadError: the cluster does not answer.
        """

        async def question(client: Client) -> dict[str, Described]:
            return await describe_configs(await client.any(), Resource.GROUP, [group])

        told = self._ask(question).get(group) or Described(codes.UNKNOWN_SERVER_ERROR, None, {})
        if told.error_code == codes.GROUP_AUTHORIZATION_FAILED:
            text = f"the principal needs DESCRIBE_CONFIGS on the group {group}, which tells its dead-letter queue"
            raise ClusterRefusedError(text, kafka_code=told.error_code, field="group", value=group)
        if told.error_code != codes.NONE:
            raise _failure(f"group {group}", told.error_code, told.said)
        limit = told.values.get(_LIMIT)
        return GroupSettings(told.values.get(_QUEUE) or None, int(limit) if limit else None)

    def check_target(self, topic: str) -> None:
        """Refuse a target that is not there, or that the principal may not write to and read.

        What an interrupted redrive has sent is read back, so it needs both.

        Raises:
            NoSuchTopicError: it is not there.
            ClusterRefusedError: a right is missing.
            ClusterReadError: the cluster does not answer.
        """
        (row,) = self._ask(lambda client: client.metadata(by_name([topic]), operations=True))["topics"]
        code = row["errorCode"]
        if code == codes.UNKNOWN_TOPIC_OR_PARTITION:
            raise NoSuchTopicError(f"topic {topic} is not in the cluster", field="to", value=topic)
        if code == codes.TOPIC_AUTHORIZATION_FAILED:
            raise _needs("DESCRIBE", topic)
        if code not in {codes.NONE, codes.LEADER_NOT_AVAILABLE}:
            raise _failure(f"topic {topic}", code, None)
        for operation, bit in _OPERATIONS.items():
            if not row["topicAuthorizedOperations"] & (bit | _ALL):
                raise _needs(operation, topic)


def _failure(what: str, code: int, said: str | None) -> ClusterReadError:
    return ClusterReadError(f"{what}: code {code} ({codes.name_of(code)}){f': {said}' if said else ''}", kafka_code=code)


def _needs(operation: str, topic: str) -> ClusterRefusedError:
    text = f"the principal needs {operation} on the topic {topic}, to which the records go"
    return ClusterRefusedError(text, kafka_code=codes.TOPIC_AUTHORIZATION_FAILED, field="to", value=topic)
