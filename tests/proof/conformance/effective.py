"""The effective state of a share partition: what each offset is, whatever batch it is tracked in.

Kafka splits its cached batches by its own needs; share_state keeps runs. Both come down to the same
thing once they are written as disjoint runs of (state, delivery count, owner, pending). Ranges may be
huge, so nothing here ever makes an entry an offset.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .recordings import FormatError, Json

TERMINAL = frozenset({"ACKNOWLEDGED", "ARCHIVED"})
STATES = frozenset({"AVAILABLE", "ACQUIRED", "ARCHIVING"}) | TERMINAL


@dataclass(frozen=True, slots=True)
class EffectiveRun:
    """Neighbouring offsets that are in the same state; ``last`` is inclusive."""

    first: int
    last: int
    state: str
    delivery_count: int
    member: str
    pending: bool

    def joins(self, other: EffectiveRun) -> bool:
        """Returns true if ``other`` starts right after and says the same of its offsets."""
        return other.first == self.last + 1 and replace(other, first=self.first, last=self.last) == self

    @property
    def terminal(self) -> bool:
        """ACKNOWLEDGED or ARCHIVED, whether or not the write of it is still under way."""
        return self.state in TERMINAL

    def __str__(self) -> str:
        owner = f" {self.member}" if self.member else ""
        mark = "~" if self.pending else ""
        return f"{self.first}-{self.last} {self.state}{mark}({self.delivery_count}){owner}"


def coalesce(runs: Iterable[EffectiveRun]) -> list[EffectiveRun]:
    """Sort and join neighbours."""
    joined: list[EffectiveRun] = []
    for run in sorted(runs, key=lambda run: run.first):
        if joined and joined[-1].joins(run):
            joined[-1] = replace(joined[-1], last=run.last)
        else:
            joined.append(run)
    return joined


def _recorded_run(entry: list[Any]) -> EffectiveRun:
    # The sixth field (lock timer armed) is Kafka's affair: its timers outlive the lock they served.
    first, last, state, delivery_count, member, _timer_armed, pending = entry
    if state not in STATES:
        raise FormatError(f"unknown record state {state}")
    owner = member if state == "ACQUIRED" else ""
    return EffectiveRun(first, last, state, delivery_count, owner, pending)


def from_recording(batches: list[Any]) -> list[EffectiveRun]:
    """The runs of a recorded state's ``batches``, batch-tracked and offset-tracked alike."""
    runs: list[EffectiveRun] = []
    for batch in batches:
        if isinstance(batch, dict):
            if set(batch) != {"first", "last", "offsets"}:
                raise FormatError(f"unknown form of a tracked batch: {batch}")
            runs += [_recorded_run(entry) for entry in batch["offsets"]]
        else:
            runs.append(_recorded_run(batch))
    return coalesce(runs)


def drop_done_below(runs: Iterable[EffectiveRun], offset: int) -> list[EffectiveRun]:
    """Without the terminal offsets below ``offset``.

    Kafka removes whole batches only, so done offsets below its start offset linger; they can no
    longer affect anything.
    """
    kept: list[EffectiveRun] = []
    for run in runs:
        if not run.terminal or run.first >= offset:
            kept.append(run)
        elif run.last >= offset:
            kept.append(replace(run, first=offset))
    return coalesce(kept)


def terminal_count(runs: Iterable[EffectiveRun], offset: int) -> int:
    """Counts the terminal offsets at or above ``offset``: the delivery complete count."""
    return sum(run.last - max(run.first, offset) + 1 for run in runs if run.terminal and run.last >= offset)


def done_between(runs: Iterable[EffectiveRun], first: int, end: int) -> bool:
    """Returns true if no outstanding record lies in ``[first, end)``: offsets there are terminal or unknown."""
    return all((run.terminal and not run.pending) or run.last < first or run.first >= end for run in runs)


@dataclass(frozen=True, slots=True)
class PartitionState:
    """The comparable part of a share partition's state."""

    status: str
    start_offset: int
    end_offset: int
    state_epoch: int
    delivery_complete_count: int
    runs: list[EffectiveRun]
    #: Offsets from here to the end that are not cached must still be fetched (Kafka's gap window).
    gap_start: int | None = None

    @classmethod
    def recorded(cls, state: Json) -> PartitionState:
        """From the ``state`` of a recording."""
        window = state.get("read_gap_window")
        active = window is not None and window[1] == state["end_offset"]
        return cls(
            status=state["status"],
            start_offset=state["start_offset"],
            end_offset=state["end_offset"],
            state_epoch=state["state_epoch"],
            delivery_complete_count=state["delivery_complete_count"],
            runs=from_recording(state["batches"]),
            gap_start=window[0] if window is not None and active else None,
        )


@dataclass(frozen=True, slots=True)
class StateComparison:
    """The points in which two states differ, as (what, expected, actual)."""

    points: list[tuple[str, object, object]]
    start_offset_only: bool = False


def compare(recorded: PartitionState, ours: PartitionState) -> StateComparison:
    """Compare effectively: same offsets in the same state, and a start offset that is sound.

    Kafka moves its start offset lazily, so another one is accepted when nothing outstanding and nothing
    still to be fetched lies between the two; everything from the higher start on must be equal then.
    """
    if recorded.status != "ACTIVE":
        # A partition that never became active holds what Kafka happened to have read by then;
        # share_state keeps nothing of a refused state. INITIALIZING and FAILED are both "not usable".
        usable = {"FENCED": "FENCED"}.get(recorded.status, "not ACTIVE")
        shown = ours.status if ours.status in {"ACTIVE", "FENCED"} else "not ACTIVE"
        return StateComparison([] if usable == shown else [("status", recorded.status, ours.status)])
    points: list[tuple[str, object, object]] = []
    for what, expected, actual in (
        ("status", recorded.status, ours.status),
        ("state epoch", recorded.state_epoch, ours.state_epoch),
    ):
        if expected != actual:
            points.append((what, expected, actual))
    moved = recorded.start_offset != ours.start_offset
    if moved:
        low = min(recorded.start_offset, ours.start_offset)
        high = max(recorded.start_offset, ours.start_offset)
        fetched = (
            recorded.gap_start is None
            or recorded.gap_start >= high
            or all_cached(recorded.runs, max(low, recorded.gap_start), high)
        )
        sound = done_between(recorded.runs, low, high) and done_between(ours.runs, low, high) and fetched
        if not sound:
            points.append(("start offset", recorded.start_offset, ours.start_offset))
    start = max(recorded.start_offset, ours.start_offset)
    expected_runs = drop_done_below(recorded.runs, start)
    actual_runs = drop_done_below(ours.runs, start)
    if expected_runs != actual_runs:
        points.append(("in-flight state", *_first_unequal(expected_runs, actual_runs)))
    if moved:
        # Both counts brought to the same base, the higher of the two start offsets.
        expected_count = terminal_count(recorded.runs, start)
        below = terminal_count(ours.runs, ours.start_offset) - terminal_count(ours.runs, start)
        actual_count = ours.delivery_complete_count - below
    else:
        expected_count = recorded.delivery_complete_count
        actual_count = ours.delivery_complete_count
    if expected_count != actual_count:
        points.append(("delivery complete count", expected_count, actual_count))
    emptied = moved and not expected_runs
    if recorded.end_offset != ours.end_offset and not emptied:
        points.append(("end offset", recorded.end_offset, ours.end_offset))
    return StateComparison(points, start_offset_only=moved and not points)


def all_cached(runs: Iterable[EffectiveRun], first: int, end: int) -> bool:
    """Returns true if every offset of ``[first, end)`` is tracked."""
    position = first
    for run in runs:
        if run.first > position:
            break
        position = max(position, run.last + 1)
    return position >= end


def _first_unequal(expected: list[EffectiveRun], actual: list[EffectiveRun]) -> tuple[str, str]:
    """Both lists from the first run in which they differ, for reading."""
    skip = next(
        (i for i, pair in enumerate(zip(expected, actual, strict=False)) if pair[0] != pair[1]),
        min(len(expected), len(actual)),
    )

    def show(runs: list[EffectiveRun]) -> str:
        text = ", ".join(str(run) for run in runs[skip : skip + 6])
        more = ", …" if len(runs) > skip + 6 else ""
        return f"[{'… ' if skip else ''}{text}{more}]"

    return show(expected), show(actual)
