"""Permissions: every request with a rule of Kafka's, allowed, denied, by prefix, for a super user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import ConfigError
from share_state.gateway import Access, Operation, Resource, Rule, ShareGateway, read_rules
from tests.gateway.serving import TOPIC, fetch, heartbeat, log_in, serving, topic_id
from tests.gateway.wire.connection import Connection

GROUP = "group"
NOTHING = "AAAAAAAAAAAAAAAAAAAAAA"
USERS = {name: f"{name}-secret" for name in ("root", "user")}


class Rules(Access):
    """Rules that a test may change while a gateway serves."""

    def __init__(self) -> None:
        super().__init__([], ["User:root"])
        #: The gateway that has them.
        self.gateway: ShareGateway | None = None

    def set(self, *rules: Rule) -> None:
        assert self.gateway is not None
        self._rules = list(rules)
        self._known.clear()
        self.gateway.plane.node.set_access(*self.reading())


RULES = Rules()


@pytest.fixture(scope="module")
def gateway(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShareGateway]:
    path = tmp_path_factory.mktemp("gateway")
    with serving(bootstrap, path, users=USERS, access=RULES) as made, Connection(made.bootstrap_servers) as root:
        RULES.gateway = made
        log_in(root, "root", "root-secret")
        # A super user needs no rule.
        assert root.ask("ShareGroupHeartbeat", 1, heartbeat())["errorCode"] == 0
        yield made


def code_76(connection: Connection, _id: str) -> int:
    return int(connection.ask("ShareGroupHeartbeat", 1, heartbeat())["errorCode"])


def code_78(connection: Connection, place: str) -> int:
    answer = connection.ask("ShareFetch", 1, fetch(GROUP, 0, [(place, 0)]))
    if answer["errorCode"] == 0 and answer["responses"]:
        return int(answer["responses"][0]["partitions"][0]["errorCode"])
    # A share partition that is being loaded is not listed.
    return int(answer["errorCode"])


def code_79(connection: Connection, place: str) -> int:
    # A session first: the group is checked before it, the topic after it.
    opened = connection.ask("ShareFetch", 1, fetch(GROUP, 0, [(place, 0)]))
    asked = {
        "groupId": GROUP,
        "memberId": NOTHING,
        "shareSessionEpoch": 1,
        "topics": [
            {
                "topicId": place,
                "partitions": [
                    {
                        "partitionIndex": 0,
                        "acknowledgementBatches": [{"firstOffset": 0, "lastOffset": 0, "acknowledgeTypes": [1]}],
                    }
                ],
            }
        ],
    }
    answer = connection.ask("ShareAcknowledge", 1, asked)
    assert (answer["errorCode"] == 30) == (opened["errorCode"] == 30)
    code = int(answer["errorCode"] or answer["responses"][0]["partitions"][0]["errorCode"])
    # Allowed, but the record is not held.
    return 0 if code == 121 else code


def code_77(connection: Connection, _id: str) -> int:
    (row,) = connection.ask("ShareGroupDescribe", 1, {"groupIds": [GROUP], "includeAuthorizedOperations": False})["groups"]
    assert row["errorCode"] == 0 or row["members"] == []
    return int(row["errorCode"])


def code_90(connection: Connection, _id: str) -> int:
    named = {"groupId": GROUP, "topics": [{"topicName": TOPIC, "partitions": [0]}]}
    all_topics = {"groupId": GROUP, "topics": None}
    asked = [connection.ask("DescribeShareGroupOffsets", 0, {"groups": [one]}) for one in (named, all_topics)]
    answered = [answer["groups"][0] for answer in asked]
    assert answered[0]["errorCode"] == answered[1]["errorCode"]
    if answered[0]["errorCode"]:
        return int(answered[0]["errorCode"])
    code = int(answered[0]["topics"][0]["partitions"][0]["errorCode"])
    # Who names none is not told that there is one.
    assert bool(answered[1]["topics"]) == (code == 0)
    return code


def code_91(connection: Connection, _id: str) -> int:
    asked = {"groupId": GROUP, "topics": [{"topicName": TOPIC, "partitions": [{"partitionIndex": 0, "startOffset": 1}]}]}
    answer = connection.ask("AlterShareGroupOffsets", 0, asked)
    return int(answer["errorCode"] or answer["responses"][0]["partitions"][0]["errorCode"])


def code_92(connection: Connection, _id: str) -> int:
    answer = connection.ask("DeleteShareGroupOffsets", 0, {"groupId": GROUP, "topics": [{"topicName": TOPIC}]})
    code = int(answer["errorCode"] or answer["responses"][0]["errorCode"])
    # Deleted by the call before.
    return 0 if code == 3 else code


def code_42(connection: Connection, _id: str) -> int:
    code = int(connection.ask("DeleteGroups", 2, {"groupsNames": [GROUP]})["results"][0]["errorCode"])
    return 0 if code == 68 else code


def code_15(connection: Connection, _id: str) -> int:
    code = int(
        connection.ask("DescribeGroups", 6, {"groups": [GROUP], "includeAuthorizedOperations": False})["groups"][0]["errorCode"]
    )
    return 0 if code == 69 else code


def code_16(connection: Connection, _id: str) -> int:
    """Groups that are hidden are left out: 30 stands for that."""
    answer = connection.ask("ListGroups", 5, {"statesFilter": [], "typesFilter": []})
    assert answer["errorCode"] == 0
    return 0 if [row["groupId"] for row in answer["groups"]] == [GROUP] else 30


def code_10(connection: Connection, _id: str) -> int:
    return int(connection.ask("FindCoordinator", 6, {"keyType": 0, "coordinatorKeys": [GROUP]})["coordinators"][0]["errorCode"])


def described(connection: Connection, kind: int, name: str) -> int:
    resource = {"resourceType": kind, "resourceName": name, "configurationKeys": None}
    asked = {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False}
    (row,) = connection.ask("DescribeConfigs", 4, asked)["results"]
    assert row["errorCode"] == 0 or not row["configs"]
    return int(row["errorCode"])


def code_32(connection: Connection, _id: str) -> int:
    return described(connection, 32, GROUP)


def code_32_of_a_broker(connection: Connection, _id: str) -> int:
    return described(connection, 4, "1")


def code_32_of_a_topic(connection: Connection, _id: str) -> int:
    return described(connection, 2, TOPIC)


def code_44(connection: Connection, _id: str) -> int:
    change = {"name": "share.session.timeout.ms", "configOperation": 0, "value": "50000"}
    resource = {"resourceType": 32, "resourceName": GROUP, "configs": [change]}
    return int(
        connection.ask("IncrementalAlterConfigs", 1, {"resources": [resource], "validateOnly": True})["responses"][0]["errorCode"]
    )


def code_74(connection: Connection, _id: str) -> int:
    return int(connection.ask("ListConfigResources", 1, {"resourceTypes": []})["errorCode"])


def code_3(connection: Connection, _id: str) -> int:
    named = connection.ask("Metadata", 12, {"topics": [{"name": TOPIC}]})["topics"][0]
    everything = connection.ask("Metadata", 12, {"topics": None})["topics"]
    assert (TOPIC in [row["name"] for row in everything]) == (named["errorCode"] == 0)
    return int(named["errorCode"])


def code_3_by_id(connection: Connection, place: str) -> int:
    row = connection.ask("Metadata", 12, {"topics": [{"topicId": place, "name": None}]})["topics"][0]
    assert row["name"] == (TOPIC if row["errorCode"] == 0 else None)
    return int(row["errorCode"])


def code_2(connection: Connection, _id: str) -> int:
    partition = {"partitionIndex": 0, "currentLeaderEpoch": -1, "timestamp": -1}
    asked = {"replicaId": -1, "isolationLevel": 0, "topics": [{"name": TOPIC, "partitions": [partition]}]}
    return int(connection.ask("ListOffsets", 7, asked)["topics"][0]["partitions"][0]["errorCode"])


R, D, X = Operation.READ, Operation.DESCRIBE, Operation.DELETE
G, T, C = Resource.GROUP, Resource.TOPIC, Resource.CLUSTER
DC, AC = Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS
#: Requests, each with what it needs in the order in which it is checked: operation, resource, and the code without it.
NEEDS: list[tuple[Any, list[tuple[Operation, Resource, int]]]] = [
    (code_76, [(R, G, 30), (D, T, 29)]),
    (code_78, [(R, G, 30), (R, T, 29)]),
    (code_79, [(R, G, 30), (R, T, 29)]),
    (code_77, [(D, G, 30), (D, T, 29)]),
    (code_90, [(D, G, 30), (D, T, 29)]),
    (code_91, [(R, G, 30), (R, T, 29)]),
    (code_92, [(X, G, 30), (R, T, 29)]),
    (code_42, [(X, G, 30)]),
    (code_15, [(D, G, 30)]),
    (code_16, [(D, G, 30)]),
    (code_10, [(D, G, 30)]),
    (code_32, [(DC, G, 30)]),
    (code_32_of_a_broker, [(DC, C, 31)]),
    (code_32_of_a_topic, [(DC, T, 29)]),
    (code_44, [(AC, G, 30)]),
    (code_74, [(DC, C, 31)]),
    (code_3, [(D, T, 29)]),
    (code_3_by_id, [(D, T, 100)]),
    (code_2, [(D, T, 29)]),
]
NAMES = {G: GROUP, T: TOPIC, C: "kafka-cluster"}
#: Operations whose permission brings the operation with it.
BRINGS = {R: [R], X: [X], D: [D, R, X], DC: [DC, AC], AC: [AC]}


def rule(
    operation: Operation, resource: Resource, *, allow: bool = True, name: str | None = None, prefixed: bool = False
) -> Rule:
    return Rule("User:user", operation, resource, NAMES[resource] if name is None else name, prefixed, allow)


@pytest.fixture
def user(request: pytest.FixtureRequest, gateway: ShareGateway) -> Iterator[tuple[Connection, str]]:
    with Connection(gateway.bootstrap_servers) as root:
        log_in(root, "root", "root-secret")
        place = topic_id(root)
        assert root.ask("ShareGroupHeartbeat", 1, heartbeat())["errorCode"] == 0
        if any(name in request.node.name for name in ("code_91", "code_92")):
            # Offsets are for groups without members.
            assert root.ask("ShareGroupHeartbeat", 1, {**heartbeat(), "memberEpoch": -1})["errorCode"] == 0
    with Connection(gateway.bootstrap_servers) as connection:
        log_in(connection, "user", "user-secret")
        yield connection, place


@pytest.mark.parametrize(("ask", "needs"), NEEDS, ids=[ask.__name__ for ask, _ in NEEDS])
def test_each_request_needs_what_it_needs_in_kafka(
    user: tuple[Connection, str], ask: Any, needs: list[tuple[Operation, Resource, int]]
) -> None:
    RULES.set()
    assert ask(*user) == needs[0][2]
    for at, (operation, resource, code) in enumerate(needs):
        others = [rule(op, kind) for op, kind, _ in needs[:at] + needs[at + 1 :]]
        # Without this one; with another one in its place; with one for another name; for another principal.
        beside = [one for one in (R, X, D, DC, AC) if one not in BRINGS[operation]]
        for instead in (
            [],
            [rule(one, resource) for one in beside if (one, resource) != (R, G)],
            [rule(operation, resource, name="other")],
            [rule(operation, resource)._replace(principal="User:other")],
            [rule(operation, resource), rule(operation, resource, allow=False)],
            [rule(operation, resource), rule(Operation.ALL, resource, allow=False, name=NAMES[resource][:2], prefixed=True)],
        ):
            given = [one for one in others if one.resource != resource or not instead or instead[-1].allow]
            RULES.set(*given, *instead)
            found = ask(*user)
            assert found in {code, needs[0][2]}, (operation, resource, instead)
        for enough in (
            *(rule(one, resource) for one in BRINGS[operation]),
            rule(Operation.ALL, resource),
            rule(operation, resource, name=NAMES[resource][:3], prefixed=True),
            rule(operation, resource, name="*"),
            rule(operation, resource)._replace(principal="User:*"),
        ):
            RULES.set(*others, enough)
            assert ask(*user) == 0, enough


def test_listing_needs_the_cluster_or_the_group(user: tuple[Connection, str]) -> None:
    RULES.set(rule(D, C))
    assert code_16(*user) == 0


def test_a_denied_description_does_not_deny_reading(user: tuple[Connection, str]) -> None:
    RULES.set(rule(R, G), rule(R, T), rule(D, G, allow=False), rule(D, T, allow=False))
    assert (code_78(*user), code_10(*user), code_3(*user)) == (0, 30, 29)


def test_what_a_member_may_not_read_is_logged_once(user: tuple[Connection, str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "share_state.gateway.access")
    RULES.set(rule(R, G))
    assert [code_78(*user) for _ in range(2)] == [29, 29]
    RULES.set(rule(R, T))
    assert code_79(*user) == 30
    told = [record.getMessage() for record in caplog.records if "operation=READ" in record.getMessage()]
    assert [line.split("operation=")[1].split()[:2] for line in told] == [["READ", "resource=TOPIC"], ["READ", "resource=GROUP"]]


def test_operations_of_a_group_that_are_told(user: tuple[Connection, str]) -> None:
    RULES.set(rule(R, G), rule(AC, G), rule(D, T))
    asked = {"groupIds": [GROUP], "includeAuthorizedOperations": True}
    (row,) = user[0].ask("ShareGroupDescribe", 1, asked)["groups"]
    # READ, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
    assert row["authorizedOperations"] == 1 << 3 | 1 << 8 | 1 << 10 | 1 << 11


def test_the_relay_is_for_who_may_do_everything(bootstrap: str, tmp_path: Path) -> None:
    rules = Access(
        [Rule("User:all", Operation.ALL, C, "kafka-cluster", False, True), Rule("User:some", Operation.ALL, T, "*", False, True)]
    )
    users = {"all": "x", "some": "x"}
    with serving(bootstrap, tmp_path, users=users, access=rules, relay=True) as gateway:
        for name in users:
            with Connection(gateway.bootstrap_servers) as connection:
                log_in(connection, name, "x")
                asked = {"transactionalId": None, "transactionTimeoutMs": 1000}
                assert connection.ask("InitProducerId", 1, asked)["errorCode"] == (0 if name == "all" else 31)


def test_a_file_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "acl.json"
    rows: list[dict[str, Any]] = [
        {"principal": "User:a", "operation": "READ", "resourceType": "TOPIC", "name": "or", "patternType": "PREFIXED"},
        {"principal": "User:*", "operation": "ALL", "resourceType": "GROUP", "name": "*"},
        {"principal": "User:b", "operation": "ALL", "resourceType": "GROUP", "name": "g", "permissionType": "DENY"},
    ]
    path.write_text(json.dumps({"superUsers": ["User:root"], "rules": rows}), encoding="utf-8")
    access = read_rules(path)
    assert access.allows("User:a", R, T, "orders")
    assert not access.allows("User:a", R, T, "other")
    assert not access.allows("User:b", R, T, "orders")
    assert access.allows("User:b", X, G, "h")
    assert not access.allows("User:b", D, G, "g")
    assert access.allows("User:root", AC, C, "kafka-cluster")
    # A star is every name only by itself.
    starred = Access([Rule("User:a", R, T, "*", True, True)])
    assert (starred.allows("User:a", R, T, "*x"), starred.allows("User:a", R, T, "x")) == (True, False)


@pytest.mark.parametrize(
    "change",
    [{"principal": "a"}, {"principal": 5}, {"operation": "WRITE A BIT"}, {"resourceType": "HOST"}, {"name": ""}, {"name": 5},
     {"patternType": "MATCH"}, {"permissionType": "MAYBE"}, {"host": "*"}],
)  # fmt: skip
def test_rules_that_are_none(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "acl.json"
    good = {"principal": "User:a", "operation": "READ", "resourceType": "TOPIC", "name": "x"}
    path.write_text(json.dumps({"rules": [good]}), encoding="utf-8")
    read_rules(path)
    path.write_text(json.dumps({"rules": [{**good, **change}]}), encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a table of access rules"):
        read_rules(path)


def test_long_names_are_not_kept() -> None:
    access = Access([])
    for number in range(100):
        access.allows("User:a", R, T, f"{number}" * 300)
    access.allows("User:a", R, T, "short")
    assert len(access._known) == 1
