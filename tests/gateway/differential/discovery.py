"""Requests by which clients find their way: coordinators, topics by name and by id, offsets of logs, versions, the cluster."""

from __future__ import annotations

from tests.gateway.differential.duel import Step
from tests.gateway.differential.model import Model
from tests.gateway.differential.topics import TRANSACTIONS
from tests.gateway.differential.view import View
from tests.gateway.wire.codec import Message


def find_coordinator(model: Model) -> None:
    """Asks for the coordinator of a group, and of what has another coordinator, or none."""
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


def api_versions(model: Model) -> None:
    """Asks which requests there are, as clients that say who they are, and as one that does so badly."""
    chance = model.chance
    version = chance.randint(0, 4)
    message: Message = {}
    if version >= 3:
        message = {"clientSoftwareName": chance.choice(("lab", "lab", "-bad-")), "clientSoftwareVersion": "1.0"}
    model.duel.ask(Step("api versions", "ApiVersions", version, lambda _: message))


def describe_cluster(model: Model) -> None:
    """Asks what the cluster is, as brokers and as controllers would tell it."""
    version = model.chance.randint(0, 1)
    message = {"endpointType": model.chance.choice((1, 1, 2, 7))} if version else {}
    model.duel.ask(Step("describe cluster", "DescribeCluster", version, lambda _: message))
