"""Offsets of share groups: where they stand, set and forgotten; and groups that there are only because of them."""

from __future__ import annotations

from typing import Any

from tests.gateway.differential import admin
from tests.gateway.differential.duel import Step
from tests.gateway.differential.model import Member, Model
from tests.gateway.differential.sessions import Limits, take
from tests.gateway.wire.codec import Message

#: Until a share partition is initialised.
_WAIT_MS = 5000


def _offsets_of(groups: list[tuple[str, Any]]) -> Message:
    return {"groups": [{"groupId": group, "topics": topics} for group, topics in groups]}


def describe_offsets(model: Model) -> None:
    """Asks for the offsets of groups."""
    chance = model.chance
    topic = model.places[0][0]
    asked: list[tuple[str, Any]] = [
        (model.group, None),
        # Not a partition that the topic does not have: for that a broker tries half a minute.
        (model.group, [{"topicName": topic, "partitions": [0]}, {"topicName": "no-such-topic", "partitions": [0]}]),
        ("nobody", None),
        ("nobody", [{"topicName": topic, "partitions": [0]}]),
        ("", None),
    ]
    version = chance.choice((0, 1))
    chosen = chance.sample(asked, 1) if chance.random() < 0.8 else [asked[0], asked[2]]
    model.duel.ask(Step("describe offsets", "DescribeShareGroupOffsets", version, lambda _: _offsets_of(chosen)))


def alter_offsets(model: Model, group: str) -> None:
    """Set where a group without members goes on; what is not there is told apart."""
    chance = model.chance
    topic, partition = chance.choice(model.places)
    places = [{"partitionIndex": partition, "startOffset": chance.choice((0, 5, 100, 10_000))}]
    if chance.random() < 0.2:
        # None below 0: a broker writes it down, and the group is no use afterwards.
        places.append({"partitionIndex": 99, "startOffset": 0})
    topics = [{"topicName": topic, "partitions": places}]
    if chance.random() < 0.2:
        topics.append({"topicName": "no-such-topic", "partitions": [{"partitionIndex": 0, "startOffset": 0}]})
    model.duel.ask(Step("alter offsets", "AlterShareGroupOffsets", 0, lambda _: {"groupId": group, "topics": topics}))


def delete_offsets(model: Model, group: str) -> None:
    """Forget where a group stands in a topic."""
    forget(model, group, model.chance.choice([*{place[0]: None for place in model.places}, "no-such-topic"]))


def forget(model: Model, group: str, topic: str, *, label: str = "delete offsets") -> None:
    """Forget where a group stands in this topic."""
    message = {"groupId": group, "topics": [{"topicName": topic}]}
    model.duel.ask(Step(label, "DeleteShareGroupOffsets", 0, lambda _: message))


def moved(model: Model) -> None:
    """A group that somebody has made by setting its offsets: read from there, described, forgotten, deleted."""
    chance = model.chance
    model.moved += 1
    group = Model(model.duel, chance, f"{model.group}-moved{model.moved}", model.places, model.limit)
    topic, partition = chance.choice([place for place in model.places if place[0].endswith(("d-many", "d-one"))])
    start = chance.choice((0, 7, 100, 395))
    one = {"topicName": topic, "partitions": [{"partitionIndex": partition, "startOffset": start}]}
    model.duel.ask(Step("alter offsets", "AlterShareGroupOffsets", 0, lambda _: {"groupId": group.group, "topics": [one]}))
    model.duel.ask(Step("describe altered offsets", "DescribeShareGroupOffsets", 1, lambda _: _offsets_of([(group.group, None)])))
    model.duel.ask(Step("describe an altered group", "ShareGroupDescribe", 1, lambda _: {"groupIds": [group.group]}))
    admin.list_groups(model)
    reader = Member(model.new_member_id(), open=True)
    limits: Limits = {"maxRecords": 5, "batchSize": 5, "maxWaitMs": _WAIT_MS, "shareAcquireMode": 1}
    take(group, reader, [(topic, partition)], [], version=2, limits=limits, first=True, label="read from altered offsets")
    for _ in range(2):
        alter_offsets(group, group.group)
    for name in (topic, topic, "no-such-topic")[: chance.randint(1, 3)]:
        forget(model, group.group, name)
    describe_offsets(group)
    admin.delete_groups(model, [group.group, *(["nobody"] if chance.random() < 0.3 else [])])
    describe_offsets(group)


def bare(model: Model) -> None:
    """Groups without any offsets: one that nothing was altered of, and one whose only member found none of its topics."""
    model.moved += 1
    nothing, group = f"{model.group}-nothing{model.moved}", f"{model.group}-bare{model.moved}"
    unknown = {"topicName": "no-such-topic", "partitions": [{"partitionIndex": 0, "startOffset": 0}]}
    member = model.new_member_id()
    beat = {"groupId": group, "memberId": member, "subscribedTopicNames": ["no-such-topic"]}
    asked: list[tuple[str, str, int, Message]] = [
        ("alter nothing", "AlterShareGroupOffsets", 0, {"groupId": nothing, "topics": [unknown]}),
        ("alter nothing", "AlterShareGroupOffsets", 0, {"groupId": nothing, "topics": []}),
        ("join in vain", "ShareGroupHeartbeat", 1, {**beat, "memberEpoch": 0}),
        ("leave in vain", "ShareGroupHeartbeat", 1, {**beat, "memberEpoch": -1}),
    ]
    for label, name, version, message in asked:
        _ask(model, label, name, version, message)
    both = [nothing, group]
    model.duel.ask(Step("describe bare groups", "ShareGroupDescribe", 1, lambda _: {"groupIds": both}))
    model.duel.ask(Step("describe offsets", "DescribeShareGroupOffsets", 1, lambda _: _offsets_of([(one, None) for one in both])))
    forget(model, group, "no-such-topic", label="delete offsets of a bare group")
    admin.delete_groups(model, both)


def _ask(model: Model, label: str, name: str, version: int, message: Message) -> None:
    model.duel.ask(Step(label, name, version, lambda _: message))
