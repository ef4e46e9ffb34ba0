"""Growth curves: the time of an element by size, both on log axes, for every engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches.programs import COLUMNAR, FLAT_VEC, KAFKA, OFFSET_MAP, SCALAR, TREE

if TYPE_CHECKING:
    from pathlib import Path

#: Workload, what its sizes are, and what an element is.
CURVES = {
    "W1": ("records a batch", "acquire and acknowledge a batch"),
    "W3": ("records of the batch", "acknowledge one record, in order"),
    "W4": ("records in flight", "acknowledge one record, every second first"),
    "W5": ("records in flight", "acknowledge one record, without a pattern"),
    "W6-next": ("records acquired before it", "find the next available record"),
    "W7": ("locks", "let one lock run out, of all at once"),
    "W8": ("locks", "renew one lock"),
    "W9": ("locks, of 256 members", "release all of one member"),
    "W11": ("state batches", "fold one delta"),
    "W13-uniform": ("share partitions", "acquire and acknowledge in one of them"),
}
#: How each engine is drawn: name, colour, line, marker.
_STYLES = {
    KAFKA: ("Kafka 4.4.0 SharePartition", "#b2182b", "-", "o"),
    TREE: ("share_state, Rust", "#08519c", "-", "s"),
    SCALAR: ("share_state, Python scalar", "#3182bd", "--", "^"),
    COLUMNAR: ("share_state, Python columnar", "#6baed6", "-.", "v"),
    OFFSET_MAP: ("naive_offset_map", "#737373", ":", "x"),
    FLAT_VEC: ("flat_vec", "#bdbdbd", ":", "+"),
}


def draw(results: dict[str, dict[str, Any]], directory: Path) -> list[Path]:
    """The curves of the workloads that were measured at two sizes or more; where they were drawn."""
    drawn = []
    for workload, (sizes, element) in CURVES.items():
        curves = _curves(results, workload)
        if any(len(points) > 1 for points in curves.values()):
            directory.mkdir(parents=True, exist_ok=True)
            path = directory / f"{workload}.svg"
            _draw(path, f"{workload}: {element}", sizes, curves)
            drawn.append(path)
    return drawn


def _curves(results: dict[str, dict[str, Any]], workload: str) -> dict[str, list[tuple[int, float]]]:
    found = sorted((r for r in results.values() if r["workload"] == workload), key=lambda result: result["size"])
    curves: dict[str, list[tuple[int, float]]] = {}
    for result in found:
        for engine, measured in result["engines"].items():
            if engine in _STYLES and "ns" in measured:
                curves.setdefault(engine, []).append((result["size"], measured["ns"]))
    return curves


def _draw(path: Path, title: str, sizes: str, curves: dict[str, list[tuple[int, float]]]) -> None:
    import matplotlib as mpl  # noqa: PLC0415 # only who draws needs it

    mpl.use("svg")
    # The same results make the same file.
    mpl.rcParams.update({"svg.hashsalt": "share_state", "svg.fonttype": "none", "font.size": 10})
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for engine in (engine for engine in _STYLES if engine in curves):
        name, colour, line, marker = _STYLES[engine]
        size, time = zip(*curves[engine], strict=True)
        axes.plot(size, time, label=name, color=colour, linestyle=line, marker=marker)
    axes.set(xscale="log", yscale="log", title=title, xlabel=sizes, ylabel="nanoseconds")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
