"""Configurations of topics are upstream's: what it says of them, and what is said where it says nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import Operation, Resource, Rule
from tests.gateway.coordination.configuring import (
    GROUP,
    LIMIT,
    SET,
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
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.faults import of
from tests.gateway.hostile.upstream import OFFERED, WITH_CONFIGS
from tests.gateway.orchard import ME, NOWHERE, PEARS, PLUMS, Orchard, Rules, plant
from tests.gateway.serving import serving
from tests.gateway.wire.connection import Connection

RETENTION = "retention.ms"


@contextlib.contextmanager
def grove(path: Path, offered: Any = WITH_CONFIGS, **options: Any) -> Iterator[Orchard]:
    """An orchard of one broker, in which plums keep records for a second."""
    rules = Rules()
    with HostileUpstream(1, offered=offered) as upstream:
        plant(upstream)
        upstream.topics[PLUMS].configs[RETENTION] = "1000"
        with (
            serving(upstream.bootstrap, path, access=rules, **options) as gateway,
            Connection(gateway.bootstrap_servers) as connection,
        ):
            yield Orchard(upstream, gateway, connection, rules)


@pytest.mark.parametrize("relay", [True, False])
def test_upstream_is_asked_once_for_all_topics(tmp_path: Path, relay: bool) -> None:
    retention = config(RETENTION, "1000", 1, kind=5)
    with grove(tmp_path, relay=relay) as there:
        rows = describe(
            there,
            (TOPIC, PLUMS, []),
            (TOPIC, NOWHERE, None),
            (GROUP, "g", [LIMIT]),
            (TOPIC, PEARS, None),
            (TOPIC, PLUMS, ["x"]),
        )
        assert rows == [
            result(TOPIC, PLUMS, configs=[retention]),
            {**result(TOPIC, NOWHERE, 3), "errorMessage": None},
            result(GROUP, "g", configs=[config(LIMIT, "5", 5)]),
            result(TOPIC, PEARS),
        ]
        (sent,) = there.upstream.requests("DescribeConfigs")
        assert [row["resourceName"] for row in sent.message["resources"]] == [PLUMS, NOWHERE, PEARS]
        with there.rules.only(Rule(ME, Operation.DESCRIBE_CONFIGS, Resource.TOPIC, PEARS, False, True)):
            rows = describe(there, (TOPIC, PLUMS, None), (TOPIC, PEARS, None), version=1)
        assert [(row["resourceName"], row["errorCode"]) for row in rows] == [(PLUMS, 29), (PEARS, 0)]
        assert len(there.upstream.requests("DescribeConfigs")) == 2


def test_where_upstream_has_no_such_request(tmp_path: Path) -> None:
    asked: list[tuple[int, str, list[str] | None]] = [(TOPIC, PLUMS, None), (TOPIC, NOWHERE, None)]
    illegal: list[tuple[int, str, list[str] | None]] = [(TOPIC, name, None) for name in ("a b", "", "..", "x" * 250)]
    with grove(tmp_path / "alone", OFFERED) as there:
        # Whoever lists topics asks for these too.
        rows = describe(there, *asked, *illegal)
        assert [(row["errorCode"], row["configs"]) for row in rows] == [(0, []), (3, []), *[(17, [])] * 4]
    with grove(tmp_path / "relayed", OFFERED, relay=True) as there:
        assert [(row["errorCode"], row["configs"]) for row in describe(there, *asked)] == [(35, []), (35, [])]
        done = alter(there, changes(PLUMS, (RETENTION, SET, "4"), kind=TOPIC))
        assert done == [altered(PLUMS, 35, "Upstream does not describe or alter configurations.", kind=TOPIC)]


@pytest.mark.parametrize("relay", [True, False])
def test_where_upstream_does_not_answer(tmp_path: Path, relay: bool) -> None:
    with grove(tmp_path, relay=relay) as there:
        there.upstream.faults.closed = of("DescribeConfigs", "IncrementalAlterConfigs", "Metadata")
        rows = describe(there, (TOPIC, PLUMS, None), (GROUP, "g", [LIMIT]))
        assert [(row["errorCode"], len(row["configs"])) for row in rows] == [(7, 0), (0, 1)]
        code = 7 if relay else 42
        done = alter(there, changes(PLUMS, (RETENTION, SET, "4"), kind=TOPIC), changes("g", (LIMIT, SET, "4")))
        assert [row["errorCode"] for row in done] == [code, 0]
        assert values(there, "g") == {LIMIT: "4"}
        there.upstream.faults.clear()
        assert [row["errorCode"] for row in describe(there, (TOPIC, PLUMS, None))] == [0]


def test_topics_are_altered_through_the_relay(tmp_path: Path) -> None:
    with grove(tmp_path, relay=True) as there:
        topics = changes(PLUMS, (RETENTION, SET, "4"), kind=TOPIC), changes(NOWHERE, (RETENTION, SET, "4"), kind=TOPIC)
        done = alter(there, *topics, changes(PLUMS, (LIMIT, SET, "4")))
        assert done == [altered(PLUMS, kind=TOPIC), altered(NOWHERE, 3, kind=TOPIC), altered(PLUMS)]
        assert there.upstream.topics[PLUMS].configs == {RETENTION: "4"}
        assert values(there, PLUMS) == {LIMIT: "4"}
        assert alter(there, changes(PLUMS, (RETENTION, SET, "5"), kind=TOPIC), only_check=True) == [altered(PLUMS, kind=TOPIC)]
        with there.rules.only(Rule(ME, Operation.DESCRIBE_CONFIGS, Resource.TOPIC, PLUMS, False, True)):
            done = alter(there, changes(PLUMS, (RETENTION, SET, "5"), kind=TOPIC))
        assert done == [altered(PLUMS, 29, "Topic authorization failed.", kind=TOPIC)]
        assert there.upstream.topics[PLUMS].configs == {RETENTION: "4"}
    with grove(tmp_path / "alone") as there:
        done = alter(there, changes(PLUMS, (RETENTION, SET, "5"), kind=TOPIC))
        assert done == [altered(PLUMS, 42, "Resource type 2 is not altered here.", kind=TOPIC)]


def test_what_a_request_replaces_is_upstream_or_here(tmp_path: Path) -> None:
    with grove(tmp_path, {**WITH_CONFIGS, "AlterConfigs": (0, 2)}, relay=True) as there:
        asked = whole(PLUMS, ("cleanup.policy", "compact"), kind=TOPIC), whole("g", (LIMIT, "4")), whole(NOWHERE, kind=TOPIC)
        assert replace(there, *asked) == [altered(PLUMS, kind=TOPIC), altered("g"), altered(NOWHERE, 3, kind=TOPIC)]
        assert there.upstream.topics[PLUMS].configs == {"cleanup.policy": "compact"}
        assert values(there, "g") == {LIMIT: "4"}
        (sent,) = there.upstream.requests("AlterConfigs")
        assert [row["resourceName"] for row in sent.message["resources"]] == [PLUMS, NOWHERE]
        there.upstream.faults.closed = of("AlterConfigs")
        assert [row["errorCode"] for row in replace(there, *asked)] == [7, 0, 7]
    with grove(tmp_path / "alone") as there:
        assert replace(there, *asked[:2]) == [
            altered(PLUMS, 42, "Resource type 2 is not altered here.", kind=TOPIC),
            altered("g"),
        ]
        assert values(there, "g") == {LIMIT: "4"}
