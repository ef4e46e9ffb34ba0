"""`share-state peek` on real brokers: it shows what is in records, and leaves their states as they are."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.cli_in_process import run_here
from tests.gateway.clients.members import confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic
from tests.kafka.broker import Broker
from tests.operate.brokers import DELIVERIES, RECORDS

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

HEADERS: list[tuple[str, str | bytes | None]] = [("trace-id", b"\xff")]


def peek(broker: Broker, *arguments: str) -> list[dict[str, Any]]:
    ran = run_here("peek", f"kafka://{broker.bootstrap}", *arguments, "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def states(broker: Broker) -> list[dict[str, Any]]:
    """States of the groups at rest in the state topic, without what a snapshot of its own accord may add."""
    ran = run_here("state", f"kafka://{broker.bootstrap}", "--format", "jsonl")
    assert ran.returncode == 0, ran.stderr
    kept = ("group", "topic_id", "partition", "state_epoch", "start_offset", "batches")
    rows = [row for row in map(json.loads, ran.stdout.splitlines()) if row["group"] in {"healthy", "poisoned"}]
    assert len(rows) == 2
    return [{name: row[name] for name in kept} for row in rows]


def test_it_shows_the_record_that_fails_and_changes_nothing(broker: Broker) -> None:
    before = states(broker)
    [batch] = next(row["batches"] for row in before if row["group"] == "poisoned")
    assert (batch["first_offset"], batch["delivery_state_name"], batch["delivery_count"]) == (0, "available", DELIVERIES)
    for choice in (["--head"], ["--poison"], ["--offset", "0"], ["--partition", "0", "--limit", "1"], []):
        [row] = peek(broker, "poisoned", "bad", *choice)
        assert (row["topic"], row["partition"], row["offset"]) == ("bad", 0, 0)
        assert (row["state_name"], row["delivery_count"], row["delivery_limit"]) == ("available", DELIVERIES, 5)
        assert row["summary"] == f"available after {DELIVERIES} deliveries of at most 5, or in a member's hands again"
        assert row["value"] == {"format": "utf-8", "text": "0", "size": 1, "cut": 0, "reason": None, "redacted": False}
        assert (row["key"], row["headers"], row["missing"]) == (None, [], None)
        kinds = [event["kind"] for event in row["events"]]
        assert kinds[0] == "produced"
        assert kinds.count("released") == DELIVERIES
    hidden = peek(broker, "poisoned", "bad", "--redact", "value")[0]["value"]
    assert (hidden["text"], hidden["redacted"], hidden["size"]) == ("<redacted>", True, 1)
    assert states(broker) == before


def test_what_was_archived_is_shown_with_its_headers(broker: Broker) -> None:
    name = "rejected"
    create_topic(broker.bootstrap, name, 2)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    # Not in the past: retention goes by these times.
    now = time.time_ns() // 1_000_000
    for number in range(3):
        value = json.dumps({"id": number, "user": {"email": f"{number}@example.org"}})
        producer.produce(name, value, f"k{number}\x1b[31m", 1, headers=HEADERS, timestamp=now + number)
    assert producer.flush(10) == 0
    configure_group(broker.bootstrap, name, **{"share.auto.offset.reset": "earliest"})
    plan = Plan(bootstrap=broker.bootstrap, group=name, topics=[name], weights=(0, 0, 1, 0), records=3)
    with confluent(plan, 0) as member:
        member.wait(60)
    rows = peek(broker, name, name, "--archived", "--redact", "value:$.user.email", "--key-format", "hex", "--limit", "2")
    assert [(row["partition"], row["offset"], row["timestamp"]) for row in rows] == [(1, 2, now + 2), (1, 1, now + 1)]
    assert rows[0]["value"]["text"] == '{"id":2,"user":{"email":"<redacted>"}}'
    assert rows[0]["key"]["text"] == b"k2\x1b[31m".hex()
    assert [(one["name"], one["value"]["text"]) for one in rows[0]["headers"]] == [("trace-id", "ff")]
    assert rows[0]["outcome"] == "archived"
    # Escape characters of a record never reach the terminal.
    table = run_here("peek", f"kafka://{broker.bootstrap}", name, name, "--archived", "--key-format", "utf-8")
    assert table.returncode == 0
    assert "\x1b" not in table.stdout
    assert "k0\\x1b[31m" in table.stdout


def test_what_holds_nothing_and_what_is_not_there_are_told(broker: Broker) -> None:
    cluster = f"kafka://{broker.bootstrap}"
    for choice, words in (
        ("--head", "No record holds a start offset: everything that was produced is settled.\n"),
        ("--poison", "No record in the window is near the delivery limit.\n"),
        ("--archived", "No record was archived, as far as the log goes back.\n"),
    ):
        ran = run_here("peek", cluster, "healthy", "orders", choice)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, words, "")
    for arguments, words in (
        (("healthy", "nowhere"), "TOPIC nowhere is not in the cluster"),
        (("nobody", "orders"), "GROUP nobody has no state of the topic orders in the cluster"),
        (("healthy", "orders", "--partition", "7"), "--partition 7: the topic orders has 1, from 0"),
        (("healthy", "orders", "--offset", str(RECORDS)), f"offset {RECORDS} was never seen"),
    ):
        ran = run_here("peek", cluster, *arguments)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert words in ran.stderr
