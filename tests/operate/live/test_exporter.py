"""The exporter: its numbers by Prometheus' own parser, its page, logins, TLS, and its end."""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families

import share_state as ss
from share_state.operate.live import GroupView, Health, LiveRow, LiveView, SharePartitionView, Verdict, View
from share_state.operate.live.exporter import readings
from share_state.operate.live.heads import Head
from share_state.operate.live.metric_table import METRICS, NAMESPACES, SERIES_A_SHARE_PARTITION, as_markdown
from share_state.operate.live.state_topic import StatePartitionPlace
from share_state.operate.monitoring.exposition import exposition
from share_state.operate.monitoring.metric import Kind
from tests.cli_runner import run
from tests.operate.live.exporting import HEALTHY, ORDERS, POISONED, a_cluster, exporting, families, get, values
from tests.operate.live.fake_cluster import LIST_OFFSETS, FakeCluster
from tests.recordings import REPOSITORY

NOBODY = "kafka://127.0.0.1:1"
STATE_TOPIC = ("read_offset", "needed_offset", "size_offsets", "redundant_offsets")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    with a_cluster(tmp_path / "log") as fake:
        yield fake


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
    assert 0 <= values(found, "share_group_oldest_unsettled_seconds")[POISONED] < 60
    assert values(found, "share_group_redelivered_records") == {HEALTHY: 0, POISONED: 2}
    assert values(found, "share_group_window_offsets") == {HEALTHY: 5, POISONED: 13}
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
    assert values(found, "share_state_topic_size_offsets") == {("0",): 4}
    assert values(found, "share_state_topic_redundant_offsets") == {("0",): 0}
    assert values(found, "share_exporter_behind_offsets") == {(): 0}
    assert values(found, "share_exporter_info") == {(ss.__version__,): 1}
    assert values(found, "share_exporter_groups") == {(): 2}
    assert values(found, "share_exporter_otlp_failures") == {}
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
        assert get(f"{address}/metrics", Accept="text/plain;version=0.0.4")[1] == "text/plain; version=0.0.4; charset=utf-8"
        status, content_type, text = get(f"{address}/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert (status, content_type.partition(";")[0]) == (200, "application/openmetrics-text")
    told = openmetrics_families(text)  # type: ignore[no-untyped-call]
    assert {family.name for family in told} == {metric.name for metric in METRICS}


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain; version=0.0.4"),
        ("*/*", "text/plain; version=0.0.4"),
        ("text/plain", "text/plain; version=0.0.4"),
        ("text/plain;version=0.0.4", "text/plain; version=0.0.4"),
        ("text/plain; version=0.0.4; charset=utf-8", "text/plain; version=0.0.4"),
        ("text/plain;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.6", "text/plain; version=0.0.4"),
        ("text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4", "text/plain; version=1.0.0"),
        ("application/openmetrics-text", "application/openmetrics-text; version=1.0.0"),
        ("application/openmetrics-text;version=0.0.1;q=0.9,text/plain;version=0.0.4;q=0.3", "text/plain; version=0.0.4"),
        ("application/openmetrics-text;q=0,text/plain;version=0.0.4", "text/plain; version=0.0.4"),
        ("text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.1", "text/plain; version=0.0.4"),
        ("text/plain;version=abc;q=x,,;;=", "text/plain; version=0.0.4"),
        (
            # As Prometheus asks.
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;q=0.4,*/*;q=0.2",
            "application/openmetrics-text; version=1.0.0",
        ),
    ],
)
def test_the_form_is_the_one_that_was_asked_for(accept: str, content_type: str) -> None:
    told, text = exposition(METRICS, {"share_group_members": [(("workers",), 2)]}, accept)
    assert told == f"{content_type}; charset=utf-8"
    assert text.decode().endswith("# EOF\n") == (content_type.partition(";")[0] == "application/openmetrics-text")


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
    assert found["share_group_members"] == [(("workers",), 1)]
    assert found["share_exporter_groups"] == [((), 2)]
    assert found["share_exporter_left_out_groups"] == [((), 1)]


def test_how_much_of_the_state_topic_is_redundant() -> None:
    places = {
        0: StatePartitionPlace(read=9, needed=5, log_start=2, log_end=12),
        # Pruned beyond the snapshot that was read, and not known yet.
        1: StatePartitionPlace(read=9, needed=5, log_start=7, log_end=12),
        2: StatePartitionPlace(read=9, needed=None, log_start=2, log_end=12),
        3: StatePartitionPlace(read=0, needed=None, log_start=None, log_end=None),
    }
    found = readings(View(0, (), None, (), 0), places, 0.0, 1)
    told = {name: {labels[0]: value for labels, value in found[f"share_state_topic_{name}"]} for name in STATE_TOPIC}
    assert told == {
        "read_offset": {"0": 9, "1": 9, "2": 9, "3": 0},
        "needed_offset": {"0": 5, "1": 5},
        "size_offsets": {"0": 10, "1": 5, "2": 10},
        "redundant_offsets": {"0": 3, "1": 0},
    }
    # As far as nothing is known, nothing is told.
    assert found["share_exporter_behind_offsets"] == []


def test_a_share_partition_has_no_more_series_than_the_page_says() -> None:
    place, told = ("workers", str(ORDERS), 0, 0, 0, 0, 7, 3, 30), tuple((count, 1) for count in range(40))
    window, totals = (1, 2, 3, 4, told, 7, 0, 9, 1_000, 0, 0, 0, 0), (1, 2, 3, ((1, 1), (5, 2), (9, 3)), 4, 5, None, None)
    row = LiveRow._make(place + window + totals)
    one = SharePartitionView("workers", str(ORDERS), 0, "orders", row, 40, 33, (), None, Verdict(Health.OK, ""))
    view = View(2_000, (GroupView("workers", "Stable", (), {}, (one,)),), 0, (), 0)
    found = readings(view, {}, 0.0, 1)
    series = [(name, labels) for name, told in found.items() for labels, _ in told if labels[:3] == ("workers", "orders", "0")]
    assert len(set(series)) == len(series) == SERIES_A_SHARE_PARTITION
    # Of a lag in which no record waits, nobody is paged.
    assert found["share_group_no_record_waits"] == []
    for lag, head, told_so in ((33, Head(None, None), [1]), (0, Head(None, None), []), (33, Head(12, 0), [])):
        group = GroupView("workers", "Stable", (), {}, (one._replace(lag=lag, head=head),))
        found = readings(View(2_000, (group,), 0, (), 0), {}, 0.0, 1)
        assert [value for _, value in found["share_group_no_record_waits"]] == told_so
    page = (REPOSITORY / "docs" / "exporter-metrics.md").read_text(encoding="utf-8")
    assert f"has at most {SERIES_A_SHARE_PARTITION} series" in " ".join(page.split())


def test_the_page_is_made_of_the_table() -> None:
    text = (REPOSITORY / "docs" / "exporter-metrics.md").read_text(encoding="utf-8")
    assert text.partition("<!-- table: share_state.operate.live.metric_table -->\n")[2] == as_markdown()


def test_names_follow_the_rules() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names) == 30
    for metric in METRICS:
        assert re.fullmatch(rf"({'|'.join(NAMESPACES)})_[a-z]+(_[a-z]+)*", metric.name), metric.name
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
