"""The doctor, the health words and the metrics on real brokers, with a member that stalls beyond its locks."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.doctor import Finding, Tools, examine
from share_state.operate.live import Health, LiveView, SharePartitionView, View
from share_state.operate.live.exporter import readings
from share_state.operate.live.metric_table import METRICS
from share_state.operate.live.rights import Right
from share_state.operate.monitoring.exposition import exposition
from tests.cli_runner import run
from tests.gateway.clients.members import Member, confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic, produce
from tests.gateway.tools.driver import ToolDriver
from tests.kafka.broker import Broker
from tests.kafka.home import JUDGE
from tests.operate.brokers import DELIVERIES, RECORDS

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

NAMES = ("expiring", "gone", "healthy", "poisoned")
LOCK_MS = 1_000


@pytest.fixture(scope="module")
def expiring(broker: Broker) -> Iterator[Member]:
    """A member of a group of its own that sits on the one record until its lock is gone, again and again."""
    create_topic(broker.bootstrap, "slow", 1)
    produce(broker.bootstrap, "slow", [b"slow"])
    configure_group(
        broker.bootstrap,
        "expiring",
        **{
            "share.auto.offset.reset": "earliest",
            "share.delivery.count.limit": "10",
            "share.record.lock.duration.ms": str(LOCK_MS),
        },
    )
    plan = Plan(bootstrap=broker.bootstrap, group="expiring", topics=["slow"], stall_after=1, stall_seconds=1.4)
    with confluent(plan, 0) as member:
        member.wait_until(lambda member: member.received() >= 1, "the record")
        yield member


def of_groups(view: View) -> dict[str, SharePartitionView]:
    return {group.group: one for group in view.groups if group.group in NAMES for one in group.share_partitions}


def is_reached(view: View) -> bool:
    """The member that vanished is gone, the others have left, and locks have run out in a row."""
    found = of_groups(view)
    if len(found) < len(NAMES):
        return False
    gone, slow = found["gone"].row, dict(found["expiring"].anomalies)
    left = all(group.state == "Empty" for group in view.groups if group.group in {"gone", "healthy", "poisoned"})
    return left and gone is not None and gone.held_state == 0 and "lock_expiry_loop" in slow


async def looked_at(bootstrap: str) -> tuple[View, list[Finding], str]:
    async with LiveView(bootstrap) as live:
        while True:
            if is_reached(await live.refresh()):
                break
            await asyncio.sleep(0.1)
        view, findings = await examine(live, Tools(bootstrap))
        text = exposition(METRICS, readings(view, live.places(), 0.0, 100))[1].decode()
    return view, [one for one in findings if one.group in NAMES or one.group is None], text


def test_causes_words_and_metrics(broker: Broker, expiring: Member) -> None:
    view, findings, text = asyncio.run(asyncio.wait_for(looked_at(broker.bootstrap), 120))
    assert expiring.received() > 2
    assert view.problems == ()
    seen = of_groups(view)
    words = {group: one.verdict.health for group, one in seen.items()}
    assert words == {
        "expiring": Health.EXPIRING,
        "gone": Health.NO_MEMBERS,
        "healthy": Health.OK,
        "poisoned": Health.POISON,
    }
    by_check = {(one.check, one.group): one for one in findings}
    assert set(by_check) == {
        ("poison_record", "poisoned"),
        ("lock_duration", "expiring"),
        ("members", "poisoned"),
        ("members", "gone"),
    }
    severities = [one.severity for one in findings]
    assert severities == [Severity.CRITICAL] * 4
    poison = by_check["poison_record", "poisoned"]
    assert (poison.evidence["delivery_count"], poison.evidence["delivery_limit"], poison.evidence["lag"]) == (DELIVERIES, 5, 1)
    queue = "errors.deadletterqueue.topic.name=dlq.bad"
    assert (queue in " ".join(poison.commands)) == (broker.version == JUDGE)
    assert by_check["members", "gone"].evidence == {"lag": RECORDS, "share_partitions": 1, "topics": 1, "members": 0}
    locks = by_check["lock_duration", "expiring"]
    assert (locks.evidence["lock_duration_ms"], locks.evidence["accepted"]) == (LOCK_MS, 0)
    assert f"times in a row after at least {LOCK_MS} ms, the lock duration" in locks.text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    counted = {
        (sample.labels["group"], sample.labels["kind"]): sample.value for sample in families["share_group_anomalies"].samples
    }
    assert counted[("expiring", "lock_expiry_loop")] == 1
    assert not [group for group, _ in counted if group in {"healthy", "poisoned"}]
    health = {(sample.labels["group"], sample.labels["health"]) for sample in families["share_group_health"].samples}
    assert {(group, word.value) for group, word in words.items()} <= health


def test_anomalies_of_a_cluster_are_found_by_its_lock_durations_and_named(broker: Broker, expiring: Member) -> None:
    ran = run("anomalies", f"kafka://{broker.bootstrap}", "--group", "expiring")
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "CRITICAL  lock_expiry_loop  expiring  slow  0" in ran.stdout
    assert f"after at least {LOCK_MS} ms, the lock duration" in ran.stdout
    assert expiring.received() >= 1


def found_by_command(broker: Broker, group: str) -> dict[str, list[str]]:
    """The commands of each check about a group."""
    ran = run("doctor", f"kafka://{broker.bootstrap}", "--group", group, "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (1, "")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    return {row["check"]: row["commands"] for row in rows}


def test_the_commands_do_what_they_say(broker: Broker, expiring: Member, tmp_path: Path) -> None:
    with ToolDriver() as tools:

        def does(command: str) -> str:
            script, *arguments = shlex.split(command)
            ran = tools.run(script.removesuffix(".sh"), *arguments)
            assert ran.code == 0, ran
            return ran.out

        # A broker without an authorizer refuses the right, but not the options.
        _, *options = shlex.split(Tools(broker.bootstrap).allow(Right("DESCRIBE_CONFIGS", "cluster")))
        assert "No Authorizer is configured on the broker" in tools.run("kafka-acls", *options).out
        # More replicas than brokers cannot be; the plan has the form of the one that is printed.
        plan = tmp_path / "share-group-state.json"
        row = {"topic": "slow", "partition": 0, "replicas": [1]}
        plan.write_text(json.dumps({"version": 1, "partitions": [row]}), encoding="utf-8")
        move = Tools(broker.bootstrap).call("kafka-reassign-partitions.sh", "--reassignment-json-file", str(plan), "--execute")
        assert "Successfully started partition reassignment for slow-0" in does(move)
        does(found_by_command(broker, "expiring")["lock_duration"][0])
        # One more, should the first have been delivered too often by now.
        produce(broker.bootstrap, "slow", [b"again"])
        _, findings = asyncio.run(once(broker.bootstrap))
        [poison] = [one for one in findings if one.check == "poison_record" and one.group == "poisoned"]
        read, *queue = poison.commands
        assert does(read) == "0\n"
        assert len(queue) == (2 if broker.version == JUDGE else 0)
        # With a longer lock the member is in time.
        asyncio.run(asyncio.wait_for(accepted(broker.bootstrap), 60))
        assert expiring.stop() == 0
        produce(broker.bootstrap, "slow", [b"more"])
        _, findings = asyncio.run(once(broker.bootstrap))
        [unneeded] = [one for one in findings if one.group == "expiring" and one.check == "members"]
        assert "expiring" in does(unneeded.commands[0])
        # What deletes the group stands in the advice.
        assert "expiring" in does(unneeded.advice.rpartition(": ")[2])
    assert "expiring" not in [group.group for group in asyncio.run(once(broker.bootstrap))[0].groups]
    healthy = run("doctor", f"kafka://{broker.bootstrap}", "--group", "healthy")
    assert (healthy.returncode, healthy.stdout) == (0, "Nothing is wrong, as far as the cluster tells.\n")


async def accepted(bootstrap: str) -> None:
    """Wait until the group has the lock duration that was set, and has accepted a record."""
    async with LiveView(bootstrap) as live:
        while True:
            view = await live.refresh()
            one = of_groups(view)["expiring"]
            [group] = [group for group in view.groups if group.group == "expiring"]
            if one.row is not None and one.row.accepted_total:
                assert group.configs["share.record.lock.duration.ms"] == str(2 * LOCK_MS)
                return
            await asyncio.sleep(0.1)


async def once(bootstrap: str) -> tuple[View, list[Finding]]:
    async with LiveView(bootstrap) as live:
        return await examine(live, Tools(bootstrap))
