"""What a scrape shows: every metric with its name, type, labels and value as Prometheus reads them; health and readiness."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, cast

import pytest
from prometheus_client.parser import text_string_to_metric_families

from share_state.gateway import monitoring, readings
from share_state.gateway.metric_table import METRICS, UNSERVED, as_markdown
from share_state.gateway.monitoring import Monitoring
from share_state.kafka.errors import BrokerUnreachableError
from share_state.kafka.peers import LostError
from share_state.monitoring.exposition import Readings, Times
from share_state.monitoring.http import Page

PLACE = ("group", "topic", "partition")
COUNTERS: dict[str, tuple[str, ...]] = {
    "request_errors": ("api", "code"),
    "malformed_requests": (),
    "fetched_partitions": ("topic",),
    "fetched_partitions_failed": ("topic",),
    "acknowledged_partitions": ("topic",),
    "acknowledged_partitions_failed": ("topic",),
    "hidden_errors": ("cause",),
    "acknowledged_records": ("type",),
    "fetch_asked_partitions": ("group",),
    "fetch_acquired_partitions": ("group",),
    "dead_lettered_records": PLACE,
    "lock_timeouts": PLACE,
    "expired_fetches": (),
    "log_writes": ("log",),
    "log_records": ("log",),
    "log_bytes": ("log",),
    "log_commits": ("log",),
    "log_syncs": ("log",),
    "log_pruned_segments": ("log",),
    "connections_accepted": (),
    "connections_refused": (),
    "tls_failures": (),
    "authentications": (),
    "authentications_failed": (),
    "upstream_fetch_bytes": (),
    "upstream_errors": ("code",),
    "upstream_back_reads": (),
    "upstream_truncations": (),
    "upstream_recreations": (),
}
GAUGES: dict[str, tuple[str, ...]] = {
    "info": ("version", "cluster_id", "generation"),
    "in_flight_records": (*PLACE, "state"),
    "lag_records": PLACE,
    "deliverable_age_seconds": PLACE,
    "share_sessions": (),
    "share_session_partitions": (),
    "waiting_fetches": (),
    "watched_partitions": (),
    "groups": ("state",),
    "share_partitions": ("state",),
    "connections": (),
    "queued_request_bytes": (),
    "unsent_answer_bytes": (),
    "upstream_ring_bytes": (),
    "upstream_silence_seconds": ("topic", "partition"),
}
TIMES: dict[str, tuple[str, ...]] = {
    "request_seconds": ("api",),
    "partition_load_seconds": (),
    "fetch_acquire_seconds": ("group",),
    "acknowledge_queue_seconds": (),
    "acknowledge_write_seconds": (),
    "acknowledge_settle_seconds": (),
    "upstream_fetch_seconds": (),
}


class Gateway:
    """The parts of a gateway that are asked."""

    def __init__(self) -> None:
        self.trouble: BaseException | None = None
        self.is_silent = False
        self.manager = SimpleNamespace(writes=SimpleNamespace(is_failing=False))
        self.groups = SimpleNamespace(is_failing=False)
        self.upstream = SimpleNamespace(control=SimpleNamespace(any=self._any))

    async def _any(self) -> None:
        if self.is_silent:
            await asyncio.Event().wait()
        if self.trouble is not None:
            raise self.trouble

    @property
    def monitoring(self) -> Monitoring:
        return Monitoring(cast("Any", self))

    def page(self, path: str) -> Page:
        """What is answered to a request for a page."""

        async def ask() -> Page:
            pages = self.monitoring._server._pages
            assert list(pages) == ["/metrics", "/healthz", "/readyz"]
            return await pages[path](cast("Any", None))

        return asyncio.run(ask())


def test_every_metric_has_its_kind_and_its_labels() -> None:
    assert len(METRICS) == len(COUNTERS) + len(GAUGES) + len(TIMES)
    kinds = {"counter": COUNTERS, "gauge": GAUGES, "histogram": TIMES}
    for kind, named in kinds.items():
        found = {metric.name: metric.labels for metric in METRICS if metric.kind == kind}
        assert found == {f"share_gateway_{name}": labels for name, labels in named.items()}


def test_a_scrape_shows_every_metric_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times()
    for seconds in (0.25, 0.25, 40.0):
        times.observe(seconds)
    found: Readings = {}
    for number, (name, labels) in enumerate({**COUNTERS, **GAUGES}.items()):
        found[f"share_gateway_{name}"] = [(tuple(f"the {label}" for label in labels), number)]
    for name, labels in TIMES.items():
        found[f"share_gateway_{name}"] = [(tuple(f"the {label}" for label in labels), times)]
    asked: list[Any] = []
    gateway = Gateway()

    async def read(parts: Any) -> Readings:
        asked.append(parts)
        return found

    monkeypatch.setattr(readings, "read", read)
    page = gateway.page("/metrics")
    assert asked == [gateway]
    assert (page.content_type.split(";")[0], page.status) == ("text/plain", "200 OK")
    assert page.content_type != Page(b"").content_type
    families = list(text_string_to_metric_families(page.body.decode()))
    assert [family.name for family in families] == [metric.name for metric in METRICS]
    samples = {sample.name: sample for family in families for sample in family.samples}
    for number, (name, labels) in enumerate({**COUNTERS, **GAUGES}.items()):
        shown = samples[f"share_gateway_{name}" + "_total" * (name in COUNTERS)]
        assert (shown.labels, shown.value) == ({label: f"the {label}" for label in labels}, number)
    for name, labels in TIMES.items():
        of = {label: f"the {label}" for label in labels}
        for suffix, value in (("count", 3), ("sum", 40.5)):
            shown = samples[f"share_gateway_{name}_{suffix}"]
            assert (shown.labels, shown.value) == (of, value)


def test_scrapes_have_one_turn_each(monkeypatch: pytest.MonkeyPatch) -> None:
    running = most = 0

    async def read(_: Any) -> Readings:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return {"share_gateway_info": [((version("share-state"), "c", "1"), 1)]}

    monkeypatch.setattr(readings, "read", read)

    async def both() -> list[Page]:
        pages = Gateway().monitoring._server._pages
        return await asyncio.gather(*(pages["/metrics"](cast("Any", None)) for _ in range(3)))

    pages = asyncio.run(both())
    assert most == 1
    assert {b'share_gateway_info{cluster_id="c",generation="1"' in page.body for page in pages} == {True}


READY = Page(b"ready\n", "text/plain; charset=utf-8", "200 OK")


def unready(*why: str) -> Page:
    return Page("".join(f"{one}\n" for one in why).encode(), "text/plain; charset=utf-8", "503 Service Unavailable")


def test_a_gateway_is_ready_while_upstream_answers_and_logs_take_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway()
    assert gateway.page("/healthz") == Page(b"ok\n", "text/plain; charset=utf-8", "200 OK")
    assert gateway.page("/readyz") == READY
    assert asyncio.run(gateway.monitoring.unready()) == []
    for trouble in (LostError("host:1", "it is gone", code=13, sent=False), BrokerUnreachableError("it is away", node="host:1")):
        gateway.trouble = trouble
        assert gateway.page("/readyz") == unready(f"upstream does not answer: {trouble}")
    gateway.trouble = None
    gateway.groups.is_failing = True
    assert gateway.page("/readyz") == unready("the log of groups takes no writes")
    gateway.groups.is_failing = False
    gateway.manager.writes.is_failing = True
    assert gateway.page("/readyz") == unready("the log of share partitions takes no writes")
    gateway.groups.is_failing = gateway.is_silent = True
    monkeypatch.setattr(monitoring, "_READY_TIME", 0.01)
    assert gateway.page("/readyz") == unready(
        "upstream does not answer in time", "the log of share partitions takes no writes", "the log of groups takes no writes"
    )
    assert gateway.page("/healthz").status == "200 OK"


def test_the_package_of_the_numbers_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(monitoring, "require", lambda *what: asked.append(what))
    assert Gateway().monitoring is not None
    assert asked == [("gateway", "prometheus_client")]


def test_the_page_has_a_line_for_each_metric_and_each_that_is_not_served() -> None:
    lines = as_markdown().split("\n")
    assert lines[:3] == [
        "| metric | kind | labels | what it says | Kafka |",
        "|---|---|---|---|---|",
        "| `share_gateway_info` | gauge | version, cluster_id, generation | 1; the labels name the gateway. | – |",
    ]
    end = 2 + len(METRICS)
    assert lines[end : end + 5] == ["", "## What Kafka has and the gateway does not", "", "| Kafka | why not |", "|---|---|"]
    assert lines[end + 5] == (
        "| `kafka.server:SharePartitionMetrics FetchLockTimeMs` | a fetch is served in one step from memory and needs no lock |"
    )
    assert lines[-2:] == ["| `kafka.network:RequestMetrics ResponseSendTimeMs` | the same |", ""]
    assert len(lines) == end + 5 + len(UNSERVED) + 1
