"""Verdicts on the gateway's goals for measurements that are made up, and the page of those that are recorded."""

from __future__ import annotations

import json
from typing import Any

from benches.gateway.goals import Found, goals
from benches.gateway.report import SECTIONS, page
from benches.gateway.run import PARTS
from tests.kafka.home import REPOSITORY


def summed(**medians: float) -> dict[str, dict[str, float]]:
    return {name: {"median": value, "least": value, "most": value} for name, value in medians.items()}


def row(side: str, rate: float, cpu: float) -> dict[str, Any]:
    return {"load": "100 B", "side": side, **summed(rate=rate, server_cpu_s=cpu)}


MADE_UP: Found = {
    "throughput": {
        "rows": [row("A", 400.0, 1.0), row("B", 100.0, 4.0), row("C interval", 90.0, 1.0), row("C always", 80.0, 1.0)]
    },
    "acknowledgements": {
        "rows": [
            {"side": side, "in_flight": 64, "rate": rate}
            for side, rate in (("C always", 900.0), ("C always", 500.0), ("C always", 100.0), ("B synced", 250.0))
        ]
    },
    "partitions": {"rows": [{"share_partitions": 5_000, "before_mib": 40.0, "after_mib": 80.0}]},
    "members": {"rows": [{"side": "C interval", "members": 250, "heartbeats_cores": 0.04}]},
}


def test_goals_follow_from_the_rows() -> None:
    found = {goal.name: (round(goal.measured, 9), goal.reached) for goal in goals(MADE_UP)}
    assert found == {
        "records/s of C interval, times B: 100 B": (0.9, False),
        "records/s of C always, times B: 100 B": (0.8, True),
        "CPU of the gateway, times that of B's broker: 100 B": (0.25, True),
        "durable acknowledgements a second, times B's: 64 in flight": (2.0, True),
        # Of 5,000, for 10,000.
        "memory of 10,000 idle share partitions": (80.0, False),
        # Of 250, for 500.
        "CPU for 500 idle members": (0.08, True),
    }


def test_the_page_is_what_the_recorded_results_say() -> None:
    """Nobody edits the page by hand, and no result is changed without it."""
    results = REPOSITORY / "benches" / "results"
    assert page(results) == (REPOSITORY / "docs" / "benchmarks-gateway.md").read_text(encoding="utf-8")
    told = [json.loads((results / f"gateway-{name}.json").read_text(encoding="utf-8")) for name in SECTIONS]
    assert set(PARTS) < set(SECTIONS)
    assert all(part["rows"] for part in told)
