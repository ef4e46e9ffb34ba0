"""The exporter: its numbers by Prometheus' own parser, its page, logins, TLS, and its end."""

from __future__ import annotations

import asyncio
import base64
import re
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest
import trustme
from prometheus_client import Metric as Family
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

import share_state as ss
from share_state.live import LiveView
from share_state.live.exporter import readings
from share_state.live.metric_table import METRICS, as_markdown
from share_state.monitoring.metric import Kind
from tests.python.cli_runner import COMMAND, environment, run
from tests.python.live.fake_cluster import LIST_OFFSETS, FakeCluster, member, served
from tests.python.recordings import REPOSITORY

ORDERS = UUID(int=1)
NOBODY = "kafka://127.0.0.1:1"
HEALTHY = ("workers", "orders", "0")
POISONED = ("workers", "orders", "1")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    log = tmp_path / "log"
    with ss.open(log, partitions=1) as store:
        for partition, batches in (
            (0, [(0, 4, 2, 1)]),
            (1, [(0, 0, 0, 4), (1, 9, 2, 1), (10, 10, 4, 4), (11, 12, 4, 1)]),
        ):
            key = ss.SharePartitionKey("workers", str(ORDERS), partition)
            store.initialize_state(key, 0, 0)
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


@contextmanager
def exporting(cluster: FakeCluster, *options: str | Path, says: str = "") -> Iterator[str]:
    """The command as a user starts it; the address of its metrics. What it logs holds `says`."""
    command = [*COMMAND, "exporter", f"kafka://{cluster.bootstrap}", "--listen", "127.0.0.1:0", *map(str, options)]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            match = re.fullmatch(r"serving (https?://127\.0\.0\.1:\d+)/metrics\n", line)
            assert match, (line, process.stderr and process.stderr.read())
            yield match[1]
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
            assert process.returncode == 0
            assert (says in said) if says else not said
        finally:
            process.kill()


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
    """Those of a metric, by the values of its labels in the order of the table."""
    (labels,) = (metric.labels for metric in METRICS if metric.name == name)
    return {tuple(sample.labels[label] for label in labels): sample.value for sample in found[name].samples}


def test_the_numbers(cluster: FakeCluster) -> None:
    with exporting(cluster) as address:
        found = families(address)
    assert set(found) == {metric.name for metric in METRICS}
    for metric in METRICS:
        family = found[metric.name]
        assert (family.type, family.documentation) == (metric.kind, metric.text)
        assert all(set(sample.labels) == set(metric.labels) for sample in family.samples)
    assert values(found, "share_group_start_offset") == {HEALTHY: 0, POISONED: 0}
    assert values(found, "share_group_log_end_offset") == {HEALTHY: 5, POISONED: 20}
    assert values(found, "share_group_lag_records") == {HEALTHY: 0, POISONED: 8}
    window = values(found, "share_group_window_records")
    assert {state: window[*POISONED, state] for state in ("available", "acknowledged", "archiving", "archived")} == {
        "available": 1,
        "acknowledged": 9,
        "archiving": 0,
        "archived": 3,
    }
    assert values(found, "share_group_delivered_records") == {(*HEALTHY, "1"): 5, (*POISONED, "1"): 11, (*POISONED, "4"): 2}
    assert values(found, "share_group_head_blocked") == {(*POISONED, "available"): 1}
    assert 0 <= values(found, "share_group_head_blocked_seconds")[POISONED] < 60
    assert values(found, "share_group_health") == {(*HEALTHY, "OK"): 1, (*POISONED, "POISON"): 1}
    settled = values(found, "share_group_settled_records")
    outcomes = ("accepted", "rejected", "delivery_limit", "dead_letter", "passed_available", "passed_unknown")
    assert [settled[*POISONED, outcome] for outcome in outcomes] == [9, 2, 1, 0, 0, 0]
    assert values(found, "share_group_anomalies") == {(*POISONED, "late_or_poison"): 1}
    assert values(found, "share_group_released_records") == {HEALTHY: 0, POISONED: 1}
    assert values(found, "share_group_members") == {("workers",): 1, ("idle",): 0}
    assert values(found, "share_group_state") == {("workers", "Stable"): 1, ("idle", "Empty"): 1}
    assert values(found, "share_state_topic_read_offset") == {("0",): 4}
    assert values(found, "share_state_topic_needed_offset") == {("0",): 0}
    assert values(found, "share_exporter_behind_offsets") == {(): 0}
    assert values(found, "share_exporter_share_partitions") == {(): 2}
    assert values(found, "share_exporter_problems") == {(): 0}


def test_it_goes_on_while_the_cluster_is_away(cluster: FakeCluster) -> None:
    says = "cannot be seen: source='log end offsets' reason='DESCRIBE on the topic orders is missing'"
    with exporting(cluster, "--refresh", "0.1", "--timeout", "1", says=says) as address:
        cluster.denied = {LIST_OFFSETS}
        until = time.monotonic() + 30
        while not values(found := families(address), "share_exporter_problems")[()]:
            assert time.monotonic() < until
            time.sleep(0.1)
        # What is not known is absent.
        assert values(found, "share_group_lag_records") == {}
        assert values(found, "share_group_start_offset") == {HEALTHY: 0, POISONED: 0}
        assert values(found, "share_exporter_failures")[()] > 0
        assert get(f"{address}/healthz")[::2] == (200, "ok\n")
        assert get(f"{address}/")[::2] == (404, "/metrics, /healthz\n")


def test_openmetrics_is_there_for_those_who_ask(cluster: FakeCluster) -> None:
    with exporting(cluster) as address:
        status, content_type, text = get(f"{address}/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert (status, content_type.partition(";")[0]) == (200, "application/openmetrics-text")
    told = openmetrics_families(text)  # type: ignore[no-untyped-call]
    assert {family.name for family in told} == {metric.name for metric in METRICS}


def test_it_serves_https_and_asks_for_a_login(cluster: FakeCluster, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    for number, part in enumerate(certificate.cert_chain_pems):
        part.write_to_path(tmp_path / "cert.pem", append=number > 0)
    users = tmp_path / "users"
    users.write_text("prometheus:geheim:ß\n", encoding="utf-8")
    tls = ssl.create_default_context()
    authority.configure_trust(tls)
    options = ("--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem", "--users", users)
    with exporting(cluster, *options) as address:
        assert address.startswith("https://")

        def status(login: str) -> int:
            return get(f"{address}/metrics", tls=tls, Authorization=login)[0]

        right = base64.b64encode("prometheus:geheim:ß".encode()).decode()
        wrong = base64.b64encode(b"prometheus:geheim").decode()
        nobody = base64.b64encode(b"nobody:").decode()
        assert status(f"Basic {right}") == status(f"basic {right}") == 200
        assert {status(login) for login in ("", "Basic", f"Basic {wrong}", f"Basic {nobody}", f"Bearer {right}", "Basic ß")} == {
            401
        }
        assert get(f"{address}/metrics", tls=tls)[0] == 401
        assert get(f"{address}/healthz", tls=tls)[0] == 200


def test_of_too_many_share_partitions_those_with_the_greatest_lag_are_told(cluster: FakeCluster) -> None:
    async def view() -> dict[str, list[tuple[tuple[str, ...], object]]]:
        async with LiveView(cluster.bootstrap) as live:
            return dict(readings(await live.refresh(), live.places(), 0.0, 1))  # type: ignore[arg-type]

    found = asyncio.run(view())
    assert found["share_group_lag_records"] == [(POISONED, 8)]
    assert found["share_exporter_share_partitions"] == [((), 2)]
    assert found["share_exporter_left_out_share_partitions"] == [((), 1)]
    assert len(found["share_group_members"]) == 2


def test_the_page_is_made_of_the_table() -> None:
    text = (REPOSITORY / "docs" / "exporter-metrics.md").read_text(encoding="utf-8")
    assert text.partition("<!-- table: share_state.live.metric_table -->\n")[2] == as_markdown()


def test_names_follow_the_rules() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names) == 21
    for metric in METRICS:
        assert re.fullmatch(r"share_(group|state_topic|exporter)_[a-z]+(_[a-z]+)*", metric.name), metric.name
        assert not metric.name.endswith(("_total", "_count", "_sum", "_ms")), metric.name
        assert metric.kind in {Kind.COUNTER, Kind.GAUGE}
        assert metric.text.endswith("."), metric.name


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        ((NOBODY, "--listen", "127.0.0.1:0"), 3, f"cannot read {NOBODY}: 127.0.0.1:1: Connection refused"),
        (("somewhere", "--listen", "127.0.0.1:0"), 2, "somewhere is not a cluster"),
        ((NOBODY, "--listen", "somewhere"), 2, "expected HOST:PORT"),
        ((NOBODY, "--listen", "127.0.0.1:0", "--users", "/nowhere"), 2, "/nowhere cannot be read"),
        ((NOBODY, "--listen", "127.0.0.1:0", "--tls-cert", "/nowhere"), 2, "need each other"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], status: int, reason: str) -> None:
    ran = run("exporter", *arguments)
    assert ran.returncode == status
    assert reason in " ".join(ran.stderr.replace("│", "").split())
