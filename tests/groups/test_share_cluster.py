"""`share_state.testing`: a cluster with share groups for tests, without a JVM."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from confluent_kafka import Producer, ShareConsumer

from share_state.errors import ConfigError
from share_state.operate import analysis
from share_state.testing import MockCluster, MockClusterError, ProduceError, ShareCluster, share_cluster
from tests.cli_runner import environment

pytest_plugins = ["share_state.testing.plugin"]


def take(bootstrap_servers: str, topic: str, wanted: int, group: str = "workers") -> list[bytes]:
    """Values of so many records, as a share consumer gets them."""
    values: list[bytes] = []
    with ShareConsumer({"bootstrap.servers": bootstrap_servers, "group.id": group, "log_level": 0}) as consumer:
        consumer.subscribe([topic])
        for _ in range(30):
            values += [message.value() or b"" for message in consumer.poll(1.0) if message.error() is None]
            if len(values) >= wanted:
                break
        consumer.commit_sync()
    return values


def test_records_come_out_of_every_partition(share_groups: ShareCluster) -> None:
    share_groups.create_topic("jobs", 3)
    for partition in range(3):
        share_groups.produce("jobs", [f"{partition}/{number}" for number in range(4)], partition)
    values = take(share_groups.bootstrap_servers, "jobs", 12)
    assert sorted(values) == sorted(f"{partition}/{number}".encode() for partition in range(3) for number in range(4))


def test_two_groups_each_get_all(share_groups: ShareCluster) -> None:
    share_groups.produce("jobs", [b"a", "ä"], 0)
    assert [take(share_groups.bootstrap_servers, "jobs", 2, group) for group in ("one", "two")] == [[b"a", "ä".encode()]] * 2


def test_a_producer_may_use_the_same_address(share_groups: ShareCluster) -> None:
    share_groups.create_topic("jobs")
    producer = Producer({"bootstrap.servers": share_groups.bootstrap_servers, "log_level": 0})
    producer.produce("jobs", b"through the gateway")
    assert producer.flush(30) == 0
    assert take(share_groups.bootstrap_servers, "jobs", 1) == [b"through the gateway"]


def test_several_brokers() -> None:
    with share_cluster(topics={"jobs": 6}, brokers=3) as cluster:
        assert cluster.upstream_servers.count(":") == 3
        cluster.produce("jobs", (str(number) for number in range(60)))
        assert sorted(take(cluster.bootstrap_servers, "jobs", 60), key=int) == [b"%d" % number for number in range(60)]


def test_the_state_stays_in_a_directory_of_the_tests(tmp_path: Path) -> None:
    with share_cluster(topics={"jobs": 1}, path=tmp_path / "gateway") as cluster:
        cluster.produce("jobs", ["a", "b"])
        assert len(take(cluster.bootstrap_servers, "jobs", 2)) == 2
    states, findings = analysis.fold_path(tmp_path / "gateway" / "state")
    assert findings == []
    assert [(state["group"], state["start_offset"] + state["delivery_complete_count"]) for state in states] == [("workers", 2)]


def test_a_topic_is_created_once_and_with_partitions(share_groups: ShareCluster) -> None:
    share_groups.create_topic("jobs", 2)
    with pytest.raises(MockClusterError, match=r"topic 'jobs' was not created: .*already exists") as refused:
        share_groups.create_topic("jobs", 2)
    assert refused.value.field == "name"
    with pytest.raises(ConfigError, match="partitions is 0; expected at least 1"):
        share_groups.create_topic("more", 0)


def test_a_record_that_is_not_taken_is_told(share_groups: ShareCluster) -> None:
    share_groups.create_topic("jobs", 2)
    with pytest.raises(ProduceError, match="records for topic 'jobs'"):
        share_groups.produce("jobs", ["a"], partition=2)


class TestConfig:
    @pytest.fixture
    def share_groups_config(self) -> dict[str, str]:
        return {"share.auto.offset.reset": "latest", "group.share.max.size": "1"}

    def test_it_goes_over_the_defaults(self, share_groups: ShareCluster) -> None:
        options = share_groups.gateway.options
        assert options.groups["share.auto.offset.reset"] == "latest"
        assert options.broker["group.share.max.size"] == "1"
        assert options.broker["group.share.assignment.interval.ms"] == "0"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("log.dirs", "x", "log.dirs is not a configuration of the gateway"),
        (
            "share.auto.offset.resett",
            "earliest",
            "is not a configuration of the gateway; expected such as share.auto.offset.reset",
        ),
        ("group.share.record.lock.duration.msx", "1", "expected such as group.share.record.lock.duration.ms"),
        ("share.auto.offset.reset", "earlest", "expected latest, earliest or by_duration:PnDTnHnMn.nS"),
        ("share.delivery.count.limit", "11", "must be in the range 2 to 10 inclusive"),
    ],
)
def test_a_configuration_that_is_none_is_refused(name: str, value: str, told: str) -> None:
    with pytest.raises(ConfigError) as refused, share_cluster(config={name: value}):
        pass
    assert (refused.value.field, told in str(refused.value)) == (name, True)


def test_a_mock_cluster_has_brokers_and_an_end() -> None:
    with pytest.raises(ConfigError, match="brokers is 0; expected 1 to 100"):
        MockCluster(0)
    with MockCluster(2) as cluster:
        assert cluster.bootstrap_servers.count(":") == 2
    cluster.close()
    with pytest.raises(MockClusterError, match="the mock cluster is closed"):
        cluster.create_topic("jobs")


def test_nobody_who_does_not_ask_pays_for_it() -> None:
    assert [entry.name for entry in entry_points(group="pytest11") if entry.value.startswith("share_state")] == []
    code = "import share_state, sys; print([name for name in sys.modules if 'testing' in name and 'share_state' in name])"
    assert run(code).stdout == "[]\n"


def test_without_confluent_kafka_it_says_what_to_install() -> None:
    done = run("import sys; sys.modules['confluent_kafka'] = None; from share_state.testing import MockCluster; MockCluster()")
    assert done.returncode == 1
    assert "pip install '.[kafka]' in the checkout" in done.stderr


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment(), capture_output=True, encoding="utf-8", check=False
    )
