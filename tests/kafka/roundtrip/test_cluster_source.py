"""A cluster as a source of the command line, where there is none to be read. With one: :mod:`.test_kafka_writes`."""

from __future__ import annotations

import sys

import pytest

from share_state.reading import cluster
from share_state.reading.cluster import ClientMissingError, ClusterReadError, ClusterScan
from tests.python.cli_runner import run

#: Nothing listens on the port of tcpmux.
NOBODY = "kafka://127.0.0.1:1"


def test_without_the_client_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ClientMissingError, match=r"pip install '\.\[kafka\]' in the checkout"):
        list(ClusterScan("kafka://127.0.0.1:9092"))


@pytest.mark.parametrize("address", ["kafka://", "kafka://host:9092/topic", "kafka:///"])
def test_what_is_no_address_is_refused(address: str) -> None:
    ran = run("state", address)
    assert ran.returncode == 3
    assert ran.stdout == ""
    assert ran.stderr == f"share-state: cannot read {address}: expected kafka://HOST:PORT[,HOST:PORT...]\n"


def test_a_cluster_that_does_not_answer_is_an_error_with_the_clients_own_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 1.0)
    with pytest.raises(ClusterReadError, match=r"127\.0\.0\.1:1 failed: Connection refused"):
        cluster.fold_cluster(ClusterScan(NOBODY))


def test_the_client_is_loaded_for_a_cluster_only() -> None:
    ran = run("state", "no-such-directory", PYTHONPROFILEIMPORTTIME="1")
    assert ran.returncode == 3
    assert "share_state.reading.cluster" in ran.stderr
    assert "confluent_kafka" not in ran.stderr
