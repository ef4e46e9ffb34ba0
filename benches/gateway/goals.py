"""Goals of the gateway, judged by what was measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Found = Mapping[str, Mapping[str, Any]]
Row = Mapping[str, Any]


class Goal(NamedTuple):
    """Goal with its bound and the measured figure.

    Attributes:
        name: What is measured.
        bound: What is to be reached.
        least: Whether the bound is a least; else it is a most.
        measured: What was measured.
        unit: Of both.
    """

    name: str
    bound: float
    least: bool
    measured: float
    unit: str

    @property
    def reached(self) -> bool:
        """True if the measured figure keeps to the bound."""
        return self.measured >= self.bound if self.least else self.measured <= self.bound


def goals(found: Found) -> Iterator[Goal]:
    """Every goal of a part that was measured."""
    for name, judge in _GOALS.items():
        if name in found:
            yield from judge(found[name]["rows"])


def median(rows: Iterable[Row], field: str, **wanted: Any) -> float:
    """The median of a field over the rows that have these values."""
    return statistics.median(float(row[field]) for row in rows if all(row[name] == value for name, value in wanted.items()))


def of(rows: Iterable[Row], load: str, side: str, field: str) -> float:
    """The median that a summarised row has of a field."""
    return next(float(row[field]["median"]) for row in rows if row["load"] == load and row["side"] == side)


def _throughput(rows: list[Row]) -> Iterator[Goal]:
    for load in dict.fromkeys(row["load"] for row in rows):
        broker = of(rows, load, "B", "rate")
        # The goal is for 500 a poll; with more nobody may lose much by the hop.
        bound = 1.5 if "one record a batch" in load else 0.8 if "a poll" in load else 1.0
        yield Goal(f"records/s of C interval, times B: {load}", bound, True, of(rows, load, "C interval", "rate") / broker, "×")
        yield Goal(f"records/s of C always, times B: {load}", 0.8, True, of(rows, load, "C always", "rate") / broker, "×")
        cpu = of(rows, load, "C interval", "server_cpu_s") / of(rows, load, "B", "server_cpu_s")
        yield Goal(f"CPU of the gateway, times that of B's broker: {load}", 0.5, False, cpu, "×")


def _latency(rows: list[Row]) -> Iterator[Goal]:
    for quantile, bound in (("p50", 2.0), ("p99", 10.0)):
        field = f"{quantile}_ms"
        added = median(rows, field, side="C interval") - median(rows, field, side="B")
        yield Goal(f"{quantile} from produce to poll, more than B's", bound, False, added, " ms")
    first = max(median(rows, "first_record_ms", side=side) for side in ("C interval", "C always"))
    yield Goal("first records after joining", 1_000.0, False, first, " ms")


def _acknowledgements(rows: list[Row]) -> Iterator[Goal]:
    for in_flight in dict.fromkeys(row["in_flight"] for row in rows):
        rates = [median(rows, "rate", side=side, in_flight=in_flight) for side in ("C always", "B synced")]
        yield Goal(f"durable acknowledgements a second, times B's: {in_flight:,} in flight", 2.0, True, rates[0] / rates[1], "×")


def _partitions(rows: list[Row]) -> Iterator[Goal]:
    grown = statistics.median((row["after_mib"] - row["before_mib"]) / row["share_partitions"] for row in rows) * 10_000
    yield Goal("memory of 10,000 idle share partitions", 64.0, False, grown, " MiB")


def _members(rows: list[Row]) -> Iterator[Goal]:
    cores = statistics.median(row["heartbeats_cores"] / row["members"] for row in rows if row["side"] == "C interval") * 500
    yield Goal("CPU for 500 idle members", 0.1, False, cores, " cores")


def _second_group(rows: list[Row]) -> Iterator[Goal]:
    read = median(rows, "upstream_bytes_s", groups=2) / median(rows, "upstream_bytes_s", groups=1)
    # Room for the headers of answers, which come as often as the two groups wake up.
    yield Goal("bytes read from upstream for two groups, times those for one", 1.05, False, read, "×")


_GOALS = {
    "throughput": _throughput,
    "latency": _latency,
    "acknowledgements": _acknowledgements,
    "partitions": _partitions,
    "members": _members,
    "second-group": _second_group,
}
