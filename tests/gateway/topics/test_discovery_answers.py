"""Answers about brokers, topics, coordinators and versions: whole answers of every version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import Operation, Resource, Rule
from tests.gateway.orchard import IDS, ME, NO_ID, NOWHERE, PEARS, PLUMS, Orchard, orchard
from tests.gateway.wire.codec import Message

STRANGE = "00000000-0000-4000-8000-00000000000f"
NODE, GENERATION, NOT_ASKED = 5, 7, -2_147_483_648
HERE = "127.0.0.1"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orchard]:
    path = tmp_path_factory.mktemp("gateway")
    (path / "gateway").mkdir()
    # It was started six times.
    identity = {"format": 1, "clusterId": "the cluster", "generation": GENERATION - 1}
    (path / "gateway" / "identity.json").write_text(json.dumps(identity), encoding="utf-8")
    with orchard(path, node_id=NODE) as made:
        yield made


def partition(version: int, index: int) -> Message:
    """A partition as Metadata tells it: the gateway leads it, whoever does upstream."""
    told: Message = {"errorCode": 0, "partitionIndex": index, "leaderId": 5, "replicaNodes": [5], "isrNodes": [5]}
    if version >= 5:
        told["offlineReplicas"] = []
    if version >= 7:
        told["leaderEpoch"] = 7
    return told


def topic(version: int, name: str | None, code: int = 0, place: str = NO_ID) -> Message:
    """A topic as Metadata tells it."""
    count = 0 if code or name is None else {PLUMS: 3, PEARS: 1}[name]
    told: Message = {"errorCode": code, "name": name, "partitions": [partition(version, index) for index in range(count)]}
    if version >= 1:
        told["isInternal"] = False
    if version >= 8:
        told["topicAuthorizedOperations"] = -2_147_483_648
    if version >= 10:
        told["topicId"] = IDS[name] if name is not None and not code else place
    return told


def answer(there: Orchard, version: int, topics: list[Message]) -> Message:
    """A whole answer to Metadata."""
    broker: Message = {"nodeId": 5, "host": "127.0.0.1", "port": there.gateway.address.port}
    told: Message = {"brokers": [broker], "topics": topics}
    if version >= 1:
        broker["rack"] = None
        told["controllerId"] = 5
    if version >= 2:
        told["clusterId"] = "the cluster"
    if 8 <= version <= 10:
        told["clusterAuthorizedOperations"] = -2_147_483_648
    if version >= 13:
        told["errorCode"] = 0
    return told


def named(version: int, *names: str) -> list[Message]:
    """Rows of a request that names topics."""
    return [{"name": name, "topicId": NO_ID} if version >= 10 else {"name": name} for name in names]


def by_id(*places: str) -> list[Message]:
    return [{"name": None, "topicId": place} for place in places]


@pytest.mark.parametrize("version", range(14))
def test_topics_are_told_by_name_in_the_order_of_the_request(there: Orchard, version: int) -> None:
    asked = {"topics": named(version, PEARS, NOWHERE, PLUMS, PEARS)}
    # Once each.
    rows = [topic(version, PEARS), topic(version, NOWHERE, 3), topic(version, PLUMS)]
    assert there.ask("Metadata", version, asked) == answer(there, version, rows)


@pytest.mark.parametrize("version", range(14))
def test_all_topics_are_told_to_who_names_none(there: Orchard, version: int) -> None:
    everything = there.ask("Metadata", version, {"topics": None if version else []})
    everything["topics"].sort(key=lambda row: row["name"])
    assert everything == answer(there, version, [topic(version, PEARS), topic(version, PLUMS)])
    # An empty list is no topic, but in the version that has no null.
    if version:
        assert there.ask("Metadata", version, {"topics": []}) == answer(there, version, [])


@pytest.mark.parametrize("version", [12, 13])
def test_topics_are_told_by_their_ids(there: Orchard, version: int) -> None:
    # Beside an id neither a name counts nor what has none.
    asked = {"topics": [*by_id(STRANGE, IDS[PLUMS], NO_ID), *named(version, PEARS), *by_id(IDS[PLUMS])]}
    rows = [topic(version, None, 100, STRANGE), topic(version, PLUMS)]
    assert there.ask("Metadata", version, asked) == answer(there, version, rows)


@pytest.mark.parametrize("version", [10, 11, 12, 13])
def test_a_topic_without_name_and_id_refuses_the_request(there: Orchard, version: int) -> None:
    code = 42 if version < 12 else -1
    told = there.ask("Metadata", version, {"topics": [*named(version, PEARS), *by_id(NO_ID)]})
    rows = [topic(version, PEARS, code), topic(version, "", code)]
    assert told == {**answer(there, version, rows), **({"errorCode": code} if version >= 13 else {})}


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("name", [None, PLUMS])
def test_an_id_refuses_the_request_before_topics_have_ids(there: Orchard, version: int, name: str | None) -> None:
    asked = {"topics": [{"name": name, "topicId": IDS[PLUMS]}, *named(version, PEARS)]}
    rows = [topic(version, name or "", 42, IDS[PLUMS]), topic(version, PEARS, 42)]
    assert there.ask("Metadata", version, asked) == answer(there, version, rows)


@pytest.mark.parametrize("name", ["", " ", "topic abc", ".", "..", "x" * 250, "ä", "a/b", "a\n", "a\0"])
def test_a_name_that_no_topic_can_have_is_told_once(there: Orchard, name: str) -> None:
    for version in range(14):
        asked = {"topics": named(version, name, PEARS, name)}
        assert there.ask("Metadata", version, asked) == answer(there, version, [topic(version, name, 17), topic(version, PEARS)])
    assert not [one for one in there.upstream.requests("Metadata") if name in str(one.message["topics"] or "") and len(name) > 2]
    with there.rules.only():
        assert there.ask("Metadata", 12, {"topics": named(12, name)}) == answer(there, 12, [topic(12, name, 29)])


@pytest.mark.parametrize("name", ["x" * 249, "a", "_", "...", "A.b-c_9"])
def test_a_name_that_a_topic_can_have_is_unknown(there: Orchard, name: str) -> None:
    assert there.ask("Metadata", 9, {"topics": named(9, name)}) == answer(there, 9, [topic(9, name, 3)])


def test_topics_that_a_client_may_not_see(there: Orchard) -> None:
    asked = {"topics": named(12, PLUMS, NOWHERE, PEARS)}
    with there.rules.only(Rule(ME, Operation.DESCRIBE, Resource.TOPIC, PEARS, False, True)):
        told = there.ask("Metadata", 12, asked)
        by_ids = there.ask("Metadata", 12, {"topics": by_id(IDS[PLUMS], IDS[PEARS])})
        everything = there.ask("Metadata", 12, {"topics": None})
    assert told == answer(there, 12, [topic(12, PLUMS, 29), topic(12, NOWHERE, 29), topic(12, PEARS)])
    assert by_ids == answer(there, 12, [topic(12, None, 100, IDS[PLUMS]), topic(12, PEARS)])
    assert everything == answer(there, 12, [topic(12, PEARS)])


def test_metadata_never_creates_a_topic(there: Orchard) -> None:
    asked = {"topics": named(9, NOWHERE), "allowAutoTopicCreation": True}
    assert there.ask("Metadata", 9, asked) == answer(there, 9, [topic(9, NOWHERE, 3)])
    sent = [one.message for one in there.upstream.requests("Metadata")]
    assert {one["allowAutoTopicCreation"] for one in sent} == {False}


def test_what_was_told_last_is_told_while_upstream_is_away(tmp_path: Path) -> None:
    (tmp_path / "gateway").mkdir()
    identity = {"format": 1, "clusterId": "the cluster", "generation": GENERATION - 1}
    (tmp_path / "gateway" / "identity.json").write_text(json.dumps(identity), encoding="utf-8")
    with orchard(tmp_path, node_id=NODE) as away:
        away.ask("Metadata", 12, {"topics": named(12, PLUMS)})
        away.upstream.stop()
        asked, ids = {"topics": named(12, PEARS, PLUMS, " ")}, {"topics": by_id(IDS[PLUMS], STRANGE)}
        # LEADER_NOT_AVAILABLE, after which clients ask again.
        assert away.ask("Metadata", 12, asked) == answer(away, 12, [topic(12, PEARS, 5), topic(12, PLUMS), topic(12, " ", 17)])
        assert away.ask("Metadata", 12, ids) == answer(away, 12, [topic(12, PLUMS), topic(12, None, 5, STRANGE)])
        old = [topic(4, PEARS, 5), topic(4, PLUMS)]
        assert away.ask("Metadata", 4, {"topics": named(4, PEARS, PLUMS)}) == answer(away, 4, old)
        with away.rules.only():
            # Neither name nor id tells a hidden topic from one that there is not.
            assert away.ask("Metadata", 12, asked) == answer(away, 12, [topic(12, name, 29) for name in (PEARS, PLUMS, " ")])
            rows = [topic(12, None, 5, IDS[PLUMS]), topic(12, None, 5, STRANGE)]
            assert away.ask("Metadata", 12, ids) == answer(away, 12, rows)
            told = [row["errorCode"] for row in away.ask("Metadata", 4, {"topics": named(4, PEARS, PLUMS)})["topics"]]
            assert told == [29, 29]
        away.upstream.start()
        assert away.ask("Metadata", 12, ids) == answer(away, 12, [topic(12, PLUMS), topic(12, None, 100, STRANGE)])


@pytest.mark.parametrize("version", range(14))
def test_a_list_of_all_topics_is_never_empty_for_want_of_upstream(tmp_path: Path, version: int) -> None:
    everything: Message = {"topics": [] if version == 0 else None}
    with orchard(tmp_path, node_id=NODE) as away:
        away.ask("Metadata", 12, {"topics": named(12, PLUMS)})
        away.upstream.stop()
        # Nobody knows what there is: as a broker that has just started, after whose answer clients ask again.
        told = away.ask("Metadata", version, everything)
        assert (told["brokers"], told["topics"], told.get("controllerId", -1), told.get("errorCode", 0)) == ([], [], -1, 0)
        away.upstream.start()
        listed = away.ask("Metadata", version, everything)
        assert sorted(row["name"] for row in listed["topics"]) == [PEARS, PLUMS]
        away.upstream.stop()
        again = away.ask("Metadata", version, everything)
        by_name = {row["name"]: row for row in listed["topics"]}
        assert {row["name"]: row for row in again.pop("topics")} == by_name
        assert again == {field: value for field, value in listed.items() if field != "topics"}
        with away.rules.only(Rule(ME, Operation.DESCRIBE, Resource.TOPIC, PEARS, False, True)):
            assert away.ask("Metadata", version, everything)["topics"] == [by_name[PEARS]]
        with away.rules.only():
            hidden = away.ask("Metadata", version, everything)
            assert (len(hidden["brokers"]), hidden["topics"]) == (1, [])


def test_clients_are_led_to_the_advertised_address(tmp_path: Path) -> None:
    with orchard(tmp_path, advertised=("gateway.example", 9092), node_id=0) as made:
        told = made.ask("Metadata", 12, {"topics": named(12, PEARS)})
        assert told["brokers"] == [{"nodeId": 0, "host": "gateway.example", "port": 9092, "rack": None}]
        assert told["controllerId"] == 0
        (found,) = made.ask("FindCoordinator", 4, {"coordinatorKeys": ["g"]})["coordinators"]
        assert (found["nodeId"], found["host"], found["port"]) == (0, "gateway.example", 9092)
        described = made.ask("DescribeCluster", 0, {})
        assert described["brokers"] == [{"brokerId": 0, "host": "gateway.example", "port": 9092, "rack": None}]


def coordinator(there: Orchard, code: int, message: str) -> Message:
    place = {"nodeId": 5, "host": "127.0.0.1", "port": there.gateway.address.port}
    nowhere: Message = {"nodeId": -1, "host": "", "port": -1}
    return {"errorCode": code, "errorMessage": message, **(nowhere if code else place)}


INVALID = "The request is malformed, or was sent to a server of another kind."
UNAVAILABLE = "The coordinator is not available."
REFUSED = "Group authorization failed."


def test_the_first_form_asks_for_the_coordinator_of_a_group(there: Orchard) -> None:
    port = there.gateway.address.port
    assert there.ask("FindCoordinator", 0, {"key": "g"}) == {"errorCode": 0, "nodeId": 5, "host": "127.0.0.1", "port": port}


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(("key_type", "code", "text"), [(0, 0, "NONE"), (1, 15, UNAVAILABLE), (2, 42, INVALID), (3, 42, INVALID)])
def test_one_coordinator_of_a_type(there: Orchard, version: int, key_type: int, code: int, text: str) -> None:
    told = there.ask("FindCoordinator", version, {"key": "g", "keyType": key_type})
    assert told == coordinator(there, code, text)


@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize(("key_type", "code", "text"), [(0, 0, ""), (1, 15, ""), (2, 42, ""), (3, 42, INVALID)])
def test_coordinators_of_several_keys(there: Orchard, version: int, key_type: int, code: int, text: str) -> None:
    told = there.ask("FindCoordinator", version, {"keyType": key_type, "coordinatorKeys": ["b", "a", "b"]})
    assert told == {"coordinators": [{"key": key, **coordinator(there, code, text)} for key in "ba"]}
    assert there.ask("FindCoordinator", version, {"keyType": key_type, "coordinatorKeys": []}) == {"coordinators": []}


def test_each_group_is_allowed_by_itself(there: Orchard) -> None:
    with there.rules.only(Rule(ME, Operation.DESCRIBE, Resource.GROUP, "mine", False, True)):
        several = there.ask("FindCoordinator", 6, {"keyType": 0, "coordinatorKeys": ["theirs", "mine"]})
    assert several == {
        "coordinators": [{"key": "theirs", **coordinator(there, 30, "")}, {"key": "mine", **coordinator(there, 0, "")}]
    }


def test_a_group_that_is_not_allowed(there: Orchard) -> None:
    with there.rules.only():
        assert there.ask("FindCoordinator", 3, {"keyType": 0, "key": "g"}) == coordinator(there, 30, REFUSED)


def test_the_cluster_is_one_broker_in_both_versions(there: Orchard) -> None:
    described: dict[str, Any] = {
        "errorCode": 0,
        "errorMessage": None,
        "clusterId": "the cluster",
        "controllerId": 5,
        "brokers": [{"brokerId": 5, "host": "127.0.0.1", "port": there.gateway.address.port, "rack": None}],
        "clusterAuthorizedOperations": -2_147_483_648,
    }
    assert there.ask("DescribeCluster", 0, {"includeClusterAuthorizedOperations": True}) == described
    assert there.ask("DescribeCluster", 1, {"endpointType": 1}) == {**described, "endpointType": 1}


@pytest.mark.parametrize(
    ("endpoint", "code", "text"), [(2, 114, "This is an endpoint of brokers."), (9, 115, "Unsupported endpoint type 9")]
)
def test_no_other_endpoint_is_described(there: Orchard, endpoint: int, code: int, text: str) -> None:
    assert there.ask("DescribeCluster", 1, {"endpointType": endpoint}) == {
        "errorCode": code,
        "errorMessage": text,
        "endpointType": 1,
        "clusterId": "",
        "controllerId": -1,
        "brokers": [],
        "clusterAuthorizedOperations": NOT_ASKED,
    }
