"""Facts from the brokers about one topic in one share group: its partitions, and the group's members and configuration."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, NamedTuple, TypeVar

from share_state.errors import UnknownPartitionError
from share_state.kafka.client.client import UnansweredError
from share_state.kafka.client.configs import Resource
from share_state.kafka.client.metadata import Topic
from share_state.kafka.client.peers import LostError, parse_bootstrap
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.errors import BadAnswerError, BrokerUnreachableError
from share_state.operate.analysis.topic_id import hyphenated
from share_state.operate.live.asked import Asked, Member
from share_state.operate.live.group_limits import DELIVERY_LIMIT, LOCK_DURATION, number_of
from share_state.operate.live.rights import Missing, NotAllowedError
from share_state.operate.reading.failures import ClusterReadError

__all__ = ["About", "about"]

_Answer = TypeVar("_Answer")
_UUID_CHARACTERS: Final = 36


class About(NamedTuple):
    """Facts about one topic in one share group.

    Attributes:
        group: the group id.
        topic: its name, its id and the leaders of its partitions.
        ends: the offset after the last record of each partition, as far as it is known.
        members: the members of the group; None where they are not known.
        configs: the configuration of the group, by Kafka's names; empty where it is not known.
        problems: what could not be asked, and why.
    """

    group: str
    topic: Topic
    ends: dict[int, int]
    members: tuple[Member, ...] | None
    configs: dict[str, str]
    problems: tuple[str, ...]

    @property
    def delivery_limit(self) -> int | None:
        """``share.delivery.count.limit`` of the group; None where it is not known."""
        return number_of(self.configs, DELIVERY_LIMIT)

    @property
    def lock_duration_ms(self) -> int | None:
        """``share.record.lock.duration.ms`` of the group; None where it is not known."""
        return number_of(self.configs, LOCK_DURATION)

    def assigned(self, partition: int) -> tuple[Member, ...] | None:
        """Return the members that are assigned a partition at the moment; None where they are not known."""
        if self.members is None:
            return None
        return tuple(one for one in self.members if (self.topic.topic_id, partition) in one.assignment)


async def about(bootstrap: str, security: SecurityOptions, group: str, topic: str, *, request_timeout: float = 10.0) -> About:
    """Ask for a topic by its name or its id, and for a group. Nothing is joined or changed.

    Raises:
        UnknownPartitionError: there is no such topic.
        BrokerUnreachableError: no broker answers.
        KafkaPersisterError: one refuses, for instance the login.
        ClusterReadError: the topic may not be described.
    """
    asked = Asked(parse_bootstrap(bootstrap), security, request_timeout=request_timeout)
    try:
        return await _about(asked, group, topic)
    except LostError as lost:
        kind = BrokerUnreachableError if lost.retriable else BadAnswerError
        raise kind(str(lost), kafka_code=lost.code, node=lost.node) from lost
    finally:
        await asked.close()


async def _about(asked: Asked, group: str, name: str) -> About:
    problems: list[str] = []
    missing: Missing = set()
    topic = await _topic(asked, name)
    places = [(topic, partition) for partition in range(len(topic.leaders))]
    ends = await _answered("log end offsets", asked.offsets(places, missing), problems) or {}
    groups = await _answered("members", asked.described([group], missing), problems) or {}
    configs = await _answered("the configuration of the group", asked.configs(Resource.GROUP, [group], missing), problems) or {}
    found = groups.get(group)
    return About(
        group,
        topic,
        {partition: end for (_, partition), end in ends.items()},
        None if found is None else found.members,
        configs.get(group, {}),
        (*problems, *(f"{right} is missing" for right in sorted(missing))),
    )


async def _topic(asked: Asked, name: str) -> Topic:
    """Find a topic by its name, or by its id where no topic has it as its name."""
    refused: NotAllowedError | None = None
    try:
        if (found := await asked.topic(name)) is not None:
            return found
    except NotAllowedError as error:
        refused = error
    topic_id = hyphenated(name)
    if len(topic_id) == _UUID_CHARACTERS and (by_id := await asked.topics([topic_id], set())):
        return by_id[topic_id]
    if refused is not None:
        raise ClusterReadError(f"{refused} is missing")
    raise UnknownPartitionError(f"topic {name} is not in the cluster", field="topic", value=name)


async def _answered(source: str, question: Awaitable[_Answer], problems: list[str]) -> _Answer | None:
    try:
        return await question
    except UnansweredError as error:
        problems.append(f"{source}: {error}")
        return None
