"""Topics that clients name by their ids: which of them exist, and which partitions a client may read."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from share_state.gateway import Access, Operation, Resource, Rule
from share_state.gateway.requests import Client
from share_state.gateway.topic_names import TopicNames
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.peers import Address, LostError

KNOWN, FOUND, SECRET = (
    Topic(name, f"id of {name}", is_internal=False, partitions=(Partition(1, 0),) * 2) for name in ("known", "found", "secret")
)
INTERNAL = Topic("internal", "id of internal", is_internal=True, partitions=(Partition(1, 0),) * 2)


class Upstream:
    """Knows one topic, and finds others when it is asked, unless it cannot be."""

    def __init__(self, *, is_lost: bool = False) -> None:
        self.asked: list[list[str]] = []
        self._is_lost = is_lost
        self.known = {KNOWN.topic_id: KNOWN}.get

    async def topics_by_id(self, topic_ids: list[str]) -> dict[str, Topic]:
        self.asked.append(topic_ids)
        if self._is_lost:
            raise LostError("broker 1", "gone", code=13, sent=False)
        return {topic.topic_id: topic for topic in (FOUND,) if topic.topic_id in topic_ids}


def names(upstream: Upstream, *topic_ids: str) -> dict[str, Topic]:
    return asyncio.run(TopicNames(cast("Any", upstream)).of(topic_ids))


def test_only_what_is_not_known_is_asked_for() -> None:
    upstream = Upstream()
    assert names(upstream, KNOWN.topic_id) == {KNOWN.topic_id: KNOWN}
    assert upstream.asked == []
    found = names(upstream, "id of none", KNOWN.topic_id, FOUND.topic_id)
    assert found == {KNOWN.topic_id: KNOWN, FOUND.topic_id: FOUND}
    assert upstream.asked == [["id of none", FOUND.topic_id]]


def test_what_is_known_does_while_upstream_is_gone() -> None:
    assert names(Upstream(is_lost=True), FOUND.topic_id, KNOWN.topic_id) == {KNOWN.topic_id: KNOWN}


@pytest.mark.parametrize(
    ("topic_id", "partition", "code"),
    [
        ("id of known", 0, 0),
        ("id of known", 1, 0),
        ("id of known", 2, 3),
        ("id of known", -1, 3),
        ("id of internal", 0, 3),
        ("id of internal", 2, 3),
        ("id of secret", 0, 29),
        ("id of secret", 2, 29),
        ("id of none", 0, 100),
    ],
)
def test_partitions_that_a_client_names(topic_id: str, partition: int, code: int) -> None:
    rules = [Rule("User:me", Operation.READ, Resource.TOPIC, name, False, True) for name in ("known", "internal")]
    client = Client(1, "h", Address("h", 1), Access(rules), principal="User:me")
    known = {topic.topic_id: topic for topic in (KNOWN, SECRET, INTERNAL)}
    assert TopicNames.error(client, known, topic_id, partition) == code
