"""Growth curves: the time of an element by size, both on log axes, for every engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from benches.programs import COLUMNAR, KAFKA, SCALAR, TREE, TWIN

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CURVES", "Curve", "curves", "draw", "pyplot", "save"]

#: Workload, what its sizes are, what is done to an element, and what that is.
CURVES = {
    "W1": ("records a batch", "acquire and acknowledge a batch", "batch"),
    "W3": ("records of the batch", "acknowledge one record, in order", "acknowledgement"),
    "W4": ("records in flight", "acknowledge one record, every second first", "acknowledgement"),
    "W5": ("records in flight", "acknowledge one record, without a pattern", "acknowledgement"),
    "W6-next": ("records acquired before it", "find the next available record", "question"),
    "W7": ("locks", "let one lock run out, of all at once", "lock"),
    "W8": ("locks", "renew one lock", "renewal"),
    "W9": ("locks, of 256 members", "release all of one member", "member"),
    "W11": ("state batches", "fold one delta", "delta"),
    "W13-uniform": ("share partitions", "acquire and acknowledge in one of them", "batch"),
}
#: Style of each engine, in the order of the legend: name, colour, line, marker.
_STYLES = {
    KAFKA: ("Kafka 4.4.0 SharePartition", "#b2182b", "-", "o"),
    TREE: ("share_state, Rust", "#08519c", "-", "s"),
    SCALAR: ("share_state, Python scalar", "#3182bd", "--", "^"),
    COLUMNAR: ("share_state, Python columnar", "#6baed6", "-.", "v"),
    TWIN: ("obvious twin: the same rules over one entry an offset", "#737373", ":", "x"),
}


class Curve(NamedTuple):
    """The times of one engine, and what the legend says of it."""

    engine: str
    label: str
    #: Size, and nanoseconds of an element.
    points: list[tuple[int, float]]


def draw(results: dict[str, dict[str, Any]], directory: Path) -> list[Path]:
    """The curves of the workloads that were measured at two sizes or more; where they were drawn. Others go."""
    drawn = []
    for workload, (sizes, action, element) in CURVES.items():
        path = directory / f"{workload}.svg"
        path.unlink(missing_ok=True)
        if is_drawn(found := curves(results, workload)):
            _draw(path, f"{workload}: {action}", sizes, f"nanoseconds for each {element}", found)
            drawn.append(path)
    return drawn


def is_drawn(found: list[Curve]) -> bool:
    """Tell if there is a curve to see."""
    return any(len(curve.points) > 1 for curve in found)


def curves(results: dict[str, dict[str, Any]], workload: str) -> list[Curve]:
    """Return the curves of a workload, in the order of the legend; a curve that ends early says why."""
    rows = sorted((r for r in results.values() if r["workload"] == workload), key=lambda result: result["size"])
    found = []
    for engine, (name, *_) in _STYLES.items():
        measured = [(row["size"], row["engines"][engine]) for row in rows if engine in row["engines"]]
        points = [(size, one["ns"]) for size, one in measured if "ns" in one]
        if points:
            beyond = [(size, one) for size, one in measured if size > points[-1][0]]
            end = f"; {beyond[0][0]:,} {_reason(beyond[0][1])}" if beyond else ""
            found.append(Curve(engine, name + end, points))
    return found


def _reason(found: dict[str, Any]) -> str:
    """Return the reason why an engine has no time."""
    if found.get("wrong"):
        return "gave wrong results"
    if "untold" in found:
        return str(found["untold"])
    return "could not run" if found.get("missing") else "took longer than the time limit"


def _draw(path: Path, title: str, sizes: str, unit: str, found: list[Curve]) -> None:
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 5.4), layout="constrained")
    for curve in found:
        _, colour, line, marker = _STYLES[curve.engine]
        size, time = zip(*curve.points, strict=True)
        axes.plot(size, time, label=curve.label, color=colour, linestyle=line, marker=marker)
    axes.set(xscale="log", yscale="log", title=title, xlabel=sizes, ylabel=unit)
    axes.grid(visible=True, which="major", alpha=0.3)
    # Below: inside it would cover curves.
    figure.legend(loc="outside lower left", fontsize=8, frameon=False)
    save(figure, path)


def pyplot() -> Any:
    """The library that draws, set so that the same results make the same file."""
    import matplotlib as mpl  # noqa: PLC0415 # only who draws needs it

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "share_state", "svg.fonttype": "none", "font.size": 10})
    from matplotlib import pyplot as plt  # noqa: PLC0415

    return plt


def save(figure: Any, path: Path) -> None:
    """Write a picture without the time at which it was drawn."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot().close(figure)
