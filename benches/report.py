"""Gathers what the benchmarks measured into one table and one JSON file.

    python benches/report.py DIRECTORY

DIRECTORY is where `make bench` leaves its results: criterion's folder, the text that the Rust benchmarks printed, and the
JSON of pytest-benchmark. The figures go to `figures.json` there. A target that is missed is shown and is no failure, since
a busy machine misses targets too; a target that was not measured is one.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# What the project holds itself to, by benchmark, store and size: nanoseconds or bytes.
TARGETS = {
    ("acknowledge_in_order", "tree", 10_000): 200.0,
    ("next_fetch_offset_behind_acquired", "tree", 1_000_000): 2_000.0,
    ("expiry_separate_locks", "tree", 1_000_000): 300.0,
    ("fold_replacing", "tree", 100_000): 2_000.0,
    ("fold_cutting", "tree", 100_000): 2_000.0,
    ("memory_acquired_singly", "tree", 1_000_000): 128.0,
    ("memory_renewed_singly", "tree", 1_000_000): 128.0,
    ("python_acknowledge", "tree", 10_000): 1_000.0,
}


@dataclass(frozen=True, order=True)
class Figure:
    """A median over the samples of one run. `spread` is half the middle of the samples, as a share of the median."""

    benchmark: str
    size: int
    store: str
    unit: str
    value: float
    spread: float

    @property
    def target(self) -> float | None:
        return TARGETS.get((self.benchmark, self.store, self.size))


def from_criterion(directory: Path) -> list[Figure]:
    figures = []
    for path in directory.rglob("new/benchmark.json"):
        about = _load(path)
        estimates = _load(path.with_name("estimates.json"))
        elements = (about["throughput"] or {}).get("Elements", 1)
        median = estimates["median"]["point_estimate"]
        figures.append(
            Figure(
                benchmark=about["group_id"],
                size=int(about["value_str"]),
                store=about["function_id"],
                unit="ns",
                value=median / elements,
                spread=estimates["median_abs_dev"]["point_estimate"] / median,
            )
        )
    return figures


def from_printed(path: Path) -> list[Figure]:
    """The lines of a benchmark that measures no time."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    return [Figure(**json.loads(line), spread=0.0) for line in lines]


def from_pytest(path: Path) -> list[Figure]:
    figures = []
    for benchmark in _load(path)["benchmarks"]:
        about, stats = benchmark["extra_info"], benchmark["stats"]
        figures.append(
            Figure(
                benchmark=about["benchmark"],
                size=about["size"],
                store=about["store"],
                unit="ns",
                value=stats["median"] / about["elements"] * 1e9,
                spread=stats["iqr"] / 2 / stats["median"],
            )
        )
    return figures


def table(figures: list[Figure]) -> list[str]:
    """A Markdown table: the twin stands beside what it was measured with, in the same run and at the same size."""
    twins = {(f.benchmark, f.size): f for f in figures if f.store == "twin"}
    rows = [
        "| benchmark | size | figure | ± | target | twin | twin ÷ figure |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for f in figures:
        if f.store == "twin":
            continue
        twin = twins.get((f.benchmark, f.size))
        target = "" if f.target is None else f"{_amount(f.target, f.unit)} {'met' if f.value <= f.target else 'MISSED'}"
        beside = ("", "") if twin is None else (_amount(twin.value, twin.unit), f"{twin.value / f.value:,.3g}")
        cells = [f.benchmark, f"{f.size:,}", _amount(f.value, f.unit), f"{f.spread:.0%}", target, *beside]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def _amount(value: float, unit: str) -> str:
    if unit == "ns":
        for scale, name in ((1e6, "ms"), (1e3, "µs")):
            if value >= scale:
                return f"{value / scale:.3g} {name}"
        return f"{value:.3g} ns"
    return f"{value:,.0f} B"


def _load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def main(directory: Path) -> int:
    figures = sorted(
        from_criterion(directory / "criterion") + from_printed(directory / "rust.txt") + from_pytest(directory / "pytest.json")
    )
    about = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "python": platform.python_version(),
        "figures": [asdict(f) | {"target": f.target} for f in figures],
    }
    output = directory / "figures.json"
    output.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(figures)))
    print(f"\n{len(figures)} figures: {output}")
    missing = TARGETS.keys() - {(f.benchmark, f.store, f.size) for f in figures}
    for benchmark, store, size in sorted(missing):
        print(f"not measured: {benchmark} {store} {size}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
