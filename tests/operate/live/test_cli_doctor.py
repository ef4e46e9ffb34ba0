"""`share-state doctor`: its table, its JSON, and how it ends where something is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state.operate.doctor import CHECKS
from share_state.operate.doctor.json_rows import DOCTOR_VERSION
from tests.cli_runner import run
from tests.operate.json_page import check
from tests.operate.live.fake_cluster import CONFIGS, DESCRIBE, FETCH, FakeCluster, served
from tests.operate.live.fake_configs import member
from tests.recordings import REPOSITORY

ORDERS, AUDIT = UUID(int=1), UUID(int=2)
NOBODY = "kafka://127.0.0.1:1"
GROUPS = ("workers", "[red]\x1b[31m")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    log = tmp_path / "log"
    with ss.open(log, partitions=1) as store:
        for group, topic, batches in ((GROUPS[0], ORDERS, [(0, 0, 0, 4), (1, 9, 2, 1)]), (GROUPS[1], AUDIT, [])):
            key = ss.SharePartitionKey(group, str(topic), 0)
            store.reset_state(key, 0, 0)
            store.write_state(key, ss.WriteState(0, 0, 0, 9 if batches else 0, [ss.StateBatch(*batch) for batch in batches]))
    fake = FakeCluster(
        log,
        ends={("orders", ORDERS): [20], ("audit", AUDIT): [7]},
        members={GROUPS[0]: [member("m-1", {ORDERS: [0]})], GROUPS[1]: []},
    )
    with served(fake):
        yield fake


def squeezed(text: str) -> str:
    return " ".join(text.replace("│", "").split())


def test_the_table_has_the_most_urgent_first_and_commands_whole(cluster: FakeCluster) -> None:
    ran = run("doctor", f"kafka://{cluster.bootstrap}", COLUMNS="60")
    assert (ran.returncode, ran.stderr) == (1, "")
    lines = ran.stdout.splitlines()
    assert lines[0] == "2 findings: 2 critical"
    heads = [line for line in lines if line.startswith(("CRITICAL", "WARNING", "INFO"))]
    assert heads == ["CRITICAL  poison_record  workers  orders  partition 0", "CRITICAL  members  [red]\\x1b[31m  audit"]
    at = f"--bootstrap-server {cluster.bootstrap}"
    assert [line for line in lines if line.startswith("  $ ")] == [
        f"  $ kafka-console-consumer.sh {at} --topic orders --partition 0 --offset 0 --max-messages 1",
        f"  $ kafka-share-groups.sh {at} --describe --group $'[red]\\x1b[31m'",
    ]
    assert max(len(line) for line in lines if not line.startswith("  $ ")) <= 60
    assert "\x1b" not in ran.stdout


def test_json_is_as_its_schema_and_page_say(cluster: FakeCluster) -> None:
    ran = run("doctor", f"kafka://{cluster.bootstrap}", "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (1, "")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(rows) == 2
    assert check("doctor", DOCTOR_VERSION, rows)["properties"]["check"]["enum"] == list(CHECKS)
    document = json.loads(run("doctor", f"kafka://{cluster.bootstrap}", "--format", "json").stdout)
    assert [(row["check"], row["commands"]) for row in document] == [(row["check"], row["commands"]) for row in rows]
    page = (REPOSITORY / "docs" / "operate.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page.partition("| check | finds |")[2].partition("\n\n")[0], re.MULTILINE) == list(
        CHECKS
    )


def test_of_one_group_what_concerns_it_is_told(cluster: FakeCluster) -> None:
    ran = run("doctor", f"kafka://{cluster.bootstrap}", "--group", "workers", "--format", "jsonl")
    assert [json.loads(line)["group"] for line in ran.stdout.splitlines()] == ["workers"]
    ran = run("doctor", f"kafka://{cluster.bootstrap}", "--group", "worker")
    assert ran.returncode == 2
    assert "--group worker is not in the cluster, which has" in squeezed(ran.stderr)


def test_where_nothing_is_wrong_the_status_is_0(cluster: FakeCluster) -> None:
    cluster.members[GROUPS[1]] = [member("m-2", {AUDIT: [0]})]
    cluster.configs[GROUPS[0]] = {"share.delivery.count.limit": "9"}
    ran = run("doctor", f"kafka://{cluster.bootstrap}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Nothing is wrong, as far as the cluster tells.\n", "")


@pytest.mark.parametrize(
    ("denied", "right"), [(FETCH, "Read --topic __share_group_state"), (CONFIGS, "DescribeConfigs --cluster")]
)
def test_what_cannot_be_seen_is_told_and_gives_the_status(cluster: FakeCluster, tmp_path: Path, denied: int, right: str) -> None:
    cluster.denied = {denied}
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=PLAINTEXT\n", encoding="utf-8")
    ran = run("doctor", f"kafka://{cluster.bootstrap}", "--timeout", "1", "--command-config", config)
    assert ran.returncode == 5
    assert re.search(r" (is|are) missing\n", ran.stderr)
    add = f"kafka-acls.sh --bootstrap-server {cluster.bootstrap} --command-config admin.properties --add"
    assert f"  $ {add} --allow-principal User:NAME --operation {right}\n" in ran.stdout


def test_damage_is_told_and_the_rest_is_judged(cluster: FakeCluster) -> None:
    [segment] = [path for path in cluster.log.glob("*/*.log") if path.stat().st_size]
    cluster.members[GROUPS[1]] = [member("m-2", {AUDIT: [0]})]
    whole = segment.read_bytes()
    # The last record is of the other group.
    segment.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    ran = run("doctor", f"kafka://{cluster.bootstrap}", "--format", "jsonl")
    assert ran.returncode == 5
    assert "state partition 0, offset 3: passed over: " in ran.stderr
    assert [json.loads(line)["check"] for line in ran.stdout.splitlines()] == ["poison_record"]


def test_a_log_that_was_pruned_lacks_a_snapshot(cluster: FakeCluster) -> None:
    cluster.log_starts[0] = 1
    ran = run("doctor", f"kafka://{cluster.bootstrap}", "--format", "jsonl")
    assert ran.returncode == 1
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [one["evidence"]["kind"] for one in found if one["check"] == "anomaly"] == ["missing_snapshot"]


@pytest.mark.parametrize(
    ("unsupported", "needed"), [(DESCRIBE, "ShareGroupDescribe version 1"), (FETCH, "Fetch version 13 to 17")]
)
@pytest.mark.parametrize("command", ["doctor", "top"])
def test_a_cluster_before_4_2_is_told_so(cluster: FakeCluster, unsupported: int, needed: str, command: str) -> None:
    cluster.unsupported = {unsupported}
    ran = run(command, f"kafka://{cluster.bootstrap}")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert needed in ran.stderr
    assert "is needed, the broker does not have it; share groups need Kafka 4.2 with share.version 1 or higher" in ran.stderr


def test_a_negative_time_is_refused() -> None:
    ran = run("doctor", NOBODY, "--for", "-1")
    assert ran.returncode == 2
    assert "greater than or equal to 0" in squeezed(ran.stderr)
