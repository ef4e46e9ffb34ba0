"""Configurations of groups that are changed, listed and kept, and changes that are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import ShareStateError
from share_state.gateway import Operation, Resource, Rule
from tests.gateway.coordination.configuring import (
    APPEND,
    BROKER,
    BY_BROKER,
    GROUP,
    LIMIT,
    LOCK,
    OPTIONS,
    REMOVE,
    RESET,
    SET,
    SUBTRACT,
    TIMEOUT,
    TOPIC,
    alter,
    altered,
    changes,
    config,
    describe,
    replace,
    result,
    values,
    whole,
)
from tests.gateway.hostile.faults import of
from tests.gateway.orchard import ME, PEARS, PLUMS, Orchard, orchard


@pytest.fixture(scope="module")
def options() -> dict[str, Any]:
    return OPTIONS


def test_what_a_client_may_not_see_or_change(there: Orchard) -> None:
    asked = [(GROUP, "theirs", None), (GROUP, "mine", [LOCK]), (TOPIC, PLUMS, None), (BROKER, "5", None), (BROKER, "4", None)]
    with there.rules.only(Rule(ME, Operation.ALTER_CONFIGS, Resource.GROUP, "mine", False, True)):
        rows = describe(there, *asked)
        done = alter(there, changes("theirs", (LIMIT, SET, "4")), changes("mine", (LIMIT, SET, "4")))
        listed = there.ask("ListConfigResources", 1, {"resourceTypes": []})
    assert rows == [
        result(GROUP, "theirs", 30, "Group authorization failed."),
        result(GROUP, "mine", configs=[config(LOCK, "20000", BY_BROKER)]),
        result(TOPIC, PLUMS, 29, "Topic authorization failed."),
        result(BROKER, "5", 31, "Cluster authorization failed."),
        result(BROKER, "4", 31, "Cluster authorization failed."),
    ]
    assert done == [altered("theirs", 30, "Group authorization failed."), altered("mine")]
    assert listed == {"errorCode": 31, "configResources": []}
    assert (values(there, "theirs"), values(there, "mine")) == ({}, {LIMIT: "4"})


@pytest.mark.parametrize("version", [0, 1])
def test_values_are_set_and_removed(there: Orchard, version: int) -> None:
    group = f"set-{version}"
    assert alter(there, changes(group, (TIMEOUT, SET, "50000"), (LIMIT, SET, "4")), version=version) == [altered(group)]
    assert values(there, group) == {TIMEOUT: "50000", LIMIT: "4"}
    assert alter(there, changes(group, (LIMIT, REMOVE, None), (LOCK, SET, "30000")), version=version) == [altered(group)]
    assert values(there, group) == {TIMEOUT: "50000", LOCK: "30000"}
    assert values(there, f"{group}-other") == {}


def test_a_check_changes_nothing(there: Orchard) -> None:
    rows = alter(there, changes("checked", (TIMEOUT, SET, "50000")), changes("wrong", (TIMEOUT, SET, "no")), only_check=True)
    assert [row["errorCode"] for row in rows] == [0, 40]
    assert (values(there, "checked"), values(there, "wrong")) == ({}, {})


def test_of_changes_all_are_made_or_none(there: Orchard) -> None:
    rows = alter(
        there,
        changes("bad", (LIMIT, SET, "4"), (TIMEOUT, SET, "x")),
        changes("1", (LIMIT, SET, "4"), kind=BROKER),
        changes("good", (LIMIT, SET, "4")),
        changes(PLUMS, ("retention.ms", SET, "4"), kind=TOPIC),
        changes("", (LIMIT, SET, "4")),
    )
    assert [(row["resourceName"], row["errorCode"], row["resourceType"]) for row in rows] == [
        ("bad", 40, GROUP),
        ("1", 42, BROKER),
        ("good", 0, GROUP),
        (PLUMS, 42, TOPIC),
        ("", 42, GROUP),
    ]
    assert rows[1]["errorMessage"] == "Resource type 4 is not altered here."
    assert rows[3]["errorMessage"] == "Resource type 2 is not altered here."
    assert "x" in rows[0]["errorMessage"]
    assert rows[2]["errorMessage"] is None
    assert (values(there, "bad"), values(there, "good")) == ({}, {LIMIT: "4"})


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("no.such", SET, "1"), 40),
        ((LIMIT, APPEND, "1"), 40),
        ((LIMIT, SUBTRACT, "1"), 40),
        ((LIMIT, 9, "1"), 42),
        ((LIMIT, SET, None), 42),
        ((RESET, SET, "never"), 40),
    ],
)
def test_changes_that_are_none(there: Orchard, change: tuple[str, int, str | None], code: int) -> None:
    (row,) = alter(there, changes("none", change))
    assert (row["errorCode"], bool(row["errorMessage"])) == (code, True)
    assert values(there, "none") == {}


def test_a_repeated_resource_is_refused_each_time(there: Orchard) -> None:
    twice = changes("twice", (LIMIT, SET, "4"))
    repeated = "Each resource must appear at most once."
    assert alter(there, twice, changes("once", (LIMIT, SET, "4")), changes("twice", kind=BROKER), twice) == [
        altered("twice", 42, repeated),
        altered("once"),
        altered("twice", 42, "Resource type 4 is not altered here.", kind=BROKER),
        altered("twice", 42, repeated),
    ]
    assert (values(there, "twice"), values(there, "once")) == ({}, {LIMIT: "4"})


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_group_has_what_is_named_and_nothing_else(there: Orchard, version: int) -> None:
    group = f"replaced-{version}"
    assert replace(there, whole(group, (LIMIT, "4"), (TIMEOUT, "50000")), version=version) == [altered(group)]
    assert values(there, group) == {LIMIT: "4", TIMEOUT: "50000"}
    assert replace(there, whole(group, (LIMIT, "3")), version=version) == [altered(group)]
    assert values(there, group) == {LIMIT: "3"}
    assert replace(there, whole(group, (LOCK, "30000")), version=version, only_check=True) == [altered(group)]
    assert values(there, group) == {LIMIT: "3"}
    assert replace(there, whole(group), version=version) == [altered(group)]
    assert values(there, group) == {}


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ([("no.such", "1")], 40),
        ([(LIMIT, "x")], 40),
        ([(LIMIT, "1000")], 40),
        ([(LIMIT, None)], 42),
        ([(LIMIT, "3"), (LIMIT, "6")], 42),
    ],
)
def test_what_a_group_cannot_have_changes_nothing(there: Orchard, named: list[tuple[str, str | None]], code: int) -> None:
    assert replace(there, whole("kept", (TIMEOUT, "50000"))) == [altered("kept")]
    (row, other) = replace(there, whole("kept", *named), whole("beside", (LIMIT, "3")))
    assert (row["errorCode"], bool(row["errorMessage"]), other) == (code, True, altered("beside"))
    assert (values(there, "kept"), values(there, "beside")) == ({TIMEOUT: "50000"}, {LIMIT: "3"})


def test_what_is_not_replaced_here(there: Orchard) -> None:
    twice = whole("twice", (LIMIT, "4"))
    assert replace(there, twice, whole("", (LIMIT, "4")), twice, whole("1", kind=BROKER), whole("x", kind=99)) == [
        altered("twice", 42, "Each resource must appear at most once."),
        altered("", 42, "Default group resources are not allowed."),
        altered("twice", 42, "Each resource must appear at most once."),
        altered("1", 42, "Resource type 4 is not altered here.", kind=BROKER),
        altered("x", 42, "Resource type 99 is not altered here.", kind=99),
    ]
    with there.rules.only(Rule(ME, Operation.ALTER_CONFIGS, Resource.GROUP, "mine", False, True)):
        done = replace(there, whole("theirs", (LIMIT, "4")), whole("mine", (LIMIT, "4")))
    assert done == [altered("theirs", 30, "Group authorization failed."), altered("mine")]


def test_resources_are_listed_by_type(tmp_path: Path) -> None:
    with orchard(tmp_path, node_id=5) as there:
        for group in ("b", "a", "c"):
            assert alter(there, changes(group, (LIMIT, SET, "4"))) == [altered(group)]
        assert alter(there, changes("c", (LIMIT, REMOVE, None))) == [altered("c")]

        def listed(*types: int, code: int = 0) -> list[tuple[int, str]]:
            answer = there.ask("ListConfigResources", 1, {"resourceTypes": list(types)})
            assert answer["errorCode"] == code
            return sorted((row["resourceType"], row["resourceName"]) for row in answer["configResources"])

        topics, brokers, groups = [(TOPIC, PEARS), (TOPIC, PLUMS)], [(BROKER, "5")], [(GROUP, "a"), (GROUP, "b")]
        everything = [*topics, *brokers, *groups]
        assert listed() == listed(BROKER, 8, 16, GROUP, TOPIC) == listed(*[TOPIC, BROKER, GROUP] * 20) == everything
        assert (listed(GROUP), listed(TOPIC, GROUP)) == (groups, topics + groups)
        assert (listed(TOPIC), listed(BROKER), listed(8), listed(16)) == (topics, brokers, [], [])
        for types in ([1], [GROUP, 64], [0], [-1]):
            assert listed(*types, code=35) == []
        # The first version lists client metrics, of which there are none, and no types.
        assert there.ask("ListConfigResources", 0, {}) == {"errorCode": 0, "configResources": []}
        with there.rules.only(
            Rule(ME, Operation.DESCRIBE_CONFIGS, Resource.CLUSTER, "kafka-cluster", False, True),
            Rule(ME, Operation.DESCRIBE, Resource.TOPIC, PLUMS, False, True),
        ):
            assert listed() == [(TOPIC, PLUMS), *brokers, *groups]
        there.upstream.faults.closed = of("Metadata")
        assert listed(code=7) == listed(TOPIC, code=7) == []
        assert listed(BROKER, GROUP) == [*brokers, *groups]


@pytest.mark.parametrize("keys", [None, []])
def test_no_names_are_all_names(there: Orchard, keys: list[str] | None) -> None:
    resources = (GROUP, "g"), (BROKER, "5"), (TOPIC, PLUMS)
    whole = describe(there, *((*resource, None) for resource in resources))
    assert [len(row["configs"]) > 2 for row in whole] == [True, True, False]
    assert describe(there, *((*resource, keys) for resource in resources)) == whole
    # Whatever else is asked of the same.
    for both in (([LOCK], keys), (keys, [LOCK])):
        assert describe(there, *((GROUP, "g", names) for names in both)) == whole[:1]
    assert [len(row["configs"]) for row in describe(there, (GROUP, "g", ["no.such"]), (GROUP, "h", [LOCK, LOCK]))] == [0, 1]


def test_what_groups_have_set_is_kept_over_a_restart(tmp_path: Path) -> None:
    with orchard(tmp_path) as there:
        alter(
            there, changes("a", (LIMIT, SET, "4"), ("share.heartbeat.interval.ms", SET, "6000")), changes("b", (LIMIT, SET, "6"))
        )
        alter(there, changes("c", (LIMIT, SET, "4")))
        alter(there, changes("c", (LIMIT, REMOVE, None)))
        # The group follows at once.
        assert there.join("a", [PLUMS])["heartbeatIntervalMs"] == 6000
        assert there.join("b", [PLUMS])["heartbeatIntervalMs"] == 5000
    kept = json.loads((tmp_path / "gateway" / "group-configs.json").read_text(encoding="utf-8"))
    assert kept["groups"] == {"a": {LIMIT: "4", "share.heartbeat.interval.ms": "6000"}, "b": {LIMIT: "6"}}
    with orchard(tmp_path) as there:
        assert values(there, "a") == {LIMIT: "4", "share.heartbeat.interval.ms": "6000"}
        assert values(there, "b") == {LIMIT: "6"}
        assert there.beat("a", 1)["heartbeatIntervalMs"] == 6000
        assert there.beat("b", 1)["heartbeatIntervalMs"] == 5000


@pytest.mark.parametrize("content", ['{"format": 2, "groups": {}}', '{"groups": {}}'])
def test_a_file_of_another_format_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "gateway").mkdir()
    (tmp_path / "gateway" / "group-configs.json").write_text(content, encoding="utf-8")
    with pytest.raises(ShareStateError, match="has a format that this release does not know"), orchard(tmp_path):
        pass


def test_a_change_that_cannot_be_kept_is_none(there: Orchard, trees: Orchard) -> None:
    draft = trees.gateway.options.path / "gateway" / "group-configs.json.new"
    draft.mkdir()
    try:
        assert alter(there, changes("lost", (LIMIT, SET, "4"))) == [altered("lost", 56, "The configuration could not be kept.")]
    finally:
        draft.rmdir()
    assert values(there, "lost") == {}
    assert alter(there, changes("lost", (LIMIT, SET, "4"))) == [altered("lost")]
    assert values(there, "lost") == {LIMIT: "4"}
