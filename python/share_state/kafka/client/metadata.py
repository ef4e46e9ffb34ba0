"""Metadata (3): brokers, topics and their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from share_state.kafka import codes
from share_state.kafka.client.peers import Address, Node
from share_state.kafka.shown_key import shown_topic_id

__all__ = ["NO_ID", "ZERO_ID", "Topic", "by_id", "by_name", "metadata_message", "nodes_of", "topic_of"]

#: Stands for "no topic" (``Uuid.ZERO_UUID``).
ZERO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
#: The same as a hyphenated UUID: the id of a topic of a cluster without ids.
NO_ID: Final = shown_topic_id(ZERO_ID)
_LEADERLESS: Final[Mapping[str, Any]] = {"leaderId": -1, "replicaNodes": (), "isrNodes": ()}


class Topic(NamedTuple):
    """A topic."""

    name: str
    #: Hyphenated UUID.
    topic_id: str
    #: The broker that leads each partition; -1 for none.
    leaders: tuple[int, ...]
    #: The brokers that keep each partition, and of those the ones that are in sync.
    replicas: tuple[tuple[int, ...], ...] = ()
    in_sync: tuple[tuple[int, ...], ...] = ()


def by_name(names: Iterable[str]) -> list[dict[str, Any]]:
    """Give the rows of a request for topics by their names."""
    return [{"topicId": ZERO_ID, "name": name} for name in names]


def by_id(topic_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Give the rows of a request for topics by their ids, which needs version 12."""
    return [{"topicId": topic_id, "name": None} for topic_id in topic_ids]


def metadata_message(topics: list[dict[str, Any]] | None, *, operations: bool = False) -> dict[str, Any]:
    """Make a request, which creates no topic.

    Args:
        topics: rows of those asked for; None for all.
        operations: whether the answer tells what the principal may do with them.
    """
    return {
        "topics": topics,
        "allowAutoTopicCreation": False,
        "includeClusterAuthorizedOperations": False,
        "includeTopicAuthorizedOperations": operations,
    }


def nodes_of(answer: Mapping[str, Any]) -> dict[int, Node]:
    """Take the brokers of an answer, by their ids."""
    return {row["nodeId"]: Node(row["nodeId"], Address(row["host"], row["port"])) for row in answer["brokers"]}


def topic_of(row: Mapping[str, Any]) -> Topic | None:
    """Take a topic of an answer; one whose leaders are being elected exists."""
    if row["errorCode"] not in {codes.NONE, codes.LEADER_NOT_AVAILABLE} or row["name"] is None:
        return None
    by_index = {partition["partitionIndex"]: partition for partition in row["partitions"]}
    partitions = [by_index.get(index, _LEADERLESS) for index in range(len(by_index))]
    return Topic(
        row["name"],
        shown_topic_id(row.get("topicId", ZERO_ID)),
        tuple(one["leaderId"] for one in partitions),
        tuple(tuple(one["replicaNodes"]) for one in partitions),
        tuple(tuple(one["isrNodes"]) for one in partitions),
    )
