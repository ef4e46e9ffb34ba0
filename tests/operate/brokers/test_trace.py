"""`share-state trace` on real brokers: a record that was released again and again, and one that was accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli_in_process import run_here
from tests.kafka.broker import Broker
from tests.operate.brokers import DELIVERIES, RECORDS

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def trace(broker: Broker, *arguments: object) -> dict[str, Any]:
    ran = run_here("trace", f"kafka://{broker.bootstrap}", *map(str, arguments), "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_a_record_that_is_released_again_and_again_is_followed_from_its_production(broker: Broker) -> None:
    found = trace(broker, "poisoned", "bad", 0, 0)
    kinds = [event["kind"] for event in found["events"]]
    assert [kind for kind in kinds if kind in {"produced", "released"}] == ["produced", *["released"] * DELIVERIES]
    counts = [event["delivery_count"] for event in found["events"] if event["kind"] == "released"]
    assert counts == list(range(1, DELIVERIES + 1))
    assert found["produced_timestamp"] == found["events"][0]["at_timestamp"] <= found["events"][1]["at_timestamp"]
    assert (found["outcome"], found["delivery_limit"], found["log_end_offset"]) == ("available", 5, 1)
    # Released at once; on a busy machine it may have taken longer than a lock lasts.
    before, last = found["events"][-2:]
    took = last["at_timestamp"] - before["at_timestamp"]
    assert ("probably released by a member" in last["text"]) == (took < found["lock_duration_ms"])
    assert found["members"] == []
    assert trace(broker, "poisoned", found["topic_id"], 0, 0)["topic"] == "bad"


def test_a_record_that_was_accepted_has_its_end(broker: Broker) -> None:
    found = trace(broker, "healthy", "orders", 0, RECORDS - 1)
    assert found["outcome"] in {"accepted", "passed"}
    ran = run_here("trace", f"kafka://{broker.bootstrap}", "healthy", "orders", "0", str(RECORDS - 1))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Assigned at this moment to: no member. Who was assigned it before is not known." in ran.stdout
    assert "produced, by the timestamp of the record" in ran.stdout


def test_what_is_not_there_is_refused(broker: Broker) -> None:
    for arguments, words in (
        (("healthy", "nowhere", 0, 0), "TOPIC nowhere is not in the cluster"),
        (("healthy", "orders", 5, 0), "PARTITION 5: the topic orders has 1, from 0"),
        (("healthy", "orders", 0, 99), f"offset 99 was never seen: the topic's partition ends before offset {RECORDS}"),
        (("healthy", "bad", 0, 0), "is not in the log, which has"),
        (("nobody", "orders", 0, 0), "GROUP nobody is not in the log, which has"),
    ):
        ran = run_here("trace", f"kafka://{broker.bootstrap}", *map(str, arguments))
        assert (ran.returncode, ran.stdout) == (2, "")
        assert words in ran.stderr
