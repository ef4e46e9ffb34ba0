"""The picture of the report: what a record costs by the size of the log, and what a worker needs of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from benches.plots import pyplot, save
from benches.spark.figures import Found, is_told, of_cores

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Curve", "costs", "draw"]

_BLUE, _GREY = ("#08519c", "#6baed6"), ("#525252", "#bdbdbd")
_WAYS = (("source", "our source", "-"), ("frames", "the function state", ":"))


class Curve(NamedTuple):
    """Sizes and what was measured of them, and how it is drawn."""

    label: str
    points: list[tuple[int, float]]
    line: str
    colour: str


def draw(found: Found, directory: Path) -> Path | None:
    """Draw what was measured at two sizes or more; where it was drawn."""
    if "cores" not in found or "memory" not in found:
        return None
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(10, 5), layout="constrained")
    left.set(xscale="log", xlabel="records", ylabel="µs a record", title="Cost of a record, start-up subtracted")
    right.set(xscale="log", xlabel="records, or share partitions", ylabel="MiB", title="Peak memory of a worker")
    for axes, curves in ((left, costs(found)), (right, _memory(found))):
        for curve in curves:
            # One that has no point is in the legend, which says why.
            x, y = zip(*curve.points, strict=True) if curve.points else ((), ())
            axes.plot(x, y, curve.line, marker="o", color=curve.colour, label=curve.label)
        axes.set_ylim(0, 1.1 * max(y for curve in curves for _, y in curve.points))
        axes.grid(visible=True, which="major", alpha=0.3)
        # Below the axes: inside it would cover curves.
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.13), fontsize=8, frameon=False)
    path = directory / "spark.svg"
    save(figure, path)
    return path


def costs(found: Found) -> list[Curve]:
    """Draw the cost of a record by the size of the log; a size at which it is too small to be told is named and not drawn."""
    curves = []
    for cores, blue, grey in zip((1, 2), _BLUE, _GREY, strict=True):
        for of, name, colour, line in (("seconds", "our source", blue, "-"), ("rust_seconds", "one process of Rust", grey, "--")):
            measured = of_cores(found, cores, of)
            points = [(records, one * 1e6) for records, one in measured if is_told(one)]
            untold = [f"{records:,}" for records, one in measured if not is_told(one)]
            label = f"{name}, {cores} core{'s' if cores > 1 else ''}"
            label += f" (of {' and '.join(untold)} records: below what can be told)" if untold else ""
            if measured:
                curves.append(Curve(label, points, line, colour))
    return curves


def _memory(found: Found) -> list[Curve]:
    rows = found["memory"]["rows"]
    fewest, middle = min(row["keys"] for row in rows), sorted({row["records"] for row in rows})[1]
    of_records = [row for row in rows if row["keys"] == fewest]
    of_keys = [row for row in rows if row["records"] == middle]
    return [
        *_by(of_records, "records", f"by records, {fewest:,} share partitions", _BLUE[0]),
        *_by(of_keys, "keys", f"by share partitions, {middle:,} records", _GREY[0]),
    ]


def _by(rows: list[dict[str, Any]], by: str, name: str, colour: str) -> list[Curve]:
    curves = []
    for way, says, line in _WAYS:
        points = sorted((row[by], row["worker_bytes"] / 2**20) for row in rows if row["way"] == way)
        if points:
            curves.append(Curve(f"{name}: {says}", points, line, colour))
    return curves
