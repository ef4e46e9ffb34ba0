"""Every request that is offered, in every version, with values by chance: each has an answer, and no handler fails."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from typing import Any

import pytest
from kio.index import load_request_schema

from tests.gateway.orchard import IDS, NO_ID, PEARS, PLUMS, Orchard
from tests.gateway.serving import MEMBER
from tests.gateway.wire import CodecError, decode, encode, name_of, versions
from tests.gateway.wire.chance import drawn
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection
from tests.kafka.wire.kio_oracle import kio_bytes

#: Produce and Fetch are listed and not served.
UNSERVED = frozenset({0, 1})
EACH = 60
#: Values by the names of fields, of which there are some that mean something and some that do not.
GROUPS = ("one", "two", "gone", "", " ", b"\xff", "x" * 300)
TOPICS = (PEARS, PLUMS, "nowhere", "", "..", "topic abc", b"\xfe\xff")
POOLS: dict[str, tuple[Any, ...]] = {
    "groupId": GROUPS, "groups": GROUPS, "groupIds": GROUPS, "groupsNames": GROUPS, "key": GROUPS, "coordinatorKeys": GROUPS,
    "resourceName": (*GROUPS, *TOPICS, "5"), "memberId": (MEMBER, "B" * 22, "", "\t", "x" * 37),
    "memberEpoch": (-1, 0, 1, 2, -2), "shareSessionEpoch": (-1, 0, 0, 1, 2), "rackId": (None, "r", " "),
    "topicName": TOPICS, "name": TOPICS, "subscribedTopicNames": TOPICS,
    "topicId": (*IDS.values(), NO_ID), "partitionIndex": (0, 0, 1, 2, 99, -1, 2**31 - 1), "partitions": (0, 1, -1, 7),
    "startOffset": (-2, -1, 0, 5, 2**63 - 1), "timestamp": (-3, -2, -1, 0, 2**62), "keyType": (0, 0, 1, 2, -7),
    "resourceType": (2, 4, 32, 32, 8, 99), "configOperation": (0, 1, 2, 3, 9, -1), "shareAcquireMode": (0, 1, 2, -1),
    "maxBytes": (-1, 0, 1, 1 << 20), "maxRecords": (-1, 0, 1, 500), "minBytes": (-1, 0, 1, 2**31 - 1), "maxWaitMs": (-1, 0, 1),
    "batchSize": (-1, 0, 1, 500), "firstOffset": (-1, 0, 1, 5), "lastOffset": (-1, 0, 3, 2**63 - 1),
    "acknowledgeTypes": ([], [1], [2], [0, 1, 2], [4], [9], [-1]), "endpointType": (0, 1, 2, 9), "resourceTypes": (2, 4, 32, 99),
    "clientSoftwareName": ("lab", "-", ""), "clientSoftwareVersion": ("1.0", " "),
}  # fmt: skip


def told(chance: random.Random, value: Any, name: str = "") -> Any:
    """A message with most of its values out of the pools; a list is null, empty, or has elements twice at times."""
    if isinstance(value, dict):
        return {inner: told(chance, one, inner) for inner, one in value.items()}
    if isinstance(value, list) and name != "acknowledgeTypes":
        elements = [told(chance, one, name) for one in value * chance.choice((1, 1, 2))]
        return elements + elements[:1] * chance.randrange(2)
    if value is None and chance.random() < 0.5:
        return None
    if name in POOLS and chance.random() < 0.9:
        return chance.choice(POOLS[name])
    return value


def requests(chance: random.Random, key: int, version: int) -> Iterator[Message]:
    """As many of a version as there are to be."""
    made = 0
    while made < EACH:
        message = told(chance, decode(key, version, kio_bytes(drawn(chance, load_request_schema(key, version)))))
        if isinstance(message.get("maxWaitMs"), int):
            # Nobody waits here.
            message["maxWaitMs"] = min(message["maxWaitMs"], 1)
        try:
            encode(key, version, message)
        except CodecError:
            continue
        made += 1
        yield message


def served(trees: Orchard) -> list[tuple[int, int]]:
    return [
        (key, version)
        for key, offered in sorted(trees.connection.offered().items())
        if key not in UNSERVED
        for version in offered
        if version in versions(key)
    ]


def test_every_request_has_an_answer(trees: Orchard, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    chance = random.Random(32)  # noqa: S311 - test data
    asked: dict[str, int] = {}
    for group in ("one", "two"):
        trees.join(group, [PEARS, PLUMS])
    with Connection(trees.gateway.bootstrap_servers, "chance") as connection:
        for key, version in served(trees):
            for message in requests(chance, key, version):
                answer = connection.exchange(key, version, encode(key, version, message))
                try:
                    decode(key, version, answer, response=True)
                except CodecError as wrong:
                    raise AssertionError(f"{name_of(key)} v{version} {message}: {wrong}") from wrong
                asked[name_of(key)] = asked.get(name_of(key), 0) + 1
    failures = {name_of(key): count for key, count in trees.gateway.counts.failures.items()}
    assert (failures, [one.getMessage() for one in caplog.records]) == ({}, [])
    assert len(asked) == 19
    assert all(count >= EACH for count in asked.values()), asked
