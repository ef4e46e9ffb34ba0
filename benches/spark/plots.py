"""The picture of the report: what a record costs by the size of the log, and what a worker needs of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches.spark.figures import Found, of_cores

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["draw"]

_BLUE, _GREY = ("#08519c", "#6baed6"), ("#525252", "#bdbdbd")


def draw(found: Found, directory: Path) -> Path | None:
    """Draw what was measured at two sizes or more; where it was drawn."""
    if "cores" not in found or "memory" not in found:
        return None
    import matplotlib as mpl  # noqa: PLC0415  only who draws needs it

    mpl.use("svg")
    # The same results make the same file.
    mpl.rcParams.update({"svg.hashsalt": "share_state", "svg.fonttype": "none", "font.size": 10})
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for cores, blue, grey in zip((1, 2), _BLUE, _GREY, strict=True):
        for of, name, colour, line in (("seconds", "our source", blue, "-"), ("rust_seconds", "one process of Rust", grey, "--")):
            curve = of_cores(found, cores, of)
            if curve:
                records, seconds = zip(*curve, strict=True)
                label = f"{name}, {cores} core{'s' if cores > 1 else ''}"
                left.plot(records, [one * 1e6 for one in seconds], line, marker="o", color=colour, label=label)
    left.set(xscale="log", xlabel="records", ylabel="µs a record", title="Cost of a record, start-up subtracted")
    rows = found["memory"]["rows"]
    fewest, middle = min(row["keys"] for row in rows), sorted({row["records"] for row in rows})[1]
    _memory(right, [row for row in rows if row["keys"] == fewest], "records", f"records, {fewest:,} share partitions")
    _memory(right, [row for row in rows if row["records"] == middle], "keys", f"share partitions, {middle:,} records")
    right.set(xscale="log", xlabel="records, or share partitions", ylabel="MiB", title="Peak memory of a worker")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(fontsize=8)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "spark.svg"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path


def _memory(axes: Any, rows: list[dict[str, Any]], by: str, name: str) -> None:
    for way, line in (("source", "-"), ("frames", ":")):
        points = sorted((row[by], row["worker_bytes"] / 2**20) for row in rows if row["way"] == way)
        if points:
            colour = _BLUE[0] if by == "records" else _GREY[0]
            axes.plot(*zip(*points, strict=True), line, marker="o", color=colour, label=f"{name} ({way})")
