"""`share-state top`: its table, its JSON, and how it ends where something is wrong."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import share_state as ss
from share_state.operate.live.json_rows import TOP_VERSION
from tests.cli_runner import COMMAND, environment, run
from tests.operate.json_schema import breaches
from tests.operate.live.fake_cluster import FETCH, FakeCluster, served
from tests.operate.live.fake_configs import member
from tests.recordings import REPOSITORY

ORDERS, AUDIT = UUID(int=1), UUID(int=2)
NOBODY = "kafka://127.0.0.1:1"
LONG = "3600"


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


def schema() -> dict[str, Any]:
    file = resources.files("share_state") / "schemas" / f"top-{TOP_VERSION}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


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
    assert [breach for row in rows for breach in breaches(schema(), row)] == []
    assert all(list(row) == list(schema()["properties"]) == schema()["required"] for row in rows)
    page = (
        (REPOSITORY / "docs" / "json-output.md")
        .read_text(encoding="utf-8")
        .partition("## `share-state top`")[2]
        .partition("\n## ")[0]
    )
    told = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    properties = schema()["properties"] | schema()["properties"]["rates"]["properties"]
    assert told == {name: of["description"] for name, of in properties.items() if name != "schema_version"}
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


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("somewhere",), "somewhere is not a cluster, kafka://HOST:PORT"),
        (("kafka://host",), "'host' is not host:port"),
    ],
)
def test_what_is_asked_wrongly_is_refused(arguments: tuple[str, ...], reason: str) -> None:
    ran = run("top", *arguments)
    assert ran.returncode == 2
    assert reason in " ".join(ran.stderr.replace("│", "").split())


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


@pytest.mark.parametrize("command", ["top", "doctor"])
def test_a_refused_connection_is_not_waited_for(command: str) -> None:
    ran = run(command, NOBODY, "--timeout", LONG)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == f"share-state: cannot read {NOBODY}: 127.0.0.1:1: Connection refused\n"


@pytest.mark.parametrize("command", ["top", "doctor"])
def test_a_cluster_that_does_not_answer_is_waited_for_as_long_as_is_said(command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        ran = run(command, f"kafka://{address}", "--timeout", "0.3")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == f"share-state: cannot read kafka://{address}: {address}: connecting took too long\n"


def test_ctrl_c_ends_the_wait() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"kafka://127.0.0.1:{silent.getsockname()[1]}"
        with subprocess.Popen(
            [*COMMAND, "top", address, "--timeout", LONG],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            connection, _ = silent.accept()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
            connection.close()
    assert process.returncode == 130
    assert "Traceback" not in said
