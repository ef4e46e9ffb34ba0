"""A cluster as a source of the command line, where there is none to be read. With one: :mod:`.test_kafka_writes`."""

from __future__ import annotations

import sys

import pytest

from share_state.operate.reading import cluster
from share_state.operate.reading.cluster import ClusterReadError, ClusterScan
from tests.cli_runner import run

#: Nothing listens on the port of tcpmux.
NOBODY = "kafka://127.0.0.1:1"


@pytest.mark.parametrize("address", ["kafka://", "kafka://host:9092/topic", "kafka:///"])
def test_what_is_no_address_is_refused(address: str) -> None:
    ran = run("state", address)
    assert ran.returncode == 3
    assert ran.stdout == ""
    assert ran.stderr == f"share-state: cannot read {address}: expected kafka://HOST:PORT[,HOST:PORT...]\n"


def test_a_cluster_that_nobody_serves_is_an_error_with_the_reason() -> None:
    with pytest.raises(ClusterReadError, match=r"^127\.0\.0\.1:1: Connection refused$"):
        cluster.fold_cluster(ClusterScan(NOBODY))


def test_no_package_of_others_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ClusterReadError, match="Connection refused"):
        list(ClusterScan(NOBODY))


def test_the_client_is_loaded_for_a_cluster_only() -> None:
    ran = run("state", "no-such-directory", PYTHONPROFILEIMPORTTIME="1")
    assert ran.returncode == 3
    assert "share_state.operate.reading.cluster" in ran.stderr
    assert "share_state.operate.reading.asking" not in ran.stderr
