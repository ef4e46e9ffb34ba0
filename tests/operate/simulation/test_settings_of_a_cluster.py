"""Today's settings, as a cluster tells them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state.cli.shared.any_source import Client
from share_state.cli.simulate.options import of_cluster
from share_state.operate.simulation import Settings
from tests.operate.live.fake_cluster import CONFIGS, FakeCluster, served
from tests.operate.live.fake_configs import member

ORDERS = UUID(int=1)
CONFIGURED = {"share.record.lock.duration.ms": "45000", "share.delivery.count.limit": "7"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    log = tmp_path / "log"
    ss.open(log, partitions=1).close()
    members = {"workers": [member(name, {ORDERS: [0]}) for name in ("a", "b", "c")], "nobody": []}
    configs = dict.fromkeys(members, CONFIGURED)
    fake = FakeCluster(log, ends={("orders", ORDERS): [5]}, members=members, configs=configs)
    with served(fake):
        yield fake


def test_configuration_and_members_are_those_of_now(cluster: FakeCluster, capsys: pytest.CaptureFixture[str]) -> None:
    told = of_cluster(f"kafka://{cluster.bootstrap}", "workers", Client(), Settings())
    assert told == Settings(lock_duration_ms=45_000, delivery_limit=7, members=3)
    assert capsys.readouterr().err == ""


def test_a_group_without_members_has_one(cluster: FakeCluster, capsys: pytest.CaptureFixture[str]) -> None:
    told = of_cluster(f"kafka://{cluster.bootstrap}", "nobody", Client(), Settings())
    assert told == Settings(lock_duration_ms=45_000, delivery_limit=7)
    assert "the group has no members now: 1 is taken" in capsys.readouterr().err


def test_a_configuration_that_may_not_be_seen_is_told(cluster: FakeCluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.denied = {CONFIGS}
    assert of_cluster(f"kafka://{cluster.bootstrap}", "workers", Client(), Settings()) == Settings(members=3)
    assert "the group's configuration is not known" in capsys.readouterr().err


def test_a_cluster_that_does_not_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert of_cluster("kafka://127.0.0.1:1", "workers", Client(timeout=1.0), Settings()) == Settings()
    assert "today's settings are not known" in capsys.readouterr().err


def test_a_path_is_not_asked(tmp_path: Path) -> None:
    assert of_cluster(str(tmp_path), "workers", Client(), Settings(members=2)) == Settings(members=2)
