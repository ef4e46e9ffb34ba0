"""The exporter towards an OpenTelemetry collector: the same numbers by the same table, and what it survives."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, Metric

import share_state as ss
from share_state.errors import ConfigError
from share_state.operate.live.exporter import collector
from share_state.operate.live.metric_table import METRICS, NAMESPACES
from share_state.operate.monitoring import otlp
from share_state.operate.monitoring.exposition import Readings, Times
from share_state.operate.monitoring.metric import Kind
from share_state.operate.monitoring.metric import Metric as OfTheTable
from share_state.operate.monitoring.otlp import instrument_of
from tests.cli_runner import run
from tests.operate.live.exporting import a_cluster, exporting, families, started, values
from tests.operate.live.fake_cluster import FakeCluster

NOBODY = "http://127.0.0.1:1/v1/metrics"
#: They count seconds, so no two moments give the same.
CLOCKS = {"share_exporter_view_age_seconds", "share_group_oldest_unsettled_seconds"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    with a_cluster(tmp_path / "log") as fake:
        yield fake


@dataclass
class Receiver:
    """A collector.

    Attributes:
        status: of its answers.
        taken: the requests that it has answered so, by the status.
    """

    status: int = 200
    taken: dict[int, list[ExportMetricsServiceRequest]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ""

    def wait(self, status: int, more_than: int = 0) -> ExportMetricsServiceRequest:
        """Wait until so many requests were answered with a status; the latest of them."""
        until = time.monotonic() + 30
        while len(self.taken.get(status, ())) <= more_than:
            assert time.monotonic() < until, self.taken.keys()
            time.sleep(0.02)
        return self.taken[status][-1]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.status if self.path == "/v1/metrics" else 404
            receiver.headers = dict(self.headers)
            receiver.taken.setdefault(status, []).append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/v1/metrics"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


def told(request: ExportMetricsServiceRequest) -> dict[str, Metric]:
    (resource,) = request.resource_metrics
    attributes = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert (attributes["service.name"], attributes["service.version"]) == ("share-state-exporter", ss.__version__)
    (scope,) = resource.scope_metrics
    return {metric.name: metric for metric in scope.metrics}


def numbers(metric: Metric, labels: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    data = metric.sum if metric.HasField("sum") else metric.gauge
    found: dict[tuple[str, ...], float] = {}
    for point in data.data_points:
        attributes = {one.key: one.value.string_value for one in point.attributes}
        place = tuple(attributes.pop(label) for label in labels)
        assert not attributes
        assert place not in found
        assert point.time_unix_nano > 0
        found[place] = point.as_int if point.HasField("as_int") else point.as_double
    return found


def test_a_collector_gets_the_numbers_of_the_page(cluster: FakeCluster) -> None:
    with receiving() as receiver, exporting(cluster, "--otlp", receiver.url, "--otlp-interval", "0.1") as address:
        page = families(address)
        sent = told(receiver.wait(200))
    compared = 0
    for metric in METRICS:
        instrument = instrument_of(metric, NAMESPACES)
        expected = values(page, metric.name)
        if not expected:
            assert instrument.name not in sent
            continue
        one = sent.pop(instrument.name)
        assert (one.unit, one.description) == (instrument.unit, metric.text)
        assert one.HasField("sum") == (metric.kind is Kind.COUNTER)
        if metric.kind is Kind.COUNTER:
            assert one.sum.is_monotonic
            assert one.sum.aggregation_temporality == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
            assert all(0 < point.start_time_unix_nano <= point.time_unix_nano for point in one.sum.data_points)
        got = numbers(one, metric.labels)
        assert got.keys() == expected.keys()
        if metric.name not in CLOCKS:
            assert got == expected, metric.name
        compared += 1
    assert (compared, sent) == (29, {})


def test_a_collector_that_refuses_is_counted_logged_once_and_tried_again(cluster: FakeCluster) -> None:
    def failures(request: ExportMetricsServiceRequest) -> float:
        return numbers(told(request)["share_exporter.otlp_failures"], ())[()]

    with receiving() as receiver:
        options = ("--otlp", receiver.url, "--otlp-interval", "0.1")
        with started(cluster, *options, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x") as process:
            assert process.begins == "sending metrics\n"
            assert failures(receiver.wait(200)) == 0
            assert receiver.headers["authorization"] == "Bearer x"
            # Not one that the SDK tries again within seconds.
            receiver.status = 400
            receiver.wait(400, more_than=2)
            receiver.status = 307
            receiver.wait(307, more_than=2)
            receiver.status = 200
            refused = sum(len(requests) for status, requests in receiver.taken.items() if status != 200)
            latest = receiver.wait(200, more_than=len(receiver.taken[200]) + 1)
            assert failures(latest) >= refused >= 6
    lines = [re.sub(r"^\S+ \S+ ", "", line) for line in process.log.splitlines()]
    begins = "WARNING share_state.monitoring: the collector"
    assert lines == [
        f"{begins} does not take the metrics: endpoint='{receiver.url}' reason='400 Bad Request'",
        f"{begins} does not take the metrics: endpoint='{receiver.url}' reason='307 Temporary Redirect'",
        f"{begins} takes the metrics again: endpoint='{receiver.url}'",
    ]


def test_without_a_collector_it_serves_on_and_ends_at_once(cluster: FakeCluster) -> None:
    options = ("--listen", "127.0.0.1:0", "--otlp", NOBODY, "--otlp-interval", "0.1")
    with started(cluster, *options) as process:
        pass
    # The SDK would have tried for ten seconds: what is given up is no failure.
    assert not process.log
    with started(cluster, *options, OTEL_EXPORTER_OTLP_TIMEOUT="0.2") as process:
        address = process.begins.removeprefix("serving ").removesuffix("/metrics\n")
        until = time.monotonic() + 30
        while not values(families(address), "share_exporter_otlp_failures")[()] > 1:
            assert time.monotonic() < until
            time.sleep(0.05)
    assert process.log.count("\n") == 1
    assert f"does not take the metrics: endpoint='{NOBODY}' reason='Connection refused'" in process.log


def test_prometheus_names_come_back_from_those_of_opentelemetry() -> None:
    """By the rules of OpenTelemetry's compatibility page: dots, then the unit, then `_total`; annotations are no units."""
    assert len(METRICS) == 30
    for metric in METRICS:
        name, unit = instrument_of(metric, NAMESPACES)
        assert re.fullmatch(r"share_(group|state_topic|exporter)\.[a-z]+(_[a-z]+)*", name), name
        words = {"s": "_seconds", "": "", "{record}": "", "{offset}": ""}
        total = "_total" if metric.kind is Kind.COUNTER else ""
        assert name.replace(".", "_") + words[unit] + total == metric.exposed
        assert unit != "s" or "seconds" not in name


@pytest.mark.parametrize(
    "url",
    [
        "collector:4318",
        "grpc://collector:4317",
        "http://",
        "http://:4318/v1/metrics",
        "http://collector:x/v1/metrics",
        "http://collector:0/v1/metrics",
        "http://[::1/v1/metrics",
        "http://me:geheim@collector:4318/v1/metrics",
        "",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        collector(url)
    assert refused.value.field == "otlp"
    assert "geheim" not in str(refused.value)


def test_many_points_go_in_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "_POINTS", 4)
    metrics = [metric for metric in METRICS if metric.labels == ("group", "topic", "partition")][:3]
    counts = (3, 0, 6)
    found: Readings = {
        metric.name: [(("workers", "orders", str(number)), float(number)) for number in range(count)]
        for metric, count in zip(metrics, counts, strict=True)
    }
    with receiving() as receiver:
        sending = collector(receiver.url)
        assert sending.send(metrics, found)
        requests = receiver.taken.pop(200)
        receiver.status = 400
        assert not sending.send(metrics, found)
        sending.close()
    # Nothing is sent after a part that was refused.
    assert (len(requests), len(receiver.taken[400]), sending.failures) == (3, 1, 1)
    parts = [told(request) for request in requests]
    points = [sum(len(numbers(one, metrics[0].labels)) for one in part.values()) for part in parts]
    assert points == [4, 4, 1]
    for metric, count in zip(metrics, counts, strict=True):
        name = instrument_of(metric, NAMESPACES).name
        got = [place for part in parts if name in part for place in numbers(part[name], metric.labels).items()]
        assert got == found[metric.name]
        assert len(got) == count


def test_times_are_refused() -> None:
    metric = OfTheTable("share_group_seconds", Kind.HISTOGRAM, (), (), "")
    sending = collector("http://127.0.0.1:1/v1/metrics")
    try:
        with pytest.raises(TypeError, match="share_group_seconds: times in buckets are not sent"):
            sending.send([metric], {metric.name: [((), Times())]})
    finally:
        sending.close()
    assert sending.failures == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "one of --listen and --otlp is needed"),
        (("--otlp", "collector:4318"), "expected http://HOST:PORT/v1/metrics, not 'collector:4318'"),
        (("--otlp", "http://127.0.0.1:1", "--users", "/nowhere"), "need --listen"),
        (("--otlp", "http://127.0.0.1:1", "--otlp-interval", "0"), "'--otlp-interval'"),
    ],
)
def test_options_that_cannot_be_are_refused(options: tuple[str, ...], reason: str) -> None:
    ran = run("exporter", "kafka://127.0.0.1:1", *options)
    assert ran.returncode == 2
    assert reason in " ".join(ran.stderr.replace("│", "").split())
