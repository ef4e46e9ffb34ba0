"""Metrics by Prometheus' own parser, their page, health and readiness."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prometheus_client import Metric as Family
from prometheus_client.parser import text_string_to_metric_families

from share_state.gateway import ShareGateway
from share_state.gateway.metric_table import METRICS, UNSERVED, as_markdown
from share_state.kafka.client.peers import Address
from share_state.operate.monitoring.exposition import BOUNDS, Times
from share_state.operate.monitoring.metric import Kind
from tests.gateway.serving import RECORDS, TOPIC, drain, fetch, heartbeat, serving, topic_id, upstream
from tests.gateway.wire.connection import Connection

ANYWHERE = Address("127.0.0.1", 0)
PAGE = Path(__file__).parents[3] / "docs" / "gateway-metrics.md"


def get(gateway: ShareGateway, path: str) -> tuple[int, str]:
    assert gateway.metrics_address is not None
    host, port = gateway.metrics_address
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def families(gateway: ShareGateway) -> dict[str, Family]:
    status, text = get(gateway, "/metrics")
    assert status == 200
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(found: dict[str, Family], name: str, **labels: str) -> float:
    family = found[name.removesuffix("_total").removesuffix("_count")]
    (sample,) = [one for one in family.samples if one.name == name and labels.items() <= one.labels.items()]
    return float(sample.value)


def test_numbers_of_a_drained_topic(bootstrap: str, tmp_path: Path) -> None:
    with serving(bootstrap, tmp_path, metrics=ANYWHERE) as gateway:
        with Connection(gateway.bootstrap_servers) as connection:
            assert connection.ask("ShareGroupHeartbeat", 1, heartbeat("other"))["errorCode"] == 0
            place = topic_id(connection)
            answer = connection.ask("ShareFetch", 1, fetch("other", 0, [(place, 0)], maxWaitMs=10_000), complete=False)
            assert answer["responses"][0]["partitions"][0]["acquiredRecords"]
            found = families(gateway)
            labels = {"group": "other", "topic": TOPIC, "partition": "0"}
            assert value(found, "share_gateway_lag_records", **labels) == RECORDS
            assert 0 <= value(found, "share_gateway_deliverable_age_seconds", **labels) < 3600
            assert value(found, "share_gateway_in_flight_records", **labels, state="Acquired") > 0
            assert value(found, "share_gateway_share_sessions") == 1
            assert value(found, "share_gateway_connections") == 1
        assert drain(gateway) == RECORDS
        found = families(gateway)
    assert set(found) == {metric.name for metric in METRICS}
    for metric in METRICS:
        family = found[metric.name]
        assert (family.type, family.documentation) == (metric.kind, metric.text)
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == set(metric.labels)
    assert value(found, "share_gateway_lag_records", group="group", topic=TOPIC, partition="1") == 0
    assert value(found, "share_gateway_deliverable_age_seconds", group="group", topic=TOPIC, partition="1") == 0
    assert value(found, "share_gateway_groups", state="Empty") + value(found, "share_gateway_groups", state="Stable") == 2
    assert value(found, "share_gateway_request_seconds_count", api="ShareFetch") >= 2
    assert value(found, "share_gateway_fetched_partitions_total", topic=TOPIC) >= 2
    assert value(found, "share_gateway_upstream_fetch_bytes_total") > 0
    assert value(found, "share_gateway_log_records_total", log="groups") > 0


def test_acknowledgements_and_errors_are_counted(bootstrap: str, tmp_path: Path) -> None:
    with serving(bootstrap, tmp_path, metrics=ANYWHERE) as gateway, Connection(gateway.bootstrap_servers) as connection:
        place = topic_id(connection)
        connection.ask("ShareGroupHeartbeat", 1, heartbeat("g"))
        connection.ask("ShareFetch", 1, fetch("g", 0, [(place, 0)], maxWaitMs=10_000), complete=False)
        batches = [
            {"firstOffset": 0, "lastOffset": 2, "acknowledgeTypes": [1]},
            {"firstOffset": 3, "lastOffset": 5, "acknowledgeTypes": [2, 3, 3]},
            {"firstOffset": 900, "lastOffset": 900, "acknowledgeTypes": [1]},
        ]
        for epoch, chosen in ((1, batches[:2]), (2, batches[2:]), (9, batches[:1])):
            asked = {"groupId": "g", "memberId": "A" * 22, "shareSessionEpoch": epoch}
            topics = [{"topicId": place, "partitions": [{"partitionIndex": 0, "acknowledgementBatches": chosen}]}]
            connection.ask("ShareAcknowledge", 1, {**asked, "topics": topics})
        found = families(gateway)
    counted = {
        kind: value(found, "share_gateway_acknowledged_records_total", type=kind) for kind in ("Accept", "Release", "Reject")
    }
    assert counted == {"Accept": 4, "Release": 1, "Reject": 2}
    assert value(found, "share_gateway_acknowledged_partitions_total", topic=TOPIC) == 2
    assert value(found, "share_gateway_acknowledged_partitions_failed_total", topic=TOPIC) == 1
    assert value(found, "share_gateway_request_errors_total", api="ShareAcknowledge", code="123") == 1
    assert value(found, "share_gateway_acknowledge_write_seconds_count") >= 1


def test_health_and_readiness(tmp_path: Path) -> None:
    with upstream() as bootstrap, serving(bootstrap, tmp_path / "ready", metrics=ANYWHERE) as gateway:
        assert get(gateway, "/healthz") == (200, "ok\n")
        assert get(gateway, "/readyz") == (200, "ready\n")
        assert get(gateway, "/metrics?name=x")[0] == 200
        assert get(gateway, "/")[0] == 404
        gateway.plane.is_failing = True
        gateway._groups.is_failing = True
        assert get(gateway, "/readyz") == (
            503,
            "the log of share partitions takes no writes\nthe log of groups takes no writes\n",
        )
    with serving("127.0.0.1:1", tmp_path / "alone", metrics=ANYWHERE) as gateway:
        status, said = get(gateway, "/readyz")
        assert (status, said.partition(":")[0]) == (503, "upstream does not answer")
        assert get(gateway, "/healthz")[0] == 200
        # Numbers come without upstream too; nobody knows a lag then.
        assert not families(gateway)["share_gateway_lag_records"].samples


@pytest.mark.parametrize("form", ["text/plain; version=0.0.4", "application/openmetrics-text; version=1.0.0"])
def test_a_scrape_has_the_form_that_is_asked_for(bootstrap: str, tmp_path: Path, form: str) -> None:
    with serving(bootstrap, tmp_path, metrics=ANYWHERE) as gateway:
        assert gateway.metrics_address is not None
        host, port = gateway.metrics_address
        asked = urllib.request.Request(f"http://{host}:{port}/metrics", headers={"Accept": form.replace(" ", "")})
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310
            assert answer.headers["Content-Type"].startswith(form)


def test_the_page_is_made_of_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    mark = "<!-- table: share_state.gateway.metric_table -->\n"
    assert text.partition(mark)[2] == as_markdown()


def test_names_follow_the_rules() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names) == 52
    for metric in METRICS:
        assert re.fullmatch(r"share_gateway_[a-z]+(_[a-z]+)*", metric.name), metric.name
        assert not metric.name.endswith(("_total", "_count", "_sum", "_ms")), metric.name
        assert metric.kind is not Kind.HISTOGRAM or metric.name.endswith("_seconds"), metric.name
        assert metric.text.endswith("."), metric.name
    kafka = [name for metric in METRICS for name in metric.kafka]
    assert len(kafka) == 34
    assert not set(kafka) & set(UNSERVED)


def test_buckets_of_times() -> None:
    times = Times()
    for seconds in (0.0, BOUNDS[0], BOUNDS[0] * 1.01, BOUNDS[-1] + 1):
        times.observe(seconds)
    assert (times.buckets[0], times.buckets[1], times.buckets[-1], sum(times.buckets)) == (2, 1, 1, 4)


WITHOUT = """
import sys
sys.modules["prometheus_client"] = None
sys.modules["jwt"] = None
sys.modules["scramp"] = None
from pathlib import Path
from share_state.util.extras import MissingPackageError
from share_state.gateway import GatewayOptions, ShareGateway
from share_state.gateway.tokens import SignedTokens
from share_state.kafka.client.peers import Address
from share_state.operate.monitoring.exposition import BOUNDS, Times
from share_state.operate.monitoring.metric import Kind
path = Path(sys.argv[1])
for make in (
    lambda: ShareGateway(GatewayOptions((Address("127.0.0.1", 1),), path, metrics=Address("127.0.0.1", 0))),
    lambda: SignedTokens(path),
):
    try:
        make()
    except MissingPackageError as missing:
        print(missing.field)
assert not path.exists()
import asyncio
asyncio.run(ShareGateway(GatewayOptions((Address("127.0.0.1", 1),), path, users={"a": "b"})).close())
"""


def test_the_packages_are_needed_by_who_asks_for_them(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", WITHOUT, str(tmp_path / "g")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, ["prometheus_client", "jwt"]), ran.stderr


@pytest.mark.parametrize("said", [b"", b"\r\n\r\n", b"POST /metrics HTTP/1.1\r\n\r\n", b"x" * 20_000, b"GET / HTTP/1.1\r\n"])
def test_what_is_no_request_of_http(bootstrap: str, tmp_path: Path, said: bytes) -> None:
    with serving(bootstrap, tmp_path, metrics=ANYWHERE) as gateway:
        assert gateway.metrics_address is not None
        with socket.create_connection(gateway.metrics_address, timeout=30) as connection:
            connection.sendall(said)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: connection.recv(4096), b""))
                assert answer == b"" or answer.startswith(b"HTTP/1.1 405 ")
        assert get(gateway, "/healthz")[0] == 200
