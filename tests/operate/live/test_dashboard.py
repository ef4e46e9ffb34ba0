"""The dashboard and the autoscaler of deploy/: their form, their names, and each query asked of a real Prometheus."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
import yaml

from share_state.operate.live.metric_table import METRICS
from tests.operate.live.exporting import a_cluster, get, started
from tests.operate.live.prometheus import JOB, SCRAPE_SECONDS, Prometheus, program, scraping
from tests.operate.live.promql import metrics_of, unknown_names
from tests.operate.live.test_alerts import rules
from tests.recordings import REPOSITORY

DASHBOARD: dict[str, Any] = json.loads((REPOSITORY / "deploy" / "grafana" / "share-state.json").read_text(encoding="utf-8"))
SCHEMA = json.loads(Path(__file__).with_name("grafana-dashboard.schema.json").read_text(encoding="utf-8"))
SCALED: dict[str, Any] = yaml.safe_load((REPOSITORY / "deploy" / "keda" / "scaledobject.yml").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
VARIABLES: list[dict[str, Any]] = DASHBOARD["templating"]["list"]
#: As a person chooses them; of `__rate_interval` Grafana makes at least four scrapes.
CHOSEN = {"job": JOB, "group": "workers", "topic": "orders", "partition": "1", "__rate_interval": f"{20 * SCRAPE_SECONDS:.0f}s"}


class Query(NamedTuple):
    panel: str
    text: str


QUERIES = [Query(panel["title"], target["expr"]) for panel in PANELS for target in panel.get("targets", ())]


def substituted(text: str) -> str:
    return re.sub(r"\$(\w+)", lambda found: CHOSEN[found[1]], text)


def test_the_dashboard_has_grafanas_form() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(DASHBOARD)
    # The schema lets nothing else in: a data source by its own name, for one.
    broken = json.loads(json.dumps(DASHBOARD).replace("${datasource}", "P1809F7CD0C75ACF3", 1))
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(broken)


def test_panels_have_names_and_places_of_their_own() -> None:
    assert (len(PANELS), len(QUERIES)) == (40, 44)
    assert DASHBOARD["uid"] == "share-state-groups"
    assert len({panel["id"] for panel in PANELS}) == len({panel["title"] for panel in PANELS}) == len(PANELS)
    taken: dict[tuple[int, int], str] = {}
    for panel in PANELS:
        grid = panel["gridPos"]
        assert grid["x"] + grid["w"] <= 24
        for place in ((x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])):
            assert place not in taken, (panel["title"], taken[place])
            taken[place] = panel["title"]
        letters = [target["refId"] for target in panel.get("targets", ())]
        assert letters == sorted(set(letters))


def test_queries_name_what_there_is() -> None:
    asked: set[str] = set()
    for query in QUERIES:
        assert unknown_names(substituted(query.text)) == set(), query
        assert metrics_of(query.text), query
        # Whatever is asked is of the job that was chosen.
        assert query.text.count('job=~"$job"') == len(re.findall(r"share_\w+", query.text)), query
        asked |= metrics_of(query.text)
    # Where the rest of the state topic is, its size and its prefix say. The autoscaler and the alerts ask if no record waits.
    untold = {"share_state_topic_needed_offset", "share_group_no_record_waits"}
    assert {metric.exposed for metric in METRICS} - asked == untold
    names = [variable["name"] for variable in VARIABLES]
    assert names == ["datasource", "job", "group", "topic", "partition"]
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD)))
    assert used == {*names, "__rate_interval", "__all"}


def test_the_autoscaler_is_one() -> None:
    assert (SCALED["apiVersion"], SCALED["kind"]) == ("keda.sh/v1alpha1", "ScaledObject")
    (trigger,) = SCALED["spec"]["triggers"]
    assert trigger["type"] == "prometheus"
    assert set(trigger["metadata"]) == {"serverAddress", "query", "threshold", "activationThreshold", "ignoreNullValues"}
    # KEDA takes text only.
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
    assert float(trigger["metadata"]["threshold"]) > float(trigger["metadata"]["activationThreshold"]) >= 0
    assert unknown_names(trigger["metadata"]["query"]) == set()
    spec = SCALED["spec"]
    assert 0 < spec["minReplicaCount"] <= spec["fallback"]["replicas"] <= spec["maxReplicaCount"]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Prometheus, str]]:
    """A Prometheus beside an exporter that also has a collector, which is down; and the address of the exporter."""
    program("prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    collector = ("--otlp", "http://127.0.0.1:1/v1/metrics", "--otlp-interval", "0.2")
    with (
        a_cluster(folder / "log") as cluster,
        started(cluster, "--listen", "127.0.0.1:0", *collector, OTEL_EXPORTER_OTLP_TIMEOUT="0.1") as process,
    ):
        address = process.begins.removeprefix("serving ").removesuffix("/metrics\n")
        with scraping(address, folder / "data") as prometheus:
            # A rate needs two scrapes with a number.
            prometheus.wait(f"rate(share_exporter_otlp_failures_total[{CHOSEN['__rate_interval']}]) > 0")
            yield prometheus, address


def test_prometheus_answers_each_query_of_the_dashboard(scraped: tuple[Prometheus, str]) -> None:
    prometheus, _ = scraped
    # The cluster has something of everything: none is empty.
    asked = [prometheus.wait(substituted(query.text)) for query in QUERIES]
    assert len(asked) == 44
    (lag,) = prometheus.wait(substituted('sum(share_group_lag_records{job=~"$job", group=~"$group"})'))
    assert float(lag["value"][1]) == 8
    offered = {}
    for variable in VARIABLES[1:]:
        match = re.fullmatch(r"label_values\((\w+(?:\{.*\})?), (\w+)\)", variable["query"]["query"])
        assert match, variable
        assert variable["definition"] == variable["query"]["query"]
        assert unknown_names(substituted(match[1])) == set()
        offered[variable["name"]] = prometheus.label_values(match[2], substituted(match[1]))
    assert offered == {"job": [JOB], "group": ["workers"], "topic": ["orders"], "partition": ["0", "1"]}


def test_prometheus_answers_the_autoscaler_with_one_number(scraped: tuple[Prometheus, str]) -> None:
    prometheus, _ = scraped
    (number,) = prometheus.wait(SCALED["spec"]["triggers"][0]["metadata"]["query"])
    assert (number["metric"], float(number["value"][1])) == ({}, 8)


def test_prometheus_answers_each_alert(scraped: tuple[Prometheus, str]) -> None:
    prometheus, _ = scraped
    # A record has four deliveries, nothing moves meanwhile, and the collector is down. How long each has to last is not asked.
    expected = {"ShareGroupPoison", "ShareGroupStalled", "ShareExporterCollectorFails"}
    for alert in expected:
        prometheus.wait(rules()[alert]["expr"])
    prometheus.wait(f'up{{job="{JOB}"}} == 1')
    others = {alert: prometheus.query(rule["expr"]) for alert, rule in rules().items() if alert not in expected}
    assert others == {alert: [] for alert in others}
    assert len(others) == 14


def test_promtool_finds_nothing_to_say_of_a_scrape(scraped: tuple[Prometheus, str]) -> None:
    _, address = scraped
    status, _, text = get(f"{address}/metrics")
    assert status == 200
    assert len(re.findall(r"^# TYPE ", text, re.MULTILINE)) == len(METRICS)

    def checked(page: str) -> tuple[int, str]:
        ran = subprocess.run(
            [program("promtool"), "check", "metrics"], input=page, capture_output=True, encoding="utf-8", check=False, timeout=60
        )
        return ran.returncode, ran.stdout + ran.stderr

    assert checked(text) == (0, "")
    status, said = checked(text.replace("share_exporter_failures_total", "share_exporter_failures"))
    assert (status, 'counter metrics should have "_total" suffix' in said) == (3, True)
