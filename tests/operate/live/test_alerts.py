"""The rules of deploy/prometheus: Prometheus takes them, each fires where it should and leads to a section for operators."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.operate.live.prometheus import JOB, program
from tests.operate.live.promql import metrics_of, unknown_names
from tests.pages.pages import anchors
from tests.recordings import REPOSITORY

FOLDER = REPOSITORY / "deploy" / "prometheus"
RULES = FOLDER / "share-state-alerts.yml"
TESTS = FOLDER / "share-state-alerts.test.yml"
METRICS_PAGE = (REPOSITORY / "docs" / "exporter-metrics.md").read_text(encoding="utf-8")
PAGE = (REPOSITORY / "docs" / "operate.md").read_text(encoding="utf-8")


def rules() -> dict[str, dict[str, Any]]:
    told = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    found = [rule for group in told["groups"] for rule in group["rules"]]
    named = {rule["alert"]: rule for rule in found}
    assert len(named) == len(found) == 17
    return named


def promtool(*arguments: str | Path) -> tuple[int, str]:
    ran = subprocess.run(
        [program("promtool"), *map(str, arguments)], capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_prometheus_takes_the_rules() -> None:
    status, said = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
    assert status == 0, said
    assert "SUCCESS: 17 rules found" in said


def test_each_alert_fires_where_it_should_and_not_beside() -> None:
    status, said = promtool("test", "rules", TESTS)
    assert (status, "SUCCESS" in said) == (0, True), said


def test_each_alert_is_tried_both_ways() -> None:
    cases = [case for test in yaml.safe_load(TESTS.read_text(encoding="utf-8"))["tests"] for case in test["alert_rule_test"]]
    fires = {case["alertname"] for case in cases if case["exp_alerts"]}
    stays = {case["alertname"] for case in cases if not case["exp_alerts"]}
    assert fires == rules().keys()
    # Of the others, each is tried on series that differ in one label.
    assert fires - stays == {"ShareGroupPoison", "ShareStateTopicHeldBack"}


def test_a_broken_rule_is_found(tmp_path: Path) -> None:
    (tmp_path / RULES.name).write_text(
        RULES.read_text(encoding="utf-8").replace("seconds > 600", "seconds > 6000"), encoding="utf-8"
    )
    (tmp_path / TESTS.name).write_text(TESTS.read_text(encoding="utf-8"), encoding="utf-8")
    status, said = promtool("test", "rules", tmp_path / TESTS.name)
    assert status == 1
    assert "ShareGroupStartOffsetStuck" in said


@pytest.mark.parametrize("alert", rules())
def test_a_rule_names_what_there_is(alert: str) -> None:
    rule = rules()[alert]
    assert metrics_of(rule["expr"])
    assert unknown_names(rule["expr"]) == set()
    assert rule["labels"] in ({"severity": "page"}, {"severity": "ticket"})
    if "job=" in rule["expr"]:
        assert f'job="{JOB}"' in rule["expr"]
    annotations = rule["annotations"]
    assert set(annotations) == {"summary", "description", "runbook"}
    page, _, anchor = annotations["runbook"].partition("#")
    assert page == "docs/operate.md"
    assert anchor in anchors(PAGE)
    # The section names the alert, and what it asks for.
    (section,) = [part for part in re.split(r"^#+ ", PAGE, flags=re.MULTILINE) if f"`{alert}`" in part]
    assert section.splitlines()[0].lower().replace(" ", "-") == anchor


def test_the_page_says_which_alert_to_page_on() -> None:
    told = dict(re.findall(r"`(Share\w+)` \((page|ticket)s?\)", PAGE))
    # A list of tickets has one word for all.
    for names in re.findall(r"((?:`Share\w+`(?:, | and\s))+`Share\w+`) \(tickets\)", PAGE):
        told |= dict.fromkeys(re.findall(r"`(\w+)`", names), "ticket")
    assert told == {alert: rule["labels"]["severity"] for alert, rule in rules().items()}


def test_the_page_of_the_metrics_says_so_too() -> None:
    rows = re.findall(r"^\| `(Share\w+)` \| (.+?) \|", METRICS_PAGE, re.MULTILINE)
    named = {alert: set(re.findall(r"`(\w+)`", metrics)) for alert, metrics in rows}
    assert named.keys() == {alert for alert, rule in rules().items() if rule["labels"]["severity"] == "page"}
    for alert, metrics in named.items():
        assert metrics
        assert metrics <= metrics_of(rules()[alert]["expr"]), alert


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("share_group_lag_records > 0", set()),
        ("share_group_lag > 0", {"share_group_lag"}),
        ('share_group_lag_records{state="x"}', {"share_group_lag_records{state}"}),
        ("sum by (grup) (share_group_lag_records)", {"grup"}),
        ('rate(share_group_settled_records_total{outcome="accepted"}[5m])', set()),
        ("share_group_settled_records", {"share_group_settled_records"}),
        ('up{job="share_group_x"} == 0', set()),
    ],
)
def test_a_name_that_is_not_there_is_found(query: str, unknown: set[str]) -> None:
    assert unknown_names(query) == unknown
