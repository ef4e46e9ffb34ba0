"""The exporter beside a broker that a test makes up: its process, its pages, its numbers."""

from __future__ import annotations

import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol
from uuid import UUID

from prometheus_client import Metric as Family
from prometheus_client.parser import text_string_to_metric_families

import share_state as ss
from share_state.operate.live.metric_table import METRICS
from tests import cli_runner
from tests.cli_runner import Process
from tests.operate.live.fake_cluster import FakeCluster, served
from tests.operate.live.fake_configs import member

ORDERS = UUID(int=1)
HEALTHY = ("workers", "orders", "0")
POISONED = ("workers", "orders", "1")


@contextmanager
def a_cluster(log: Path) -> Iterator[FakeCluster]:
    """Two share partitions of the group `workers`, one of them poisoned, and a group without members; its log is made there."""
    with ss.open(log, partitions=1) as store:
        for partition, batches in (
            (0, [(0, 4, 2, 1)]),
            (1, [(0, 0, 0, 4), (1, 9, 2, 1), (10, 10, 4, 4), (11, 12, 4, 1)]),
        ):
            key = ss.SharePartitionKey("workers", str(ORDERS), partition)
            store.reset_state(key, 0, 0)
            complete = sum(last - first + 1 for first, last, state, _ in batches if state in {2, 4})
            store.write_state(key, ss.WriteState(0, 0, 0, complete, [ss.StateBatch(*batch) for batch in batches]))
    fake = FakeCluster(
        log,
        ends={("orders", ORDERS): [5, 20]},
        members={"workers": [member("m-1", {ORDERS: [0, 1]})], "idle": []},
        configs={"workers": {"share.delivery.count.limit": "4"}},
    )
    with served(fake):
        yield fake


class Cluster(Protocol):
    """Cluster that can be exported: a made-up one, or a broker."""

    @property
    def bootstrap(self) -> str: ...


def started(cluster: Cluster, *options: str | Path, **variables: str) -> AbstractContextManager[Process]:
    """The exporter as a user starts it."""
    return cli_runner.started("exporter", f"kafka://{cluster.bootstrap}", *options, **variables)


@contextmanager
def exporting(cluster: Cluster, *options: str | Path, says: str = "") -> Iterator[str]:
    """The address of its metrics. What it logs holds `says`, and is nothing where that is empty."""
    with started(cluster, "--listen", "127.0.0.1:0", *options) as process:
        match = re.fullmatch(r"serving (https?://127\.0\.0\.1:\d+)/metrics\n", process.begins)
        assert match, process.begins
        yield match[1]
    assert (says in process.log) if says else not process.log, process.log


def get(url: str, *, tls: ssl.SSLContext | None = None, **headers: str) -> tuple[int, str, str]:
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - of a server that the test has started
    try:
        with urllib.request.urlopen(request, timeout=30, context=tls) as answer:  # noqa: S310 - as above
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers["Content-Type"], refused.read().decode()


def families(address: str) -> dict[str, Family]:
    status, _, text = get(f"{address}/metrics")
    assert status == 200
    return {family.name: family for family in text_string_to_metric_families(text)}


def values(found: dict[str, Family], name: str) -> dict[tuple[str, ...], float]:
    """Values of a metric, by the values of its labels in the order of the table."""
    (labels,) = (metric.labels for metric in METRICS if metric.name == name)
    return {tuple(sample.labels[label] for label in labels): sample.value for sample in found[name].samples}
