"""Pictures of the benchmarks: from measurements that are made up, and in the committed files."""

from __future__ import annotations

import html
import re
from typing import Any

from benches import plots, report
from benches.programs import COLUMNAR, KAFKA, SCALAR, TREE, TWIN
from benches.spark import plots as spark_plots
from benches.spark import report as spark_report
from benches.spark.figures import Found

PICTURES = report.REPOSITORY / "docs" / "benchmarks"
RESULTS = report.REPOSITORY / "benches" / "results"


def shown(name: str) -> list[str]:
    """The texts in a committed picture."""
    picture = (PICTURES / name).read_text(encoding="utf-8")
    return [html.unescape(text) for text in re.findall(r"<text [^>]*>([^<]*)</text>", picture)]


def row(size: int, engines: dict[str, Any]) -> dict[str, Any]:
    return {"workload": "W4", "size": size, "engines": engines}


def test_a_curve_that_ends_says_why() -> None:
    made_up = [
        row(10, {KAFKA: {"ns": 5.0}, TREE: {"ns": 1.0}, SCALAR: {"ns": 2.0}, COLUMNAR: {"ns": 3.0}, TWIN: {"ns": 9.0}}),
        row(
            1000,
            {
                KAFKA: {"stopped": 7, "wrong": False},
                TREE: {"ns": 1.5},
                SCALAR: {"wrong": True},
                COLUMNAR: {"missing": True},
                TWIN: {"ns": 90.0},
            },
        ),
        row(2000, {KAFKA: {"stopped_at_size": 1000}, TREE: {"ns": 1.5}, TWIN: {"stopped": 2, "wrong": False}}),
    ]
    found = {curve.engine: curve for curve in plots.curves({str(one["size"]): one for one in made_up}, "W4")}
    assert list(found) == [KAFKA, TREE, SCALAR, COLUMNAR, TWIN], "an engine without a point has no curve"
    assert found[TREE].points == [(10, 1.0), (1000, 1.5), (2000, 1.5)]
    assert found[TREE].label == "share_state, Rust"
    assert found[KAFKA].label.endswith("; 1,000 took longer than the time limit")
    assert found[SCALAR].label.endswith("; 1,000 gave wrong results")
    assert found[COLUMNAR].label.endswith("; 1,000 could not run")
    assert found[TWIN].label.endswith("; 2,000 took longer than the time limit")


def test_the_committed_curves_are_those_of_the_committed_results() -> None:
    results = report.read(RESULTS)
    drawn = {workload for workload in plots.CURVES if plots.is_drawn(plots.curves(results, workload))}
    for workload in drawn:
        _, _, element = plots.CURVES[workload]
        texts = shown(f"{workload}.svg")
        assert f"nanoseconds for each {element}" in texts, workload
        labels = [curve.label for curve in plots.curves(results, workload)]
        assert [text for text in texts if text in labels] == labels, workload
        largest = max(one["size"] for one in results.values() if one["workload"] == workload)
        for curve in plots.curves(results, workload):
            early = curve.points[-1][0] < largest
            assert early == (";" in curve.label), f"{workload} {curve.engine}"
    assert {path.stem for path in PICTURES.glob("W*.svg")} == drawn


def cores(*seconds: float) -> Found:
    rows = [
        {"cores": 1, "records": 10 ** (4 + 2 * at), "seconds": [one], "rust_seconds": [0.1 + at], "wrong": None}
        for at, one in enumerate(seconds)
    ]
    return {"cores": {"rows": rows}}


def test_a_cost_below_what_can_be_told_is_named_and_not_drawn() -> None:
    ours, rust = spark_plots.costs(cores(2.0, 1.5, 102.0))
    assert [records for records, _ in ours.points] == [10**8]
    assert ours.label == "our source, 1 core (of 1,000,000 records: below what can be told)"
    assert [records for records, _ in rust.points] == [10**6, 10**8]
    assert rust.label == "one process of Rust, 1 core"
    [nothing, _] = spark_plots.costs(cores(2.0, 1.5, 1.0))
    assert nothing.points == []
    assert nothing.label.endswith("(of 1,000,000 and 100,000,000 records: below what can be told)")


def test_the_committed_picture_of_spark_is_that_of_the_committed_results() -> None:
    found = spark_report.read(RESULTS)
    drawn = spark_plots.costs(found)
    texts = shown("spark.svg")
    assert [text for text in texts if text in [curve.label for curve in drawn]] == [curve.label for curve in drawn]
    assert all(cost > 0 for curve in drawn for _, cost in curve.points)
    untold = (report.REPOSITORY / "docs" / "benchmarks-spark.md").read_text(encoding="utf-8").count("| below what can be told |")
    assert sum("below what can be told" in text for text in texts) == untold == 2
