"""Administration: what every group tool asks, for groups, topics and configurations that are there and that are not."""

from __future__ import annotations

from typing import Any

from tests.gateway.differential.duel import Step
from tests.gateway.differential.model import Model
from tests.gateway.differential.topics import TRANSACTIONS
from tests.gateway.differential.view import View
from tests.gateway.wire.codec import Message

_GROUP, _SET, _DELETE, _APPEND, _SUBTRACT = 32, 0, 1, 2, 3
_KEYS = (
    ("share.auto.offset.reset", ("earliest", "latest", "by_duration:PT1H", "nearest", "by_duration:-PT1H", "")),
    ("share.isolation.level", ("read_committed", "read_uncommitted", "READ_COMMITTED", "none")),
    ("share.record.lock.duration.ms", ("30000", "60000", "1", "-1", "x", "99999999999")),
    ("share.heartbeat.interval.ms", ("5000", "15000", "1", "0")),
    ("share.session.timeout.ms", ("45000", "60000", "1", "99999999")),
    ("share.delivery.count.limit", ("2", "5", "10", "1", "26", "many")),
    ("share.partition.max.record.locks", ("100", "2000", "10000", "1")),
    ("share.renew.acknowledge.enable", ("true", "false", "perhaps")),
    ("share.no.such.config", ("1",)),
)
#: Which the share groups of a gateway have as well: consumer and streams groups are not its business.
_SHARE_KEYS = [name for name, _ in _KEYS if name != "share.no.such.config"]


def _offsets_of(model: Model, groups: list[tuple[str, Any]]) -> Message:
    del model
    return {"groups": [{"groupId": group, "topics": topics} for group, topics in groups]}


def describe_offsets(model: Model) -> None:
    """Where groups stand."""
    chance = model.chance
    topic = model.places[0][0]
    asked: list[tuple[str, Any]] = [
        (model.group, None),
        # Not a partition that the topic does not have: for that a broker tries half a minute.
        (model.group, [{"topicName": topic, "partitions": [0]}, {"topicName": "no-such-topic", "partitions": [0]}]),
        ("nobody", None),
        ("nobody", [{"topicName": topic, "partitions": [0]}]),
    ]
    version = chance.choice((0, 1))
    chosen = [chance.choice(asked)]
    model.duel.ask(Step("describe offsets", "DescribeShareGroupOffsets", version, lambda _: _offsets_of(model, chosen)))


def list_groups(model: Model) -> None:
    """All, and by state and type, as every version can ask."""
    chance = model.chance
    version = chance.randint(0, 5)
    message: Message = {}
    if version >= 4:
        message["statesFilter"] = chance.choice(([], ["Stable"], ["empty"], ["Dead"], ["NoSuchState"], ["Empty", "Stable"]))
    if version >= 5:
        message["typesFilter"] = chance.choice(([], ["share"], ["SHARE"], ["consumer"], ["nonsense"]))
    model.duel.ask(Step("list groups", "ListGroups", version, lambda _: message))


def describe_classic(model: Model) -> None:
    """What kafka-consumer-groups asks of a share group."""
    version = model.chance.randint(0, 6)
    group = model.chance.choice((model.group, "nobody", ""))
    model.duel.ask(Step("describe as a classic group", "DescribeGroups", version, lambda _: {"groups": [group]}))


def find_coordinator(model: Model) -> None:
    """Of a group; of what has another coordinator, or none."""
    chance = model.chance
    version = chance.randint(0, 6)
    group = chance.choice((model.group, "nobody", ""))
    message: Message = {"coordinatorKeys": [group]} if version >= 4 else {"key": group}
    if version >= 1:
        message["keyType"] = chance.choice((0, 0, 0, 7, -1))
    model.duel.ask(Step("find coordinator", "FindCoordinator", version, lambda _: message))


def metadata(model: Model) -> None:
    """Topics by name and by id, there and not."""
    chance = model.chance
    version = chance.randint(0, 13)
    names = chance.sample([model.places[0][0], model.places[-1][0], "no-such-topic"], chance.randint(1, 2))
    by_id = version >= 12 and chance.random() < 0.4
    strange = model.new_member_id()

    def build(view: View) -> Message:
        topics: list[Message]
        if by_id:
            topics = [{"topicId": view.topic_ids.get(name, strange), "name": None} for name in names]
        else:
            topics = [{"name": name} for name in names]
        return {"topics": topics, **({"allowAutoTopicCreation": False} if version >= 4 else {})}

    model.duel.ask(Step("metadata by id" if by_id else "metadata", "Metadata", version, build))


def list_offsets(model: Model) -> None:
    """Earliest, latest, by time, of what is there and what is not."""
    chance = model.chance
    version = chance.randint(1, 7)
    topic, partition = chance.choice([*model.places, ("no-such-topic", 0), (model.places[0][0], 99)])
    at = chance.choice((-1, -2, 0, 1_700_000_000_005, 9_000_000_000_000, -3) if version >= 7 else (-1, -2, 0, 1_700_000_000_005))
    if topic.endswith(TRANSACTIONS):
        # Its markers have the time of the cluster's clock.
        at = chance.choice((-1, -2))
    one = {"partitionIndex": partition, "timestamp": at}
    model.duel.ask(
        Step(
            "list offsets", "ListOffsets", version, lambda _: {"replicaId": -1, "topics": [{"name": topic, "partitions": [one]}]}
        )
    )


def alter_configs(model: Model, group: str) -> None:
    """Configurations of a group of this episode: right and wrong ones."""
    chance = model.chance
    changes = []
    for name, values in chance.sample(_KEYS, chance.randint(1, 2)):
        operation = chance.choice((_SET, _SET, _SET, _DELETE, _APPEND, _SUBTRACT))
        changes.append(
            {"name": name, "configOperation": operation, "value": None if operation == _DELETE else chance.choice(values)}
        )
    resource = {"resourceType": _GROUP, "resourceName": chance.choice((group, group, group, "")), "configs": changes}
    message = {"resources": [resource], "validateOnly": chance.random() < 0.2}
    model.duel.ask(Step("alter configs", "IncrementalAlterConfigs", chance.choice((0, 1)), lambda _: message))
    describe_configs(model, group)


def describe_configs(model: Model, group: str) -> None:
    """The configurations of a group, of share groups only."""
    chance = model.chance
    version = chance.randint(1, 4)
    keys = chance.sample(_SHARE_KEYS, 3) if chance.random() < 0.3 else _SHARE_KEYS
    resource = {"resourceType": _GROUP, "resourceName": group, "configurationKeys": keys}
    message: Message = {"resources": [resource], "includeSynonyms": chance.random() < 0.5}
    model.duel.ask(Step("describe configs", "DescribeConfigs", version, lambda _: message))


def list_config_resources(model: Model) -> None:
    """Which groups have configurations of their own."""
    model.duel.ask(Step("list config resources", "ListConfigResources", 1, lambda _: {"resourceTypes": [_GROUP]}))


def alter_offsets(model: Model, group: str) -> None:
    """Set where a group without members goes on; what is not there is told apart."""
    chance = model.chance
    topic, partition = chance.choice(model.places)
    places = [{"partitionIndex": partition, "startOffset": chance.choice((0, 5, 100, 10_000))}]
    if chance.random() < 0.2:
        places.append({"partitionIndex": 99, "startOffset": 0})
    topics = [{"topicName": topic, "partitions": places}]
    if chance.random() < 0.2:
        topics.append({"topicName": "no-such-topic", "partitions": [{"partitionIndex": 0, "startOffset": 0}]})
    model.duel.ask(Step("alter offsets", "AlterShareGroupOffsets", 0, lambda _: {"groupId": group, "topics": topics}))


def delete_offsets(model: Model, group: str) -> None:
    """Forget where a group stands in a topic."""
    topic = model.chance.choice([*{place[0] for place in model.places}, "no-such-topic"])
    model.duel.ask(
        Step("delete offsets", "DeleteShareGroupOffsets", 0, lambda _: {"groupId": group, "topics": [{"topicName": topic}]})
    )


def delete_groups(model: Model, groups: list[str]) -> None:
    """Delete groups, the empty name and nobody's among them."""
    version = model.chance.randint(0, 2)
    model.duel.ask(Step("delete groups", "DeleteGroups", version, lambda _: {"groupsNames": groups}))
