"""Group configurations and the state of a group, by raw requests: no client library has them all."""

from __future__ import annotations

from confluent_kafka import TopicPartition

from tests.gateway.patience import wait_until
from tests.gateway.wire import Connection
from tests.gateway.wire.codec import Message

_GROUP = 32
_SET = 0
#: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
_NOT_YET = frozenset({14, 15, 16})


def configure_group(bootstrap: str, group: str, **configs: str) -> None:
    """Set configurations of a group, which need not exist."""
    with Connection(bootstrap.partition(",")[0]) as connection:
        changed = [{"name": name, "configOperation": _SET, "value": value} for name, value in configs.items()]
        resource = {"resourceType": _GROUP, "resourceName": group, "configs": changed}
        answer = connection.ask("IncrementalAlterConfigs", 1, {"resources": [resource]})
        (response,) = answer["responses"]
        assert response["errorCode"] == 0, response


def describe_group(connection: Connection, group: str) -> Message:
    """The answer of ShareGroupDescribe, once the coordinator is there."""
    found: list[Message] = []

    def answered() -> bool:
        connection.ask("FindCoordinator", 6, {"coordinatorKeys": [group]})
        found[:] = connection.ask("ShareGroupDescribe", 1, {"groupIds": [group]})["groups"]
        return found[0]["errorCode"] not in _NOT_YET

    wait_until(answered, "the group coordinator")
    return found[0]


def lag(bootstrap: str, group: str, place: TopicPartition) -> int:
    """The lag of a share partition, as its coordinator tells it; -1 while nothing is known."""
    asked = {"groupId": group, "topics": [{"topicName": place.topic, "partitions": [place.partition]}]}
    with Connection(bootstrap.partition(",")[0]) as connection:
        (told,) = connection.ask("DescribeShareGroupOffsets", 1, {"groups": [asked]})["groups"]
    if told["errorCode"] in _NOT_YET:
        return -1
    (topic,) = told["topics"]
    (partition,) = topic["partitions"]
    return int(partition["lag"])


def wait_for_members(bootstrap: str, group: str, count: int, seconds: float = 60.0) -> None:
    """Wait until a group has so many members."""
    with Connection(bootstrap.partition(",")[0]) as connection:
        wait_until(
            lambda: len(describe_group(connection, group)["members"]) == count,
            f"{count} members of {group}",
            seconds=seconds,
        )
