"""The pages as JSON: the fields that the page of the documentation names, and the rows that the commands write."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from share_state.operate.analysis.json_rows import HISTORY_VERSION
from share_state.operate.dead_letters.json_rows import letter_json
from share_state.operate.live.json_rows import TOP_VERSION
from share_state.operate.web import letters
from share_state.operate.web.json_pages import WEB_VERSION
from tests.cli_runner import run
from tests.operate.json_page import schema_of
from tests.operate.json_schema import breaches
from tests.operate.web.asking import PARTITION, asked
from tests.operate.web.made_up import CLUSTER, SCRIPT, WORKERS, MadeUp, made_up_letters, recorded
from tests.recordings import ORDERS, REPOSITORY

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
    assert [breach for row in rows for breach in breaches(schema_of("top", TOP_VERSION), row)] == []
    assert [len(one["assignment"]) for one in page["member_list"]] == [1, 1, 1]


def test_a_share_partition_has_the_fields_that_are_documented_and_the_rows_of_history(made_up: MadeUp) -> None:
    page = told(made_up, "/share-partition", **PARTITION)
    assert list(page) == [*fields("of every page"), *fields("of a page that reads"), *fields("of a share partition")]
    assert (page["reading_failure"], page["reading_progress"], page["reading_findings"]) == (None, None, [])
    assert (page["history_total"], len(page["history"])) == (772, 200)
    assert [breach for row in page["history"] for breach in breaches(schema_of("history", HISTORY_VERSION), row)] == []
    assert breaches(schema_of("top", TOP_VERSION), page["share_partition"]) == []
    state = schema_of("state", 1)
    batch = {**state["properties"]["batches"]["items"], "$defs": state["$defs"]}
    assert len(page["batches"]) == 27
    assert [breach for row in page["batches"] for breach in breaches(batch, row)] == []


def test_a_record_has_what_trace_writes(made_up: MadeUp) -> None:
    page = told(made_up, "/record", **PARTITION, offset="1247")
    assert list(page) == [*fields("of every page"), *fields("of a page that reads"), *fields("of a record")]
    record = page["record"]
    assert breaches(schema_of("trace", 1), record) == []
    ran = run("trace", ORDERS, WORKERS, PARTITION["topic_id"], "1", "1247", "--format", "jsonl")
    [written] = map(json.loads, ran.stdout.splitlines())
    assert list(record) == list(written)
    told_beside = ("topic", "log_end_offset", "delivery_limit", "lock_duration_ms", "members", "events", "untold")
    assert {name: value for name, value in record.items() if name not in told_beside} == {
        name: value for name, value in written.items() if name not in told_beside
    }
    assert (record["outcome"], record["delivery_count"], record["delivery_limit"]) == ("accepted", 3, 5)
    assert [event["kind"] for event in record["events"]][-3:] == ["released", "accepted", "passed"]
    beyond = told(made_up, "/record", **PARTITION, offset="99999")
    assert beyond["record"] is None
    assert beyond["reading_failure"] == "offset 99999 was never seen: the topic's partition ends before offset 1436"


def test_dead_letters_are_what_dlq_writes(made_up: MadeUp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "read_letters", made_up_letters)
    page = told(made_up, "/dead-letters", group=WORKERS, rows="20", sort="offset")
    named = [*fields("of every page"), *fields("of a table"), *fields("of a page that reads"), *fields("of dead letters")]
    assert list(page) == named
    assert (page["total"], page["letters_total"], len(page["letters"])) == (301, 12_345, 20)
    assert [letter["first_offset"] for letter in page["letters"]] == [17, *range(1200, 1219)]
    assert [breach for row in page["letters"] for breach in breaches(schema_of("dlq-list", 1), row)] == []
    found = {one.first_offset: one for one in made_up_letters(CLUSTER, WORKERS, lambda *_: None).letters}
    assert page["letters"] == [letter_json(found[letter["first_offset"]]) for letter in page["letters"]]


def test_what_is_not_known_is_null(made_up: MadeUp) -> None:
    blind = MadeUp(replace(made_up.view, behind=None, problems=("groups: away",)), made_up.log, made_up.follower)
    page = told(blind, "/group", group="idle")
    assert (page["behind"], page["problems"], page["member_list"], page["state"]) == (None, ["groups: away"], None, None)
    answer = asked(blind, "/group", {"group": "nobody", "format": "json"})
    assert (answer.status_code, list(answer.json()), answer.json()["status"]) == (404, ["error", "status"], 404)
