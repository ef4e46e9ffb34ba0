"""Every field of every request, in every version, with values that no client means: null, empty, blank, twice, negative, huge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

from tests.gateway.differential.duel import ABSENT, Diverged, Duel, Known, Step
from tests.gateway.differential.view import NO_ID, View
from tests.gateway.groups import configure_group
from tests.gateway.patience import wait_until
from tests.gateway.wire import CodecError, api_key, encode
from tests.gateway.wire.codec import Message

#: Stands for the id of the topic, which each server has given itself.
_TOPIC_ID = "topic id"
_STRANGE_ID = "0f0e0d0c-0000-4000-8000-00000000beef"
_METADATA_ID = "00000000-0000-0000-0000-000000000001"
_TEXTS: tuple[str | bytes | None, ...] = (
    None, "", " ", "\t", "\0", ".", "..", "topic abc", "x" * 249, "x" * 250, "ä", "a\0b", b"\xff\xfe(", "no-such",
)  # fmt: skip
_NUMBERS = (-1, -2, -(2**31), -(2**63), 0, 1, 2, 3, 7, 127, 2**31 - 1, 2**63 - 1)
_IDS = (NO_ID, _METADATA_ID, _STRANGE_ID)
#: Nobody waits for an answer here.
_LONGEST_WAIT_MS = 2

#: A broker does not answer these within half a minute: it looks for the state of a partition that there is not.
_UNANSWERED = re.compile(r"groups\[\]topics\[\]partitions\[\]\+*=([237]|127|\d{5,})")
_ONE = r"responses\[.*\]\.partitions\[.*\]"


def _refused(real: Any, other: Any) -> bool:
    return (real, other) in {(-1, 42), (0, 42), (None, "some text")}


#: Differences of these, each with a line of the page on the gateway.
KNOWN = (
    Known(
        ".*",
        r".*(\[\]|#\].*)",
        lambda real, other: other == ABSENT or (isinstance(real, int) and other == real - 1),
        "A repeated group, topic, partition or resource is answered once.",
        label=r".*(=twice|\[\]\+.*)",
    ),
    Known(
        "DescribeShareGroupOffsets",
        r"groups\[.*",
        lambda *_: True,
        "DescribeShareGroupOffsets of an empty group id, of no partition, or of one that cannot exist",
        label=r"groups\[\](groupId=''|topics\[\]partitions(=empty|\[\]\+*=-.*))",
    ),
    Known(
        "AlterShareGroupOffsets",
        r"errorCode|errorMessage|responses.*",
        lambda *_: True,
        "The gateway refuses offsets of a negative partition (3).",
        label=r".*partitionIndex=-.*",
    ),
    Known(
        "AlterShareGroupOffsets",
        rf"{_ONE}\.error\w+",
        _refused,
        "A start offset of -1 stands for `share.auto.offset.reset`. Lower ones are refused (42);",
        label=r".*startOffset=-(2|\d{5,})\d*",
    ),
    Known(
        "ShareFetch",
        r".*",
        lambda real, _: real in {-1, 0, ABSENT},
        "A ShareFetch that names a partition twice is answered once, as librdkafka needs.",
        label=r"topics(\[\]partitions)?=twice",
    ),
    Known(
        "Share(Fetch|Acknowledge)",
        r".*",
        lambda _, other: other in {42, 0, ABSENT},
        "ShareFetch and ShareAcknowledge with an empty group id are refused (42).",
        label="groupId=''",
    ),
    Known(
        "ShareAcknowledge",
        rf"{_ONE}\.error\w+",
        _refused,
        "Acknowledgements of ranges that touch are malformed (42; V1).",
        label=r"topics.*=twice",
    ),
    Known(
        "ShareAcknowledge",
        rf"{_ONE}\.error\w+",
        _refused,
        "Acknowledgements of offsets below 0 are malformed (42).",
        label=r".*firstOffset=-.*",
    ),
    Known(
        "ShareAcknowledge",
        rf"{_ONE}\.errorCode",
        lambda real, other: (real, other) == (3, 121),
        "An acknowledgement for a share partition that is not in memory is refused by its state (121).",
        label=r".*partitionIndex=1",
    ),
    Known(
        "IncrementalAlterConfigs",
        r"responses\[.*\]\.error\w+",
        _refused,
        "IncrementalAlterConfigs with an operation that does not exist is refused (42).",
        label=".*configOperation=.*",
    ),
)
#: State that one sample leaves for the next is a server's own: which records are free, and whether a share partition is loaded.
#: Topics that a server keeps for itself are its own too.
OWN = (
    Known("ShareFetch", r"responses.*(\[\]|Message|topicId|Index|ecords\[\d+\])", lambda *_: True, ""),
    Known("ShareFetch", rf"{_ONE}\.\w+Code", lambda real, other: {real, other} <= {0, ABSENT}, ""),
    Known("Share(Fetch|Acknowledge)", r"responses.*", lambda *_: True, "", label=r"groupId=.*"),
    Known("ShareAcknowledge", rf"{_ONE}\.errorCode", lambda *both: {*both} == {42, 121}, "", label=r".*lastOffset=\d{2,}"),
    Known("Metadata", r"topics.*", lambda *_: True, "", label=r"topics=(null|empty)"),
)


def bases(topic: str, group: str, new: str) -> list[tuple[str, range, Message]]:
    """Requests that are right: API, versions, message; ``group`` has states and a member, and nobody has used ``new`` before."""
    member = new[-22:].rjust(22, "m")
    log = {"replicaId": -1, "topics": [{"name": topic, "partitions": [{"partitionIndex": 0, "timestamp": -1}]}]}
    create = {"allowAutoTopicCreation": False}
    batch = {"firstOffset": 0, "lastOffset": 0, "acknowledgeTypes": [1]}
    session = {"groupId": group, "memberId": member}
    fetch = {
        **session, "shareSessionEpoch": 0, "maxWaitMs": 0, "minBytes": 0, "maxBytes": 1 << 20, "maxRecords": 1, "batchSize": 1,
        "topics": [{"topicId": _TOPIC_ID, "partitions": [{"partitionIndex": 0, "acknowledgementBatches": []}]}],
        "forgottenTopicsData": [{"topicId": _TOPIC_ID, "partitions": [1]}],
    }  # fmt: skip
    acknowledged = [{"topicId": _TOPIC_ID, "partitions": [{"partitionIndex": 0, "acknowledgementBatches": [batch]}]}]
    acknowledge = {**session, "shareSessionEpoch": 1, "topics": acknowledged}
    start = {"topicName": topic, "partitions": [{"partitionIndex": 0, "startOffset": 1}]}
    config = {"name": "share.delivery.count.limit", "configOperation": 0, "value": "3"}
    beat = {"groupId": new, "memberId": member, "memberEpoch": 0, "rackId": "rack", "subscribedTopicNames": [topic]}
    return [
        ("ListOffsets", range(1, 2), log),
        ("ListOffsets", range(2, 8), {**log, "isolationLevel": 0}),
        ("Metadata", range(4), {"topics": [{"name": topic}]}),
        ("Metadata", range(4, 10), {"topics": [{"name": topic}], **create}),
        ("Metadata", range(10, 14), {"topics": [{"topicId": NO_ID, "name": topic}], **create}),
        ("Metadata", range(10, 14), {"topics": [{"topicId": _TOPIC_ID, "name": None}], **create}),
        ("FindCoordinator", range(1), {"key": group}),
        ("FindCoordinator", range(1, 4), {"key": group, "keyType": 0}),
        ("FindCoordinator", range(4, 7), {"coordinatorKeys": [group], "keyType": 0}),
        ("DescribeGroups", range(3), {"groups": [group]}),
        ("DescribeGroups", range(3, 7), {"groups": [group], "includeAuthorizedOperations": False}),
        ("ListGroups", range(4, 5), {"statesFilter": ["Stable"]}),
        ("ListGroups", range(5, 6), {"statesFilter": ["Stable"], "typesFilter": ["share"]}),
        ("DeleteGroups", range(3), {"groupsNames": [new]}),
        ("IncrementalAlterConfigs", range(2), {
            "resources": [{"resourceType": 32, "resourceName": new, "configs": [config]}], "validateOnly": False,
        }),
        ("DescribeCluster", range(1, 2), {"endpointType": 1}),
        ("ShareGroupHeartbeat", range(1, 2), beat),
        ("ShareGroupDescribe", range(1, 2), {"groupIds": [group], "includeAuthorizedOperations": False}),
        ("DescribeShareGroupOffsets", range(2), {
            "groups": [{"groupId": group, "topics": [{"topicName": topic, "partitions": [0]}]}],
        }),
        ("ShareAcknowledge", range(1, 2), acknowledge),
        ("ShareAcknowledge", range(2, 3), {**acknowledge, "isRenewAck": False}),
        ("ShareFetch", range(1, 2), fetch),
        ("ShareFetch", range(2, 3), {**fetch, "shareAcquireMode": 0, "isRenewAck": False}),
        ("AlterShareGroupOffsets", range(1), {"groupId": new, "topics": [start]}),
        ("DeleteShareGroupOffsets", range(1), {"groupId": new, "topics": [{"topicName": topic}]}),
    ]  # fmt: skip


def spoilt(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Copies of a message with one field changed each, and what was changed."""
    if isinstance(value, dict):
        for inner_name, inner in value.items():
            for path, changed in spoilt(inner, inner_name):
                yield f"{inner_name}{path}", {**value, inner_name: changed}
    elif isinstance(value, list):
        yield "=null", None
        if value:
            yield "=empty", []
            yield "=twice", value + deepcopy(value)
            for path, changed in spoilt(value[0], name):
                yield f"[]{path}", [changed, *value[1:]]
                if not isinstance(value[0], dict):
                    yield f"[]+{path}", [value[0], changed]
                    yield f"[]++{path}", [changed, changed]
    elif name == "topicId":
        yield from ((f"={one}", one) for one in _IDS)
    elif isinstance(value, bool):
        yield "=not", not value
    elif isinstance(value, int):
        yield from ((f"={number}", number) for number in _NUMBERS if name != "maxWaitMs" or number <= _LONGEST_WAIT_MS)
    else:
        yield from ((f"={text!r:.20}", text) for text in _TEXTS)


def _filled(message: Any, topic_id: str) -> Any:
    """A message with the id of the topic in its place."""
    if isinstance(message, dict):
        return {name: _filled(inner, topic_id) for name, inner in message.items()}
    if isinstance(message, list):
        return [_filled(inner, topic_id) for inner in message]
    return topic_id if isinstance(message, str) and message == _TOPIC_ID else message


def samples(topic: str, group: str) -> Iterator[tuple[str, str, int, Message]]:
    """Each of them: what was changed, API, version, message."""
    for index, (name, versions, base) in enumerate(bases(topic, group, "")):
        for version in versions:
            for which in range(1 + sum(1 for _ in spoilt(base))):
                made = bases(topic, group, f"{group}-{index}-{version}-{which}")[index][2]
                label, message = [("as it is", made), *spoilt(made)][which]
                if name == "DescribeShareGroupOffsets" and _UNANSWERED.fullmatch(label):
                    continue
                # A number that is too large for its field is no sample.
                with suppress(CodecError):
                    encode(api_key(name), version, _filled(message, NO_ID))
                    yield label, name, version, message


def try_all(duel: Duel, topic: str, group: str) -> None:
    """Make the group, and ask both servers each of them."""
    for view in duel.views:
        _prepare(view, topic, group)
    for label, name, version, message in samples(topic, group):
        ids: Message = {key: message[key] for key in ("groupId", "memberId") if key in message}
        if name == "ShareAcknowledge":
            # A record, so that its share partition is loaded.
            opening = {**_fetch(topic, group), **ids, "maxWaitMs": 1000, "minBytes": 1}
            if None not in ids.values():
                duel.exchange(Step("open", "ShareFetch", 1, _builder(opening, topic), "sessions"))
        with suppress(Diverged):
            duel.ask(Step(label, name, version, _builder(message, topic), "sessions" if name == "ShareAcknowledge" else name))
        if name.startswith("Share") and "shareSessionEpoch" in message and None not in ids.values():
            # What it holds is free again for the next one.
            closing = {**ids, "shareSessionEpoch": -1, "topics": []}
            connection = "sessions" if name == "ShareAcknowledge" else name
            duel.exchange(Step("close", "ShareAcknowledge", 1, _builder(closing, topic), connection))


def _fetch(topic: str, group: str) -> Message:
    return next(message for name, _, message in bases(topic, group, "warm") if name == "ShareFetch")


def _builder(message: Message, topic: str) -> Any:
    return lambda view: _filled(message, view.topic_ids[topic])


def _prepare(view: View, topic: str, group: str) -> None:
    """Have a member in the group, and its first partition loaded."""
    view.learn_topics([topic])
    connection = view.connection("prepare")
    configure_group(view.side.share, group, **{"share.auto.offset.reset": "earliest"})
    epochs = [0]

    def assigned() -> bool:
        # Asking for the coordinator makes the topic of the groups, which has to be loaded.
        connection.ask("FindCoordinator", 4, {"coordinatorKeys": [group]})
        asked = {"groupId": group, "memberId": "B" * 22, "memberEpoch": epochs[-1]}
        told = connection.ask("ShareGroupHeartbeat", 1, {**asked, "subscribedTopicNames": None if epochs[-1] else [topic]})
        if told["errorCode"] == 0:
            epochs.append(told["memberEpoch"])
        return bool(told["assignment"] and told["assignment"]["topicPartitions"])

    def loaded() -> bool:
        told = connection.ask("ShareFetch", 1, _filled(_fetch(topic, group), view.topic_ids[topic]))
        closing = {"groupId": group, "memberId": _fetch(topic, group)["memberId"], "shareSessionEpoch": -1, "topics": []}
        connection.ask("ShareAcknowledge", 1, closing)
        return any(row["acquiredRecords"] for one in told["responses"] for row in one["partitions"])

    wait_until(assigned, f"an assignment in {group}")
    wait_until(loaded, f"a record for {group}")
