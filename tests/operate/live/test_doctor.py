"""The checks of the doctor, each on a cluster that shows what it looks for, and on one that nearly does."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state.kafka.client.metadata import Topic
from share_state.operate.analysis.anomaly import AnomalyKind, Severity
from share_state.operate.doctor import Facts, Finding, Tools, diagnose, examine
from share_state.operate.live import Health, LiveView, View
from share_state.operate.live.cluster_view import ClusterView
from share_state.operate.live.rights import Right
from share_state.operate.live.state_topic import StatePartitionPlace
from share_state.operate.reading.plain import STATE_TOPIC
from tests.operate.live.fake_cluster import CONFIGS, DESCRIBE, FETCH, LIST_OFFSETS, METADATA, FakeCluster
from tests.operate.live.fake_configs import member

ORDERS = UUID(int=1)
KEY = ss.SharePartitionKey("workers", str(ORDERS), 0)
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4
Batch = tuple[int, int, int, int]
#: Long enough that no write of a test may be taken for a lock that ran out.
CALM = {"share.record.lock.duration.ms": "60000", "share.delivery.count.limit": "5", "share.partition.max.record.locks": "2000"}


def cluster(tmp_path: Path, *writes: Iterable[Batch], end: int = 20, start: int = 0) -> FakeCluster:
    """Cluster with one share partition, with writes one after another; a member has it, and nothing is wrong around it."""
    log = tmp_path / "log"
    with ss.open(log, partitions=1) as store:
        store.reset_state(KEY, 0, start)
        complete = 0
        for batches in writes:
            complete += sum(last - first + 1 for first, last, state, _ in batches if state in {ACKNOWLEDGED, ARCHIVED})
            store.write_state(KEY, ss.WriteState(0, 0, start, complete, [ss.StateBatch(*batch) for batch in batches]))
    return FakeCluster(
        log,
        ends={("orders", ORDERS): [end]},
        members={"workers": [member("m-1", {ORDERS: [0]})]},
        configs={"workers": dict(CALM)},
        cluster_configs={STATE_TOPIC: {"min.insync.replicas": "1"}},
    )


def examined(fake: FakeCluster, **options: float) -> tuple[View, list[Finding]]:
    async def look() -> tuple[View, list[Finding]]:
        async with fake.serving(), LiveView(fake.bootstrap, timeout=1) as live:
            return await examine(live, Tools("kafka:9092"), **options)

    return asyncio.run(asyncio.wait_for(look(), 60))


def only(findings: list[Finding]) -> Finding:
    [found] = findings
    return found


def group_config(setting: str, group: str = "workers") -> str:
    name = f"--entity-type groups --entity-name {group}"
    return f"kafka-configs.sh --bootstrap-server kafka:9092 --alter {name} --add-config {setting}"


def test_where_nothing_is_wrong_nothing_is_found(tmp_path: Path) -> None:
    view, findings = examined(cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1), (10, 10, AVAILABLE, 3)]))
    assert (findings, view.problems) == ([], ())


def test_a_record_with_one_delivery_left(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 0, AVAILABLE, 4), (1, 9, ACKNOWLEDGED, 1)])
    found = only(examined(fake)[1])
    assert (found.check, found.severity, found.group, found.topic, found.partition) == (
        ("poison_record", Severity.CRITICAL, "workers", "orders", 0)
    )
    assert found.text == "record 0 is available after 4 deliveries, and the limit is 5"
    assert found.evidence == {"offset": 0, "delivery_count": 4, "delivery_limit": 5, "lag": 11}
    read = "--topic orders --partition 0 --offset 0 --max-messages 1"
    assert found.commands == (f"kafka-console-consumer.sh --bootstrap-server kafka:9092 {read}",)
    # Of a release that has dead-letter topics, and a group without one.
    fake.configs["workers"]["errors.deadletterqueue.topic.name"] = ""
    fake.cluster_configs["1"] = {"errors.deadletterqueue.topic.name.prefix": "dead."}
    create = "--create --if-not-exists --topic dead.orders --config errors.deadletterqueue.group.enable=true"
    assert only(examined(fake)[1]).commands[1:] == (
        f"kafka-topics.sh --bootstrap-server kafka:9092 {create}",
        group_config("errors.deadletterqueue.topic.name=dead.orders"),
    )
    fake.configs["workers"]["errors.deadletterqueue.topic.name"] = "dead.orders"
    assert len(only(examined(fake)[1]).commands) == 1


def test_records_that_were_given_up(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 0, AVAILABLE, 1)], [(0, 0, ARCHIVED, 2), (5, 5, ACKNOWLEDGED, 1)])
    fake.configs["workers"]["share.delivery.count.limit"] = "2"
    found = only(examined(fake)[1])
    assert (found.check, found.severity) == ("poison_record", Severity.WARNING)
    assert (found.evidence["given_up"], found.evidence["findings"]) == (1, 1)
    assert "the limit is 2, as configured" in found.text
    # One more, and it is a burst.
    fake = cluster(tmp_path / "burst", [(0, 29, AVAILABLE, 1)], [(0, 29, ARCHIVED, 2)])
    fake.configs["workers"]["share.delivery.count.limit"] = "2"
    burst, limit = examined(fake)[1]
    assert (burst.check, burst.severity) == ("poison_record", Severity.CRITICAL)
    assert (limit.check, limit.severity) == ("delivery_limit", Severity.CRITICAL)
    assert limit.text == "30 of 30 records were given up after 2 deliveries"
    assert limit.commands == (group_config("share.delivery.count.limit=4"),)
    # At the highest that the brokers take there is no command.
    fake.cluster_configs["1"] = {"group.share.max.delivery.count.limit": "2"}
    assert examined(fake)[1][1].commands == ()


def test_locks_that_may_have_run_out(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 0, ARCHIVED, 5)])
    fake.configs["workers"]["share.record.lock.duration.ms"] = "20000"
    found = only(examined(fake)[1])
    assert (found.check, found.severity) == ("lock_duration", Severity.WARNING)
    assert found.evidence == {"lock_duration_ms": 20_000, "loops": 0, "late_or_poison": 1, "released": 0, "accepted": 0}
    assert found.commands == (group_config("share.record.lock.duration.ms=40000"),)
    fake.cluster_configs["1"] = {"group.share.max.record.lock.duration.ms": "30000"}
    assert only(examined(fake)[1]).commands == (group_config("share.record.lock.duration.ms=30000"),)
    fake.configs["workers"]["share.record.lock.duration.ms"] = "30000"
    highest = only(examined(fake)[1])
    assert highest.commands == ()
    assert "group.share.max.record.lock.duration.ms in server.properties" in highest.advice


@pytest.mark.parametrize(("last", "locks", "severity"), [(198, "200", None), (199, "200", Severity.CRITICAL), (199, "201", None)])
def test_as_many_in_flight_as_may_be(tmp_path: Path, last: int, locks: str, severity: Severity | None) -> None:
    fake = cluster(tmp_path, [(0, 0, AVAILABLE, 1), (1, last, ACKNOWLEDGED, 1)], end=500)
    fake.configs["workers"]["share.partition.max.record.locks"] = locks
    found = examined(fake)[1]
    assert [one.severity for one in found] == ([] if severity is None else [severity])
    for one in found:
        assert one.text == "200 offsets are in flight, and the limit is 200 while 300 records wait after them"
        assert one.commands == (group_config("share.partition.max.record.locks=400"),)


def test_members_that_share_too_few(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1)], end=900)
    fake.configs["workers"]["share.partition.max.record.locks"] = "800"
    assert examined(fake)[1] == []
    fake.members["workers"].append(member("m-2", {ORDERS: [0]}))
    found = only(examined(fake)[1])
    assert (found.check, found.severity) == ("record_locks", Severity.INFO)
    assert found.text == "2 members share 800 records in flight, 400 for each, and 890 are not settled"
    # Before 4.3 the limit is the brokers' alone.
    del fake.configs["workers"]["share.partition.max.record.locks"]
    fake.cluster_configs["1"] = {"group.share.partition.max.record.locks": "700"}
    assert only(examined(fake)[1]).commands == ()


def test_a_group_without_members(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1)])
    fake.members["workers"] = []
    found = only(examined(fake)[1])
    assert (found.check, found.severity, found.group, found.topic, found.partition) == (
        ("members", Severity.CRITICAL, "workers", "orders", None)
    )
    assert found.evidence == {"lag": 10, "share_partitions": 1, "topics": 1, "members": 0}
    assert found.commands == ("kafka-share-groups.sh --bootstrap-server kafka:9092 --describe --group workers",)
    assert "cannot be taken back: kafka-share-groups.sh --bootstrap-server kafka:9092 --delete --group workers" in found.advice
    # With nothing to deliver it may be without members.
    fake.ends = {("orders", ORDERS): [10]}
    assert examined(fake)[1] == []


def test_a_topic_that_is_no_more(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1)])
    fake.ends, fake.members["workers"] = {}, []
    found = only(examined(fake)[1])
    assert (found.check, found.topic, found.evidence["share_partitions"]) == ("deleted_topic", str(ORDERS), 1)
    assert found.commands == ("kafka-share-groups.sh --bootstrap-server kafka:9092 --describe --group workers --offsets",)
    assert found.advice.endswith(": kafka-share-groups.sh --bootstrap-server kafka:9092 --delete --group workers")


STATE = f"--topic {STATE_TOPIC}"


@pytest.mark.parametrize(
    ("brokers", "replicas_in_sync", "least", "expected"),
    [
        (1, (1, 1), "1", None),
        (3, (3, 3), "2", None),
        (3, (1, 1), "1", (Severity.CRITICAL, "1 of 1 state partitions have fewer than 3 replicas, one has 1")),
        (3, (2, 2), "2", (Severity.WARNING, "1 of 1 state partitions have fewer than 3 replicas, one has 2")),
        (3, (3, 3), "1", (Severity.WARNING, "min.insync.replicas is 1 with 3 replicas")),
        (3, (3, 1), "2", (Severity.CRITICAL, "1 of 1 state partitions take no writes: 1 replicas are in sync")),
        (1, (1, 1), "2", (Severity.CRITICAL, "1 of 1 state partitions take no writes: 1 replicas are in sync")),
    ],
)
def test_replicas_of_the_state_topic(
    tmp_path: Path, brokers: int, replicas_in_sync: tuple[int, int], least: str, expected: tuple[Severity, str] | None
) -> None:
    fake = cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1)])
    replicas, in_sync = replicas_in_sync
    fake.brokers, fake.replicas, fake.in_sync = brokers, list(range(1, replicas + 1)), list(range(1, in_sync + 1))
    fake.cluster_configs[STATE_TOPIC] = {"min.insync.replicas": least}
    found = examined(fake)[1]
    assert [(one.check, one.severity) for one in found] == ([] if expected is None else [("state_topic", expected[0])])
    for one in found:
        assert expected is not None
        assert one.text.startswith(expected[1])
        if "fewer than" in one.text:
            write, move = one.commands
            plan = json.loads(shlex.split(write)[1])
            assert plan["version"] == 1
            [row] = plan["partitions"]
            assert (row["topic"], row["partition"], sorted(row["replicas"])) == (STATE_TOPIC, 0, [1, 2, 3])
            assert row["replicas"][:replicas] == fake.replicas
            assert move.endswith("--reassignment-json-file share-group-state.json --execute")
        elif "is 1 with" in one.text:
            name = f"--entity-type topics --entity-name {STATE_TOPIC}"
            change = f"--alter {name} --add-config min.insync.replicas=2"
            assert one.commands == (f"kafka-configs.sh --bootstrap-server kafka:9092 {change}",)


def test_records_that_are_not_pruned() -> None:
    def found(redundant: int) -> list[Finding]:
        topic = Topic(STATE_TOPIC, str(ORDERS), (1, 1), ((1,), (1,)), ((1,), (1,)))
        place = StatePartitionPlace(900_000, 50 + redundant, 50, 900_000)
        seen = ClusterView((1,), {}, topic, {}, {0: place, 1: StatePartitionPlace(9, None, 0, 9)})
        return diagnose(Facts(Tools("kafka:9092"), View(0, (), 0, (), 0), (), seen))

    assert found(99_999) == []
    one = only(found(100_000))
    assert (one.check, one.partition, one.evidence["redundant"]) == ("state_topic", 0, 100_000)
    assert one.commands == (f"kafka-topics.sh --bootstrap-server kafka:9092 --describe {STATE}",)


@pytest.mark.parametrize(
    ("denied", "option", "problems"),
    [
        (FETCH, f"--operation Read --topic {STATE_TOPIC}", 1),
        (METADATA, f"--operation Describe --topic {STATE_TOPIC}", 2),
        (DESCRIBE, "--operation Describe --group workers", 1),
        (LIST_OFFSETS, "--operation Describe --topic orders", 1),
        (CONFIGS, "--operation DescribeConfigs --group workers", 2),
    ],
)
def test_a_right_that_is_missing(tmp_path: Path, denied: int, option: str, problems: int) -> None:
    fake = cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1)])
    fake.denied = {denied}
    view, findings = examined(fake)
    assert len(view.problems) == problems
    assert {one.check for one in findings} == {"missing_right"}
    add = "kafka-acls.sh --bootstrap-server kafka:9092 --add --allow-principal User:NAME"
    commands = [command for one in findings for command in one.commands]
    assert f"{add} {option}" in commands
    if denied == CONFIGS:
        assert f"{add} --operation DescribeConfigs --cluster" in commands
        assert f"{add} --operation DescribeConfigs --topic {STATE_TOPIC}" in commands


def test_other_anomalies_are_told_by_kind(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1)])
    # Without its snapshot, as in a log of which the beginning was lost.
    fake.log_starts[0] = 1
    found = [one for one in examined(fake)[1] if one.check == "anomaly"]
    assert only(found).evidence["kind"] == AnomalyKind.MISSING_SNAPSHOT
    assert only(found).severity is Severity.CRITICAL


def test_a_start_offset_that_stands(tmp_path: Path) -> None:
    # By what the view says of it; what stands for minutes takes minutes.
    fake = cluster(tmp_path, [(0, 0, AVAILABLE, 2), (1, 9, ACKNOWLEDGED, 1)])

    async def stuck() -> list[tuple[str, ...]]:
        async with fake.serving(), LiveView(fake.bootstrap) as live:
            view = await live.refresh()
        [group] = view.groups
        [one] = group.share_partitions
        assert one.row is not None
        told = []
        for state, count in ((0, 2), (0, 4), (3, 2), (None, None)):
            row = one.row._replace(held_state=state, held_count=count, held_since=view.at_ms - 200_000)
            held = one._replace(row=row, verdict=one.verdict._replace(health=Health.STUCK, why="it stands"))
            groups = (replace(group, share_partitions=(held,), configs={**CALM, "share.renew.acknowledge.enable": "true"}),)
            [found] = diagnose(Facts(Tools("kafka:9092"), replace(view, groups=groups)))
            assert (found.check, found.severity, found.evidence["held_seconds"]) == ("start_offset", Severity.CRITICAL, 200)
            told.append(found.commands)
        return told

    describe = "kafka-share-groups.sh --bootstrap-server kafka:9092 --describe --group workers --members"
    assert asyncio.run(stuck()) == [
        (group_config("share.delivery.count.limit=3"), group_config("share.delivery.count.limit=5")),
        (describe,),
        (),
        (group_config("share.renew.acknowledge.enable=false"), describe),
    ]


def test_a_lag_that_grows_is_seen_by_looking_again(tmp_path: Path) -> None:
    fake = cluster(tmp_path, [(0, 9, ACKNOWLEDGED, 1)])

    async def look() -> list[Finding]:
        async with fake.serving(), LiveView(fake.bootstrap) as live:
            examining = asyncio.create_task(examine(live, Tools("kafka:9092"), seconds=0.3))
            await asyncio.sleep(0.15)
            fake.ends = {("orders", ORDERS): [1_500]}
            return (await examining)[1]

    found = only(asyncio.run(asyncio.wait_for(look(), 60)))
    assert (found.check, found.evidence["lag_rise"]) == ("members", 1_480)


@pytest.mark.parametrize(
    "name", ["plain", "two words", "it's", "-x", "a$b`c`", 'q"q', "back\\slash", "new\nline", "esc\x1b[31m", "ünï\u202e", "*"]
)
def test_commands_can_be_pasted_whatever_a_group_is_called(name: str) -> None:
    tools = Tools("kafka:9092", "admin.properties", "User:O'Neill")
    for command, option in (
        (tools.group_config(name, {"a.b": 1}), "--entity-name"),
        (tools.share_groups("--delete", "--group", name), "--group"),
        (tools.allow(Right("DESCRIBE", "group", name)), "--group"),
    ):
        assert command.isprintable()
        script, _, rest = command.partition(" ")
        assert re.fullmatch(r"kafka-[a-z-]+\.sh", script)
        said = subprocess.run(["bash", "-c", f"printf '%s\\0' {rest}"], capture_output=True, check=True).stdout
        arguments = said.decode().split("\0")
        assert f"{option}={name}" in arguments or (arguments[arguments.index(option) + 1] == name and not name.startswith("-"))
        assert arguments[:4] == ["--bootstrap-server", "kafka:9092", "--command-config", "admin.properties"]
