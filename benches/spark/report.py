"""The report of what was measured on Spark: `python -m benches.spark.report [RESULTS [PAGE]]`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benches.spark import plots
from benches.spark.figures import Found, Row, best, cost, is_told, of_way, sizes, targets

__all__ = ["main", "read", "write"]

REPOSITORY = Path(__file__).resolve().parents[2]
_NAMES = {
    "source": '`format("share_state")`',
    "history": '`format("share_state")`, `history`',
    "anomalies": '`format("share_state")`, `anomalies`',
    "frames": "`share_state.spark.state`",
    "layout": "of that Spark's own shuffle and sort, nothing folded",
    "rows": "row-at-a-time Python UDFs",
    "udf": "Python UDF called once a share partition",
    "pandas": "`groupBy.applyInPandas`",
    "by_table": "`foreachBatch` with `StateTable`",
    "by_keyed_state": "`transformWithState`",
}
_ABOUT = """\
# Benchmarks on Spark

`make bench-spark` measures and writes this page, in the better part of an hour; `make bench-spark-quick` takes small sizes and
writes to `build/bench`. Logs are made by [state_topic](../benches/rust/src/state_topic.rs): what share coordinators would have
written of made-up groups (an initialisation, updates with one or two state batches, a snapshot for every 500 of them, now and
then a deletion), in batches of up to 200 records and segments of 100 MiB, on 16 state partitions, read from the page cache.

Every way is first compared with what the engine makes of the same log without Spark, share partition by share partition with
all their batches; one that comes to something else is told as wrong and not timed. Rounds of all ways are interleaved. What a
record costs is the best of the rounds less that of a log with nothing but the initialisations of as many share partitions,
which stands for the start-up of a job, by the records between them. The JVM has a heap of 6 GiB, `taskset` keeps it and its
workers to their cores, adaptive execution is off, and `spark.sql.execution.arrow.maxBytesPerBatch` is 2147483647 for all ways.
"""


def read(directory: Path) -> Found:
    return {
        path.stem.removeprefix("spark-"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(directory.glob("spark-*.json"))
    }


def write(directory: Path, page: Path) -> None:
    found = read(directory)
    drawn = plots.draw(found, page.parent / "benchmarks")
    parts = [_ABOUT, _machine(found), _targets(found)]
    parts += [table(found[name]) for name, table in _TABLES.items() if name in found]
    parts += [f"![Cost of a record, and memory of a worker]({drawn.relative_to(page.parent)})\n"] if drawn else []
    parts += [_streams(found["streaming"])] if "streaming" in found else []
    parts += [_sizes(found)] if any(sizes(found)) else []
    page.write_text("\n".join(parts), encoding="utf-8")


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


def _section(title: str, about: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a heading, what is said of a table, and the table; a column is set to the right whose name begins with ``>``."""
    head = f"| {' | '.join(column.removeprefix('>') for column in columns)} |"
    sides = f"|{'|'.join('--:' if column.startswith('>') else '---' for column in columns)}|"
    return "\n".join(
        [f"## {title}", "", *([about] if about else []), head, sides, *(f"| {' | '.join(row)} |" for row in rows), ""]
    )


def _targets(found: Found) -> str:
    rows = []
    for target in targets(found):
        measured = "" if target.measured is None else f"{target.measured:.3g}×"
        outcome = {None: "not measured", True: "reached", False: "**missed**"}[target.reached]
        bound = f"{'≥' if target.at_least else '≤'} {target.bound:g}×" if target.bound is not None else ""
        rows.append((target.text, bound, measured, outcome if bound or target.measured is None else "for comparison"))
    table = _section("Targets", "", ("", ">bound", ">measured", ""), rows)
    own, whole = of_way(found, "layout"), of_way(found, "frames")
    missed = any(target.reached is False and "function" in target.text for target in targets(found))
    if not missed or own is None or whole is None:
        return table
    return f"""{table}
What stands in the way of the function: of the {_microseconds(whole)} µs that a record takes, {_microseconds(own)} are what Spark
takes to read, shuffle and sort it, before anything of ours sees it. Rows packed before the shuffle, many to one, were tried; they
took as much CPU time, for it is the way of each row into Arrow that costs, and that has to be gone once in any case.
"""


def _ways(part: Row) -> str:
    about = f"""\
On {part["cores"]} cores. All but the first read the same records from Parquet. Three fold in the same plain Python
([plain_fold.py](../benches/spark/plain_fold.py)): with a UDF that decodes a record a call, and one that folds the decoded records
of a share partition; with one UDF that is called with all records of a share partition, as bytes; and with `applyInPandas`,
grouped by share partition.
"""
    rows = [
        (_NAMES[row["way"]], *cells, _microseconds(cost(alike, row, "cpu_seconds"))) for row, alike, cells in _timed(part, "way")
    ]
    return _section("Ways from records to states", about, ("way", *_TIMED, ">µs of CPU a record"), rows)


def _growth(part: Row) -> str:
    about = "Our source with 1,000 share partitions: what a record costs in a log of a million and of ten.\n"
    rows = [(str(row["cores"]), *cells) for row, _, cells in _timed(part, "cores")]
    return _section("From a million records to ten", about, (">cores", *_TIMED), rows)


def _cores(part: Row) -> str:
    largest = max(log["bytes"] for log in part["logs"])
    about = f"""\
Our source with 10,000 share partitions; the largest log has {largest:,} bytes. Rust is one process that folds the
same folders without Spark, with a thread a core.
"""
    rows = []
    for row, alike, cells in _timed(part, "cores"):
        rust = (f"{best(row, 'rust_seconds'):.3g}", _microseconds(cost(alike, row, "rust_seconds")))
        rows.append((str(row["cores"]), *cells, *rust))
    columns = (">cores", *_TIMED, ">Rust, seconds", ">Rust, µs a record")
    return _section("From one core to two, up to the largest log", about, columns, rows)


#: Names of the columns of `_timed`.
_TIMED = (">records", ">seconds (best round)", ">slowest", ">µs a record", ">records a second")


def _timed(part: Row, kind: str) -> Iterator[tuple[Row, list[Row], tuple[str, ...]]]:
    """Each row, those of the same `kind` that a cost is told from, and the cells of its size, its seconds and its cost."""
    for row in part["rows"]:
        alike = [one for one in part["rows"] if one[kind] == row[kind]]
        yield row, alike, (f"{row['records']:,}", *_seconds(row), *_costs(cost(alike, row)))


def _seconds(row: Row) -> tuple[str, str]:
    return ("WRONG", "") if row["wrong"] else (f"{best(row):.3g}", f"{max(row['seconds']):.3g}")


def _costs(seconds: float | None) -> tuple[str, str]:
    if seconds is not None and not is_told(seconds):
        return "below what can be told", ""
    return _microseconds(seconds), "" if seconds is None else f"{1 / seconds:,.0f}"


def _microseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e6:.3g}"


def _memory(part: Row) -> str:
    about = f"""\
The most that any one Python worker of a job had in memory (`VmHWM`), each task in a process of its own. Python,
PySpark and pyarrow are the greater part of it. One task has a {part["partitions"]}th of the share partitions.
"""
    rows = [
        (_NAMES[row["way"]], f"{row['records']:,}", f"{row['keys']:,}",
         "WRONG" if row["wrong"] else f"{row['worker_bytes'] / 2**20:.0f}")
        for row in part["rows"]
    ]  # fmt: skip
    return _section("Memory of a worker", about, ("way", ">records", ">share partitions", ">MiB"), rows)


_TABLES = {"ways": _ways, "growth": _growth, "cores": _cores, "memory": _memory}


def _streams(part: Row) -> str:
    about = "The same log in five micro-batches, two cores; `transformWithState` with RocksDB.\n"
    rows = []
    for row in part["rows"]:
        for way in row["ways"]:
            told = (f"{way['seconds']:.1f}", ", ".join(f"{one:.1f}" for one in way["batches"]))
            rows.append(
                (_NAMES[way["way"]], f"{row['records']:,}", f"{row['keys']:,}", *(("WRONG", "") if way["wrong"] else told))
            )
    columns = ("way", ">records", ">share partitions", ">seconds in all", "seconds of each micro-batch")
    return _section("States from a stream", about, columns, rows)


def _sizes(found: Found) -> str:
    about = "What [the advice](spark.md#speed-and-sizing) is reckoned with; it follows from the rows above.\n"
    return _section("For sizing", about, ("", ">"), list(sizes(found)))


def main(arguments: list[str]) -> int:
    directory = Path(arguments[0]) if arguments else REPOSITORY / "benches" / "results"
    page = Path(arguments[1]) if len(arguments) > 1 else REPOSITORY / "docs" / "benchmarks-spark.md"
    write(directory, page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
