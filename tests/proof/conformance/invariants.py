"""Invariants of a share partition after every operation, whatever Kafka did there."""

from __future__ import annotations

from collections.abc import Sequence

from share_state import AcquiredRange, SharePartition

from .effective import EffectiveRun, PartitionState, terminal_count

Breaks = list[tuple[str, object, object]]


class Invariants:
    """Watches one share partition; the start offset must never go back."""

    def __init__(self) -> None:
        self._start_offset: int | None = None

    def check(self, partition: SharePartition, state: PartitionState) -> Breaks:
        """The invariants of the state, each break as (what, expected, actual)."""
        partition.check()
        if state.status != "ACTIVE":
            return []
        breaks: Breaks = []
        start = state.start_offset
        if self._start_offset is not None and start < self._start_offset:
            breaks.append(("invariant: start offset never goes back", self._start_offset, start))
        self._start_offset = start
        counted = terminal_count(state.runs, start)
        if counted != state.delivery_complete_count:
            breaks.append(
                (
                    "invariant: delivery complete count is the terminal offsets from the start on",
                    counted,
                    state.delivery_complete_count,
                )
            )
        next_fetch_offset = partition.next_fetch_offset()
        if next_fetch_offset < start:
            breaks.append(("invariant: next fetch offset not below start", start, next_fetch_offset))
        breaks += _runs(state.runs)
        return breaks


def _runs(runs: list[EffectiveRun]) -> Breaks:
    breaks: Breaks = []
    for before, after in zip(runs, runs[1:], strict=False):
        if after.first <= before.last:
            breaks.append(("invariant: runs are disjoint and ascending", str(before), str(after)))
    for run in runs:
        if run.first > run.last:
            breaks.append(("invariant: no run is inverted", "first <= last", str(run)))
        if run.state == "ACQUIRED" and (not run.member or run.delivery_count < 1):
            breaks.append(("invariant: an acquired run has an owner and a count", "both", str(run)))
    return breaks


def acquired(
    ranges: Sequence[AcquiredRange],
    start_offset: int,
    fetched: Sequence[Sequence[object]],
    record_limit: int | None,
) -> Breaks:
    """Checks the invariants of an acquire's answer; ``record_limit`` is the bound of that mode."""
    breaks: Breaks = []
    previous = start_offset - 1
    for entry in ranges:
        if not previous < entry.first_offset <= entry.last_offset:
            breaks.append(("invariant: acquired ranges ascend from the start offset", previous + 1, entry))
        previous = entry.last_offset
    if ranges and fetched:
        first, last = fetched[0][0], fetched[-1][1]
        inside = (
            isinstance(first, int)
            and isinstance(last, int)
            and first <= ranges[0].first_offset
            and ranges[-1].last_offset <= last
        )
        if not inside:
            breaks.append(("invariant: acquired within what was fetched", fetched, ranges))
    count = sum(entry.last_offset - entry.first_offset + 1 for entry in ranges)
    if record_limit is not None and count > max(record_limit, 0):
        breaks.append(("invariant: record_limit never hands out more", record_limit, count))
    return breaks
