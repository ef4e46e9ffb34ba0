"""The report of what was measured on Spark: `python -m benches.spark.report [RESULTS [PAGE]]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benches.spark import plots
from benches.spark.figures import Found, Target, best, cost, sizes, targets

__all__ = ["main", "read", "write"]

REPOSITORY = Path(__file__).resolve().parents[2]
_NAMES = {
    "source": '`format("share_state")`',
    "frames": "`share_state.spark.state`",
    "layout": "of that Spark's own shuffle and sort, nothing folded",
    "udf": "row-at-a-time UDF",
    "pandas": "`groupBy.applyInPandas`",
    "by_table": "`foreachBatch` with `StateTable`",
    "by_keyed_state": "`transformWithState`",
}
_ABOUT = """\
# Benchmarks on Spark

`make bench-spark` measures and writes this page, in about a quarter of an hour; `make bench-spark-quick` takes small sizes and
writes to `build/bench`. Logs are made by [state_topic](../benches/rust/src/state_topic.rs): what share coordinators would have
written of made-up groups (an initialisation, updates with one or two state batches, a snapshot for every 500 of them, now and
then a deletion), in batches of up to 200 records and segments of 100 MiB, on 16 state partitions, read from the page cache.

Every way is first compared with what the engine makes of the same log without Spark, share partition by share partition with
all their batches; one that comes to something else is told as wrong and not timed. Rounds of all ways are interleaved. What a
record costs is the best of the rounds less that of a log with nothing but the initialisations of as many share partitions,
which stands for the start-up of a job, by the records between them. The JVM has a heap of 6 GiB, `taskset` keeps it and its
workers to their cores, adaptive execution is off.
"""


def read(directory: Path) -> Found:
    return {
        path.stem.removeprefix("spark-"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(directory.glob("spark-*.json"))
    }


def write(directory: Path, page: Path) -> None:
    found = read(directory)
    drawn = plots.draw(found, page.parent / "benchmarks")
    parts = [_ABOUT, _machine(found), _targets(list(targets(found))), _ways(found), _cores(found), _memory(found)]
    parts += [f"![Cost of a record, and memory of a worker]({drawn.relative_to(page.parent)})\n"] if drawn else []
    parts += [_streams(found), _sizes(found)]
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _machine(found: Found) -> str:
    if not found:
        return "Not measured.\n"
    one = next(iter(found.values()))["environment"]
    measured = ", ".join(f"{name} {part['environment']['measured'][:16]}Z (load {part['environment']['load']})"
                         for name, part in found.items())  # fmt: skip
    machine = (
        f"{one['cpu']}, {one['cpus']} cores, {one['memory_gib']} GiB, Python {one['python']}, {one['java']}, {one['commit']}"
    )
    return f"{machine}. Measured: {measured}.\n"


def _targets(all_of_them: list[Target]) -> str:
    lines = ["## Targets", "", "| | bound | measured | |", "|---|--:|--:|---|"]
    for target in all_of_them:
        sign = "≥" if target.at_least else "≤"
        measured = "" if target.measured is None else f"{target.measured:.3g}×"
        outcome = {None: "not measured", True: "reached", False: "**missed**"}[target.reached]
        lines.append(f"| {target.text} | {sign} {target.bound:g}× | {measured} | {outcome} |")
    return "\n".join([*lines, ""])


def _ways(found: Found) -> str:
    part = found.get("ways")
    if part is None:
        return ""
    lines = [
        "## Ways from records to states",
        "",
        f"On {part['cores']} cores. All but the first read the same records from Parquet. The UDF is called with all records of",
        "a share partition, and `applyInPandas` groups by share partition too; both fold in the same plain Python",
        "([plain_fold.py](../benches/spark/plain_fold.py)).",
        "",
        "| way | records | seconds (best round) | slowest | µs a record | records a second | µs of CPU a record |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in part["rows"]:
        of_way = [one for one in part["rows"] if one["way"] == row["way"]]
        cpu = cost(of_way, row, "cpu_seconds")
        spent = f"{_cost(cost(of_way, row))} | {'' if cpu is None else f'{cpu * 1e6:.3g}'}"
        lines.append(f"| {_NAMES[row['way']]} | {row['records']:,} | {_timed(row)} | {spent} |")
    return "\n".join([*lines, ""])


def _cores(found: Found) -> str:
    part = found.get("cores")
    if part is None:
        return ""
    largest = max(log["bytes"] for log in part["logs"])
    head = ("cores", "records", "seconds (best round)", "slowest", "µs a record", "records a second", "Rust, seconds",
            "Rust, µs a record")  # fmt: skip
    lines = [
        "## From one core to two, and from small to large",
        "",
        f"Our source with 10,000 share partitions; the largest log has {largest:,} bytes. Rust is one process that folds the",
        "same folders without Spark, with a thread a core.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "--:|" * len(head),
    ]
    for row in part["rows"]:
        alike = [one for one in part["rows"] if one["cores"] == row["cores"]]
        alone = cost(alike, row, "rust_seconds")
        rust = f"{best(row, 'rust_seconds'):.3g} | {'' if alone is None else f'{alone * 1e6:.3g}'}"
        lines.append(f"| {row['cores']} | {row['records']:,} | {_timed(row)} | {_cost(cost(alike, row))} | {rust} |")
    return "\n".join([*lines, ""])


def _timed(row: dict[str, Any]) -> str:
    if row["wrong"]:
        return "WRONG | "
    return f"{best(row):.3g} | {max(row['seconds']):.3g}"


def _cost(seconds: float | None) -> str:
    return (
        " | " if seconds is None else f"{seconds * 1e6:.3g} | {1 / seconds:,.0f}" if seconds > 0 else "below what can be told | "
    )


def _memory(found: Found) -> str:
    part = found.get("memory")
    if part is None:
        return ""
    lines = [
        "## Memory of a worker",
        "",
        "The most that any one Python worker of a job had in memory (`VmHWM`), each task in a process of its own. Python,",
        f"PySpark and pyarrow are the greater part of it. One task has a {part['partitions']}th of the share partitions.",
        "",
        "| way | records | share partitions | MiB |",
        "|---|--:|--:|--:|",
    ]
    for row in part["rows"]:
        told = "WRONG" if row["wrong"] else f"{row['worker_bytes'] / 2**20:.0f}"
        lines.append(f"| {_NAMES[row['way']]} | {row['records']:,} | {row['keys']:,} | {told} |")
    return "\n".join([*lines, ""])


def _streams(found: Found) -> str:
    part = found.get("streaming")
    if part is None:
        return ""
    lines = [
        "## States from a stream",
        "",
        "The same log in five micro-batches, two cores; `transformWithState` with RocksDB.",
        "",
        "| way | records | share partitions | seconds in all | seconds of each micro-batch |",
        "|---|--:|--:|--:|---|",
    ]
    for row in part["rows"]:
        for way in row["ways"]:
            told = "WRONG | " if way["wrong"] else f"{way['seconds']:.1f} | {', '.join(f'{one:.1f}' for one in way['batches'])}"
            lines.append(f"| {_NAMES[way['way']]} | {row['records']:,} | {row['keys']:,} | {told} |")
    return "\n".join([*lines, ""])


def _sizes(found: Found) -> str:
    lines = [f"| {name} | {told} |" for name, told in sizes(found)]
    if not lines:
        return ""
    told = (
        "What [the advice](spark.md#speed-and-sizing) is reckoned with; it follows from the rows above.",
        "",
        "| | |",
        "|---|--:|",
    )
    return "\n".join(["## For sizing", "", *told, *lines, ""])


def main(arguments: list[str]) -> int:
    directory = Path(arguments[0]) if arguments else REPOSITORY / "benches" / "results"
    page = Path(arguments[1]) if len(arguments) > 1 else REPOSITORY / "docs" / "benchmarks-spark.md"
    write(directory, page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
