"""`share-state top`: its table, its JSON, and how it ends where something is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state.operate.live.json_rows import TOP_VERSION
from tests.cli_runner import run
from tests.operate.json_page import check
from tests.operate.live.fake_cluster import FETCH, FakeCluster, served
from tests.operate.live.fake_configs import member

ORDERS, AUDIT = UUID(int=1), UUID(int=2)
NOBODY = "kafka://127.0.0.1:1"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    log = tmp_path / "log"
    with ss.open(log, partitions=1) as store:
        for group, topic, partition, batches in (
            ("workers", ORDERS, 0, [(0, 4, 2, 1)]),
            ("workers", ORDERS, 1, [(0, 0, 0, 4), (1, 9, 2, 1)]),
            ("[red]rich", AUDIT, 0, []),
        ):
            key = ss.SharePartitionKey(group, str(topic), partition)
            store.reset_state(key, 0, 0)
            complete = sum(last - first + 1 for first, last, state, _ in batches if state == 2)
            store.write_state(key, ss.WriteState(0, 0, 0, complete, [ss.StateBatch(*batch) for batch in batches]))
    fake = FakeCluster(
        log,
        ends={("orders", ORDERS): [5, 20]},
        members={"workers": [member("m-1", {ORDERS: [0, 1, 2]})], "[red]rich": []},
    )
    with served(fake):
        yield fake


def test_the_table_has_those_in_trouble_first(cluster: FakeCluster) -> None:
    ran = run("top", f"kafka://{cluster.bootstrap}")
    assert (ran.returncode, ran.stderr) == (1, "")
    head, _, *rows, last = ran.stdout.splitlines()
    assert head.split() == ["HEALTH", "GROUP", "TOPIC", "PARTITION", "LAG", "START", "IN-FLIGHT", "MAX-COUNT", "MEMBERS", "WHY"]
    assert [re.split(r"  +", row.strip()) for row in rows] == [
        [
            "POISON", "workers", "orders", "1", "11", "0", "1", "4", "1 of 1",
            "record 0 is available after 4 deliveries, and the limit is 5",
        ],
        ["NO STATE", "workers", "orders", "2", "-", "-", "-", "-", "1 of 1",
         "a member is assigned it, and the state topic has no state of it"],
        ["OK", "[red]rich", str(AUDIT), "0", "-", "0", "0", "-", "0 of 0"],
        ["OK", "workers", "orders", "0", "0", "0", "0", "1", "1 of 1", "everything is settled"],
    ]  # fmt: skip
    assert last == "A record in a member's hands is not in the state topic: it shows as its last written state, or not at all."


def test_where_it_is_narrow_a_share_partition_is_a_block(cluster: FakeCluster) -> None:
    ran = run("top", f"kafka://{cluster.bootstrap}", COLUMNS="60")
    assert ran.stdout.splitlines()[:4] == [
        "POISON  workers  orders  partition 1",
        "  lag 11  start 0  in-flight 1  max-count 4  members 1 of 1",
        "  record 0 is available after 4 deliveries, and the limit is",
        "  5",
    ]
    assert max(map(len, ran.stdout.splitlines())) <= 60


def test_json_is_as_its_schema_and_page_say(cluster: FakeCluster) -> None:
    ran = run("top", f"kafka://{cluster.bootstrap}", "--format", "jsonl")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(rows) == 4
    check("top", TOP_VERSION, rows, "rates")
    document = json.loads(run("top", f"kafka://{cluster.bootstrap}", "--format", "json").stdout)
    times = {"at_timestamp": 0, "at_time": None}
    assert [row | times for row in document] == [row | times for row in rows]


def test_what_cannot_be_seen_is_told_and_gives_the_status(cluster: FakeCluster) -> None:
    cluster.denied = {FETCH}
    ran = run("top", f"kafka://{cluster.bootstrap}", "--timeout", "1")
    assert ran.returncode == 5
    missing = "it cannot be read: READ on the topic __share_group_state is missing"
    assert ran.stderr == f"share-state: warning: the topic __share_group_state: {missing}\n"
    assert "NO STATE" in ran.stdout


def test_an_empty_cluster_is_healthy(cluster: FakeCluster) -> None:
    cluster.members.clear()
    cluster.state_partitions = 0
    ran = run("top", f"kafka://{cluster.bootstrap}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "No share group has state here.\n", "")


def test_a_group_that_is_not_there_is_told_with_those_that_are(cluster: FakeCluster) -> None:
    ran = run("top", f"kafka://{cluster.bootstrap}", "--group", "worker")
    assert ran.returncode == 2
    assert "--group worker is not in the cluster, which has [red]rich, workers" in " ".join(ran.stderr.replace("│", "").split())


def test_settings_that_are_not_known_are_named(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SASL_PLAINTEXT\nmagic=1\n", encoding="utf-8")
    ran = run("top", NOBODY, "--command-config", config)
    assert ran.returncode == 2
    assert "magic is not a setting of a client" in " ".join(ran.stderr.replace("│", "").split())
