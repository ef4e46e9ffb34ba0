"""A picture of predictions beside what was recorded. Needs the extra `plot` (matplotlib)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from share_state.operate.simulation.recorded import Recorded
from share_state.util.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from share_state.operate.simulation.simulate import Prediction

__all__ = ["draw"]

_SIZE: Final = (11.0, 5.0)
#: Colours that colour-blind people can distinguish; the recorded run is black.
_COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")


def draw(recorded: Recorded, begin_ms: float, predictions: Sequence[Prediction]) -> Figure:
    """Draw the records that are not settled over time, of the first run of each simulation, and redeliveries over all runs."""
    require("plot", "matplotlib")
    from matplotlib.figure import Figure  # noqa: PLC0415  after we know that it is there

    figure = Figure(figsize=_SIZE, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    # A group may have any name, also one that looks like a formula.
    left.set_title(f"group {recorded.group}", fontsize="medium", parse_math=False)
    times, counts = _recorded_path(recorded, begin_ms)
    left.step(times, counts, where="post", color="black", linewidth=1.4, label="recorded")
    names = ["recorded"]
    today = predictions[0].settings
    for number, one in enumerate(predictions):
        names.append(one.settings.differences(today) or "today, simulated")
        path = one.runs[0].open_records
        seconds, left_over = [at / 1000 for at, _ in path], [records for _, records in path]
        left.step(seconds, left_over, where="post", color=_COLOURS[number % len(_COLOURS)], linewidth=1.1, label=names[-1])
    left.set_xlabel("seconds since the first fetch")
    left.set_ylabel("records that are not settled")
    left.set_ylim(bottom=0)
    left.legend(fontsize="small", frameon=False)
    redeliveries = sum(count - 1 for per_offset in recorded.counts.values() for count in per_offset.values())
    spreads = [one.spread("redeliveries") for one in predictions]
    heights = [float(redeliveries), *(spread.mean for spread in spreads)]
    errors = [[0.0, *(spread.mean - spread.low for spread in spreads)], [0.0, *(spread.high - spread.mean for spread in spreads)]]
    colours = ["black", *(_COLOURS[number % len(_COLOURS)] for number in range(len(predictions)))]
    right.barh(range(len(names)), heights, xerr=errors, color=colours, ecolor="#56606b", capsize=3)
    right.set_yticks(range(len(names)), names, fontsize="small")
    right.invert_yaxis()
    right.set_xlabel("redeliveries: mean, least and greatest of all runs")
    return figure


def _recorded_path(recorded: Recorded, begin_ms: float) -> tuple[list[float], list[int]]:
    """Return when how many recorded records were not settled."""
    settled = sorted(at for times in recorded.settled_ms.values() for at in times.values())
    records = sum(map(len, recorded.counts.values()))
    times, counts = [0.0], [records]
    for number, (at, after) in enumerate(pairwise([*settled, float("inf")]), start=1):
        if after != at:
            times.append((at - begin_ms) / 1000)
            counts.append(records - number)
    return times, counts
