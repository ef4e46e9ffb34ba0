"""Scenario of requests and what share coordinators answer to it, field by field.

``answers-4.4.0.json`` and ``answers-4.3.1.json`` are what real brokers of these releases answered. They are recorded again by
``python -m pytest -m kafka tests/kafka/server/test_answers.py`` with ``RECORD_ANSWERS=1`` in the environment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from share_state.kafka.client.connection import Connection, ConnectionOptions
from share_state.kafka.client.peers import Address, Node
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.clock import LoopClock

NEWEST, OLDER = "4.4.0", "4.3.1"
VERSIONS = (NEWEST, OLDER)
#: Differences of the older release from the newest.
TAKES_EPOCHS = "takes an epoch below 0, which the newest refuses"
OTHER_TEXT = "has another text for a fenced state epoch"
#: Difference of share_state: I2.
FENCES = "a read after a new initialisation writes its leader"
GOES_BACK = "lets a write take the start offset back (#23074)"
#: Stands for the id of the topic that exists, with three partitions.
TOPIC = "<topic>"
UNKNOWN = "AAECAwQFBgcICQoLDA0ODw"
ZERO = "A" * 22
FIND, INITIALIZE, READ, WRITE, DELETE, SUMMARY = 10, 83, 84, 85, 86, 87

Message = dict[str, Any]


class Step(NamedTuple):
    """A request.

    ``ours`` says why our coordinator answers another way, on purpose; ``older`` how the older release differs. ``newest`` is
    whether only the newest release is asked.
    """

    api_key: int
    message: Message
    ours: str = ""
    older: str = ""
    newest: bool = False


def _partition(api_key: int, changed: Message) -> Message:
    usual: Message = {"partition": 0}
    if api_key == INITIALIZE:
        usual |= {"stateEpoch": 1, "startOffset": 100}
    elif api_key in (READ, SUMMARY):
        usual |= {"leaderEpoch": 1}
    elif api_key == WRITE:
        usual |= {"stateEpoch": 1, "leaderEpoch": 1, "startOffset": 100, "deliveryCompleteCount": 0}
        usual["stateBatches"] = [batch(100, 109, 2, 1)]
    return usual | changed


def batch(first: int, last: int, state: int, count: int) -> Message:
    return {"firstOffset": first, "lastOffset": last, "deliveryState": state, "deliveryCount": count}


def one(
    api_key: int,
    group: str = "main",
    topic: str = TOPIC,
    ours: str = "",
    older: str = "",
    *,
    newest: bool = False,
    **changed: Any,
) -> Step:
    """A request about one share partition."""
    topics = [{"topicId": topic, "partitions": [_partition(api_key, changed)]}]
    return Step(api_key, {"groupId": group, "topics": topics}, ours, older, newest)


def several(api_key: int, group: str, *changes: Message) -> Step:
    partitions = [_partition(api_key, changed) for changed in changes]
    return Step(api_key, {"groupId": group, "topics": [{"topicId": TOPIC, "partitions": partitions}]})


def find(*keys: str, key_type: int = 2) -> Step:
    return Step(FIND, {"keyType": key_type, "coordinatorKeys": list(keys)})


def recorded(version: str) -> Path:
    """Path of the answers of a release."""
    return Path(__file__).with_name(f"answers-{version}.json")


def scenario(version: str = NEWEST) -> list[Step]:
    """All steps that a release is asked; each depends on those before it."""
    steps = [
        find(f"main:{TOPIC}:0", f"a:b:{TOPIC}:2"),
        find("nonsense"),
        find("g:zz:1"),
        find(f"g:{TOPIC}:x"),
        find(f"g:{TOPIC}:-1"),
        find(f":{TOPIC}:0"),
        find(f"g:{ZERO}:0"),
        find(f"g:{UNKNOWN}:99"),
        find("g:00010203-0405-0607-0809-0a0b0c0d0e0f:0"),
        find(),
        find("g", key_type=3),
    ]
    for api_key in (INITIALIZE, READ, WRITE, DELETE, SUMMARY):
        steps += [
            one(api_key, group=""),
            Step(api_key, {"groupId": "main", "topics": []}),
            Step(api_key, {"groupId": "main", "topics": [{"topicId": TOPIC, "partitions": []}]}),
            one(api_key, topic=ZERO),
            one(api_key, topic=UNKNOWN),
            one(api_key, partition=99),
            one(api_key, partition=-1),
            one(api_key, partition=-1, topic=UNKNOWN),
        ]
    steps += [
        # Nothing is initialised yet.
        one(READ),
        one(WRITE),
        one(SUMMARY),
        one(SUMMARY, leaderEpoch=-1),
        one(DELETE),
        # Fields out of range.
        one(INITIALIZE, stateEpoch=-1, older=TAKES_EPOCHS),
        one(READ, leaderEpoch=-1, older=TAKES_EPOCHS),
        one(WRITE, stateEpoch=-1, older=TAKES_EPOCHS),
        one(WRITE, leaderEpoch=-1, older=TAKES_EPOCHS),
        one(WRITE, stateEpoch=-1, leaderEpoch=-1, older=TAKES_EPOCHS),
        # A life.
        one(INITIALIZE),
        one(SUMMARY),
        one(READ, leaderEpoch=5),
        one(READ, leaderEpoch=4),
        one(WRITE, leaderEpoch=4),
        one(WRITE, leaderEpoch=4, stateEpoch=0),
        one(WRITE, leaderEpoch=5, stateEpoch=0, older=OTHER_TEXT),
        several(WRITE, "main", {"leaderEpoch": 5}, {"leaderEpoch": 5, "partition": 1}),
        one(WRITE, leaderEpoch=5, startOffset=90, deliveryCompleteCount=7),
        one(WRITE, leaderEpoch=6, stateEpoch=2, startOffset=-1, stateBatches=[batch(105, 119, 0, 3)]),
        one(READ, leaderEpoch=5, older=GOES_BACK),
        one(SUMMARY, older=GOES_BACK),
        one(WRITE, leaderEpoch=5, startOffset=103, stateBatches=[]),
        one(READ, leaderEpoch=7),
        one(SUMMARY),
        one(INITIALIZE, stateEpoch=0, older=OTHER_TEXT),
        one(INITIALIZE, stateEpoch=1, startOffset=100),
        one(READ, leaderEpoch=7),
        one(INITIALIZE, stateEpoch=2, startOffset=-1),
        one(READ, leaderEpoch=7),
        one(SUMMARY, ours=FENCES),
        one(DELETE),
        one(DELETE),
        one(READ, leaderEpoch=7),
        one(SUMMARY),
        one(INITIALIZE, stateEpoch=0, startOffset=0),
        one(READ, leaderEpoch=0),
        # One partition twice in a request: both are carried out, one result comes back.
        several(INITIALIZE, "twice", {}, {"partition": 1}, {"stateEpoch": 2, "startOffset": 5}),
        several(SUMMARY, "twice", {}, {"partition": 1}, {"partition": 2}),
        several(DELETE, "twice", {}, {"partition": 99}, {"partition": -1}),
        # What Kafka takes and cannot use.
        one(INITIALIZE, "bad", startOffset=-2, ours="a start offset below -1 is no offset"),
        one(INITIALIZE, "bad", stateEpoch=3),
        one(WRITE, "bad", stateEpoch=3, startOffset=-2, stateBatches=[], ours="a start offset below -1 is no offset"),
        one(WRITE, "bad", stateEpoch=3, deliveryCompleteCount=-5, stateBatches=[], ours="a count below -1 is no count"),
        one(WRITE, "bad", stateEpoch=3, stateBatches=[batch(120, 110, 2, 1)], ours="M1: an inverted batch"),
        # The older release never answers a write to a state that holds an inverted batch.
        one(
            WRITE,
            "bad",
            stateEpoch=3,
            stateBatches=[batch(110, 120, 1, 1)],
            ours="acquired records are never persisted",
            newest=True,
        ),
        one(WRITE, "bad", stateEpoch=3, stateBatches=[batch(110, 120, 9, 1)], ours="there is no delivery state 9", newest=True),
        one(WRITE, "bad", stateEpoch=3, stateBatches=[batch(110, 120, 2, -1)], ours="a delivery count below 0", newest=True),
    ]
    return [step for step in steps if version == NEWEST or not step.newest]


def _sorted(answer: Message) -> Message:
    """Kafka's order of results is that of a Java hash table."""
    for topic in answer.get("results", []):
        topic["partitions"].sort(key=lambda partition: partition["partition"])
    return answer


async def ask(address: Address, topic_id: str, steps: list[Step]) -> list[Message]:
    """Answers of a coordinator, with what differs from cluster to cluster replaced."""
    options = ConnectionOptions(SecurityOptions(), LoopClock(), "answers", 30, 30)
    connection = await Connection.open(Node(-1, address), options)
    answers = []
    for step in steps:
        asked = json.loads(json.dumps(step.message).replace(TOPIC, topic_id))
        text = json.dumps(await connection.request(step.api_key, asked), sort_keys=True)
        text = text.replace(topic_id, TOPIC).replace(f'"port": {address.port}', '"port": 9092')
        answers.append(_sorted(json.loads(text)))
    await connection.close()
    return answers
