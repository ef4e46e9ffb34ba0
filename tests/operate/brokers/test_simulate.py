"""`share-state simulate` on real brokers: their history, their settings, and when records came."""

from __future__ import annotations

import json

import pytest

from share_state.operate.simulation.model import PRODUCED
from tests.cli_runner import run
from tests.kafka.broker import Broker
from tests.operate.brokers import DELIVERIES, RECORDS

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(120)]


def test_a_running_cluster_is_simulated_with_its_own_settings(broker: Broker) -> None:
    cluster = f"kafka://{broker.bootstrap}"
    ran = run("simulate", cluster, "healthy", "--members", "3", "--runs", "2", "--format", "jsonl")
    assert ran.returncode == 0
    # Its members have left.
    assert ran.stderr == "share-state: the group has no members now: 1 is taken, unless --today says otherwise\n"
    recorded, today, wanted = map(json.loads, ran.stdout.splitlines())
    assert (recorded["records"], recorded["accepted"]["mean"], recorded["redeliveries"]["mean"]) == (RECORDS, RECORDS, 0)
    assert (today["settings"]["lock_duration_ms"], today["settings"]["delivery_limit"]) == (1000, 5)
    assert (today["accepted"]["mean"], wanted["settings"]["members"]) == (RECORDS, 3)
    assert recorded["assumptions"][-1] == PRODUCED


def test_a_record_that_is_not_settled_is_simulated_to_its_end(broker: Broker) -> None:
    ran = run("simulate", f"kafka://{broker.bootstrap}", "poisoned", "--runs", "2", "--format", "jsonl")
    recorded, today = map(json.loads, ran.stdout.splitlines())
    assert (recorded["records"], recorded["deliveries"]["mean"], recorded["drain_ms"]) == (1, DELIVERIES, None)
    assert today["archived_at_limit"]["mean"] + today["accepted"]["mean"] == 1


def test_a_group_that_is_not_there_is_told_with_those_that_are(broker: Broker) -> None:
    ran = run("simulate", f"kafka://{broker.bootstrap}", "nobody")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--group nobody is not in the log, which has" in " ".join(ran.stderr.split())
