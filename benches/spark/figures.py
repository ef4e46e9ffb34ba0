"""Figures from the measurements on Spark: the cost of a record, and the targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Found", "Row", "Target", "best", "cost", "is_told", "of_way", "sizes", "targets"]

#: By the name of a part, what was written of it.
Found = dict[str, dict[str, Any]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """Target and what was measured for it."""

    text: str
    #: None: it is told beside the others and is no target.
    bound: float | None
    #: None: it was not measured.
    measured: float | None
    at_least: bool

    @property
    def reached(self) -> bool | None:
        if self.measured is None or self.bound is None:
            return None
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


def best(row: Row, of: str = "seconds") -> float:
    seconds: list[float] = row[of]
    # A worker that ends takes the CPU time it has had with it.
    return min(one for one in seconds if one > 0)


def cost(rows: Sequence[Row], row: Row, of: str = "seconds") -> float | None:
    """Seconds that a record takes: what lies between this log and the smallest one, which has almost nothing but a start-up."""
    least = min(rows, key=lambda one: int(one["records"]))
    if row is least or not row[of] or not least[of] or row.get("wrong") or least.get("wrong"):
        return None
    records: int = row["records"] - least["records"]
    return (best(row, of) - best(least, of)) / records


def is_told(seconds: float) -> bool:
    """Return true if a cost can be told: it cannot where the larger log was the quicker."""
    return seconds > 0


def of_way(found: Found, way: str) -> float | None:
    rows = [row for row in found.get("ways", {}).get("rows", ()) if row["way"] == way]
    return cost(rows, max(rows, key=lambda row: int(row["records"]))) if rows else None


def of_cores(found: Found, cores: int, of: str = "seconds", part: str = "cores") -> list[tuple[int, float]]:
    """Records and the cost of one, by the size of the log."""
    rows = [row for row in found.get(part, {}).get("rows", ()) if row["cores"] == cores]
    costs = ((int(row["records"]), cost(rows, row, of)) for row in rows)
    return [(records, one) for records, one in costs if one is not None]


def targets(found: Found) -> Iterator[Target]:
    for way, name in (("source", "our source"), ("frames", "the function `state`")):
        others = (
            ("rows", 30, "row-at-a-time Python UDFs"),
            ("udf", None, "a Python UDF called once a share partition"),
            ("pandas", 5, "`applyInPandas`"),
        )
        for other, least, what in others:
            ratio = _by(of_way(found, other), of_way(found, way))
            yield Target(f"decode and fold by {name}, times as fast as {what}", least, ratio, at_least=True)
    one, two = of_cores(found, 1), of_cores(found, 2)
    yield Target("two cores, times as fast as one", 1.5, _by(one[-1][1], two[-1][1]) if one and two else None, at_least=True)
    for cores in (1, 2):
        sizes = dict(of_cores(found, cores, part="growth"))
        grown = _by(sizes.get(10_000_000), sizes.get(1_000_000))
        yield Target(f"a record of 10^7, times one of 10^6 ({_cores(cores)})", 1.2, grown, at_least=False)
    for cores, measured in ((1, one), (2, two)):
        alone = of_cores(found, cores, "rust_seconds")
        ratio = _by(measured[-1][1], alone[-1][1]) if measured and alone else None
        yield Target(f"our source, times the time of one process of Rust ({_cores(cores)})", 2, ratio, at_least=False)
    peaks = [row["worker_bytes"] for row in _by_records(found)]
    grown = _by(max(peaks), peaks[0]) if peaks else None
    yield Target(
        "peak memory of a worker, times that of the smallest log of as many share partitions", 1.2, grown, at_least=False
    )


def sizes(found: Found) -> Iterator[tuple[str, str]]:
    """Yield the figures by which a job is sized: a name, and what was measured."""
    for way, name in (("source", "our source"), ("frames", "the function `state`")):
        seconds = of_way(found, way)
        if seconds is not None and is_told(seconds):
            yield f"records a second and core, {name} ({_cores(found['ways']['cores'])})", _rate(seconds, found["ways"]["cores"])
    for cores in (1, 2):
        measured = of_cores(found, cores)
        if measured and is_told(measured[-1][1]):
            yield (
                f"records a second and core, our source, of {measured[-1][0]:,} ({_cores(cores)})",
                _rate(measured[-1][1], cores),
            )
    if "cores" in found:
        log = max(found["cores"]["logs"], key=lambda one: int(one["records"]))
        yield "bytes of a record in its segment", f"{log['bytes'] / log['records']:.0f}"
    for cores in (1, 2):
        rows = [row for row in found.get("cores", {}).get("rows", ()) if row["cores"] == cores]
        if rows:
            least = min(rows, key=lambda one: int(one["records"]))
            told = f"{best(least):.1f} to {max(least['seconds']):.1f}"
            yield f"seconds of a job with next to nothing to fold, in a session that is up ({_cores(cores)})", told
    for way, name in (("source", "our source"), ("frames", "the function `state`")):
        rows = [row for row in found.get("memory", {}).get("rows", ()) if row["way"] == way]
        if rows:
            few, many = min(rows, key=lambda one: int(one["keys"])), max(rows, key=lambda one: int(one["keys"]))
            yield f"MiB of a worker with {few['keys']:,} share partitions, {name}", f"{few['worker_bytes'] / 2**20:.0f}"
            of_task = (many["keys"] - few["keys"]) / found["memory"]["partitions"]
            more = (many["worker_bytes"] - few["worker_bytes"]) / of_task
            yield f"bytes more for each live share partition of its state partition, {name}", f"{more:,.0f}"


def _rate(seconds: float, cores: int) -> str:
    return f"{1 / seconds / cores:,.0f}"


def _by_records(found: Found) -> list[Row]:
    rows = [row for row in found.get("memory", {}).get("rows", ()) if row["way"] == "source"]
    fewest = min((row["keys"] for row in rows), default=0)
    return sorted((row for row in rows if row["keys"] == fewest), key=lambda row: int(row["records"]))


def _by(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None or other <= 0 else one / other


def _cores(cores: int) -> str:
    return "one core" if cores == 1 else f"{cores} cores"
