"""Configurations that are described: whole answers about groups, brokers and what there is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.coordination.configuring import (
    BROKER,
    BY_BROKER,
    BY_DEFAULT,
    BY_GROUP,
    GROUP,
    LIMIT,
    LOCK,
    OPTIONS,
    RESET,
    SET,
    TIMEOUT,
    TOPIC,
    alter,
    changes,
    config,
    describe,
    result,
)
from tests.gateway.orchard import PLUMS, Orchard


@pytest.fixture(scope="module")
def options() -> dict[str, Any]:
    return OPTIONS


def test_a_group_that_has_set_nothing_has_the_defaults(there: Orchard) -> None:
    (row,) = describe(there, (GROUP, "nothing", None))
    # Described below.
    row["configs"] = [told for told in row["configs"] if told["name"] != RESET]
    assert row == result(
        GROUP,
        "nothing",
        configs=[
            config(TIMEOUT, "45000", BY_DEFAULT),
            config("share.heartbeat.interval.ms", "5000", BY_DEFAULT),
            config(LOCK, "20000", BY_BROKER),
            config(LIMIT, "3", BY_BROKER),
            config("share.partition.max.record.locks", "2000", BY_DEFAULT),
            config("share.assignment.interval.ms", "1000", BY_DEFAULT),
            config("share.isolation.level", "read_uncommitted", BY_DEFAULT, kind=2),
            config("share.renew.acknowledge.enable", "true", BY_DEFAULT, kind=1),
            config("errors.deadletterqueue.topic.name", "", BY_DEFAULT, kind=2),
            config("errors.deadletterqueue.copy.record.enable", "false", BY_DEFAULT, kind=1),
        ],
    )


def test_a_default_that_is_no_configuration_of_brokers_is_described(there: Orchard) -> None:
    (row,) = describe(there, (GROUP, "nothing", [RESET]))
    assert [told["value"] for told in row["configs"]] == ["earliest"]


LIMIT_TEXT = "How often a record is delivered before it is given up."


def test_synonyms_and_documentation_are_told_to_who_asks(there: Orchard) -> None:
    alter(there, changes("told", (LIMIT, SET, "7")))
    limit = "group.share.delivery.count.limit"
    synonyms = [
        {"name": LIMIT, "value": "7", "source": BY_GROUP},
        {"name": limit, "value": "3", "source": BY_BROKER},
        {"name": limit, "value": "5", "source": BY_DEFAULT},
    ]
    asked = (GROUP, "told", [LIMIT])
    (row,) = describe(there, asked, includeSynonyms=True, includeDocumentation=True)
    assert row["configs"] == [config(LIMIT, "7", BY_GROUP, synonyms=synonyms, documentation=LIMIT_TEXT)]
    (row,) = describe(there, asked, includeSynonyms=True)
    assert row["configs"] == [config(LIMIT, "7", BY_GROUP, synonyms=synonyms)]
    (row,) = describe(there, asked, includeDocumentation=True)
    assert row["configs"] == [config(LIMIT, "7", BY_GROUP, documentation=LIMIT_TEXT)]


@pytest.mark.parametrize("version", [1, 2])
def test_older_versions_tell_no_types(there: Orchard, version: int) -> None:
    (row,) = describe(there, (GROUP, "nothing", [LOCK]), version=version, includeSynonyms=True)
    told = config(LOCK, "20000", BY_BROKER)
    name = "group.share.record.lock.duration.ms"
    told["synonyms"] = [
        {"name": name, "value": "20000", "source": BY_BROKER},
        {"name": name, "value": "30000", "source": BY_DEFAULT},
    ]
    del told["configType"], told["documentation"]
    assert row == result(GROUP, "nothing", configs=[told])


def test_only_the_keys_that_are_asked_for_are_described(there: Orchard) -> None:
    rows = describe(there, (GROUP, "nothing", [LIMIT, "no.such", LOCK]), (GROUP, "none", ["no.such"]), (BROKER, "5", [TIMEOUT]))
    assert rows == [
        result(GROUP, "nothing", configs=[config(LOCK, "20000", BY_BROKER), config(LIMIT, "3", BY_BROKER)]),
        result(GROUP, "none"),
        result(BROKER, "5"),
    ]


def test_the_broker_has_its_own_and_nobody_changes_them(there: Orchard) -> None:
    keys = ["group.share.max.size", "group.share.delivery.count.limit", "group.share.assignors"]
    rows = describe(there, (BROKER, "5", keys), (BROKER, "4", None), (BROKER, "", None), version=3, includeDocumentation=True)
    assert rows == [
        result(
            BROKER,
            "5",
            configs=[
                config("group.share.delivery.count.limit", "5", BY_DEFAULT, read_only=True, documentation=LIMIT_TEXT),
                config(
                    "group.share.max.size", "17", BY_BROKER, read_only=True, documentation="How many members a group may have."
                ),
                config(
                    "group.share.assignors",
                    "simple",
                    BY_DEFAULT,
                    read_only=True,
                    kind=7,
                    documentation="The assignor of all groups; simple is the only one.",
                ),
            ],
        ),
        result(BROKER, "4", 42, "Unexpected broker id, expected 5 but received 4"),
        result(BROKER, "", 42, "Unexpected broker id, expected 5 but received "),
    ]


def test_what_is_not_described(there: Orchard) -> None:
    rows = describe(there, (GROUP, "", None), (8, "5", None), (16, "metrics", None), (TOPIC, PLUMS, None), (0, "", None))
    assert rows == [
        result(GROUP, "", 42, "Group name must not be empty"),
        result(8, "5", 42, "Unsupported resource type 8."),
        result(16, "metrics", 42, "Unsupported resource type 16."),
        # A topic has nothing that is the gateway's.
        result(TOPIC, PLUMS),
        result(0, "", 42, "Unsupported resource type 0."),
    ]
