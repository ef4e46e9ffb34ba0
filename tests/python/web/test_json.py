"""The pages as JSON: the fields that the page of the documentation names, and the rows that the commands write."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources
from typing import Any

import pytest

from share_state.analysis.json_rows import HISTORY_VERSION
from share_state.live.json_rows import TOP_VERSION
from share_state.web.json_pages import WEB_VERSION
from tests.python.json_schema import breaches
from tests.python.recordings import REPOSITORY
from tests.python.web.made_up import SCRIPT, WORKERS, MadeUp, recorded
from tests.python.web.test_pages import PARTITION, asked

PAGE = (REPOSITORY / "docs" / "json-output.md").read_text(encoding="utf-8").partition("## `share-state web`")[2]


@pytest.fixture(scope="module")
def made_up() -> MadeUp:
    return recorded()


def fields(table: str) -> list[str]:
    """The fields of a table of the documentation."""
    rows = PAGE.partition(f"| {table} | |\n")[2].partition("\n\n")[0]
    found = re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)
    assert found, table
    return found


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((resources.files("share_state") / "schemas" / name).read_text(encoding="utf-8"))
    return found


def told(made_up: MadeUp, path: str, **params: str) -> dict[str, Any]:
    answer = asked(made_up, path, {**params, "format": "json"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    found: dict[str, Any] = answer.json()
    assert found["schema_version"] == WEB_VERSION
    return found


def test_the_overview_has_the_fields_that_are_documented(made_up: MadeUp) -> None:
    page = told(made_up, "/", rows="3", page="2")
    assert list(page) == [*fields("of every page"), *fields("of a table"), "groups"]
    assert (page["page"], page["pages"], page["rows"], page["total"]) == (2, 4, 3, 11)
    assert [list(group) for group in page["groups"]] == [fields("of a group")] * 3
    assert page["groups"][0]["by_health"] == {"NO STATE": 1}
    assert told(made_up, "/", q="SCRIPT")["groups"][0]["group"] == SCRIPT


def test_a_group_has_the_fields_that_are_documented_and_the_rows_of_top(made_up: MadeUp) -> None:
    page = told(made_up, "/group", group=WORKERS)
    named = [*fields("of every page"), *fields("of a table"), *fields("of a group"), *fields("only of the page of a group")]
    assert list(page) == named
    rows = page["share_partition_list"]
    assert len(rows) == 3
    assert [breach for row in rows for breach in breaches(schema(f"top-{TOP_VERSION}.json"), row)] == []
    assert [len(one["assignment"]) for one in page["member_list"]] == [1, 1, 1]


def test_a_share_partition_has_the_fields_that_are_documented_and_the_rows_of_history(made_up: MadeUp) -> None:
    page = told(made_up, "/share-partition", **PARTITION)
    assert list(page) == [*fields("of every page"), *fields("of a share partition")]
    assert (page["history_failure"], page["history_progress"], page["history_findings"]) == (None, None, [])
    assert (page["history_total"], len(page["history"])) == (772, 200)
    assert [breach for row in page["history"] for breach in breaches(schema(f"history-{HISTORY_VERSION}.json"), row)] == []
    assert breaches(schema(f"top-{TOP_VERSION}.json"), page["share_partition"]) == []
    state = schema("state-1.json")
    batch = {**state["properties"]["batches"]["items"], "$defs": state["$defs"]}
    assert len(page["batches"]) == 27
    assert [breach for row in page["batches"] for breach in breaches(batch, row)] == []


def test_what_is_not_known_is_null(made_up: MadeUp) -> None:
    blind = MadeUp(replace(made_up.view, behind=None, problems=("groups: away",)), made_up.log, made_up.follower)
    page = told(blind, "/group", group="idle")
    assert (page["behind"], page["problems"], page["member_list"], page["state"]) == (None, ["groups: away"], None, None)
    answer = asked(blind, "/group", {"group": "nobody", "format": "json"})
    assert (answer.status_code, list(answer.json()), answer.json()["status"]) == (404, ["error", "status"], 404)
