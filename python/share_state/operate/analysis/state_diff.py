"""Difference between two states of share partitions: two places, or one place at two times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from share_state.operate.reading.plain import ShareState
from share_state.types import RecordState

__all__ = ["Change", "StateDiff", "state_diffs"]

_TERMINAL: Final = frozenset({RecordState.ACKNOWLEDGED, RecordState.ARCHIVED})
#: A record that the start offset has passed.
_PASSED: Final = (RecordState.ACKNOWLEDGED.value, 0)

_Known = tuple[int, int] | None


class Change(StrEnum):
    """Kind of change to a share partition."""

    #: It has a state now and had none.
    NEW = "new"
    #: It had a state and has none now.
    GONE = "gone"
    #: Its state was made again: another state epoch.
    RESET = "reset"
    #: Its start offset, the state of a record, or an epoch of its leader is another one.
    MOVED = "moved"


class StateDiff(NamedTuple):
    """Change to a share partition. The counts are of records, and None where there is no state to compare with."""

    group: str
    #: Hyphenated UUID.
    topic_id: str
    partition: int
    change: Change
    before: ShareState | None
    after: ShareState | None
    #: Not settled before, settled after: accepted, archived, or passed by the start offset.
    settled: int | None
    #: Available after, with a greater delivery count than before: released, or their locks ran out.
    returned: int | None
    #: Settled before and not after, which only a reset or a fault does.
    unsettled: int | None


def state_diffs(before: Iterable[ShareState], after: Iterable[ShareState]) -> Iterator[StateDiff]:
    """Return the share partitions that changed, in order of group, topic id and partition."""
    old, new = _by_key(before), _by_key(after)
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was is None or now is None:
            yield StateDiff(*key, Change.NEW if was is None else Change.GONE, was, now, None, None, None)
            continue
        counts = _counts(was, now)
        if was["state_epoch"] != now["state_epoch"]:
            yield StateDiff(*key, Change.RESET, was, now, *counts)
        elif any(counts) or any(was[name] != now[name] for name in ("start_offset", "leader_epoch", "batches")):
            yield StateDiff(*key, Change.MOVED, was, now, *counts)


def _by_key(states: Iterable[ShareState]) -> dict[tuple[str, str, int], ShareState]:
    return {(state["group"], state["topic_id"], state["partition"]): state for state in states}


def _counts(was: ShareState, now: ShareState) -> tuple[int, int, int]:
    settled = returned = unsettled = 0
    for records, old, new in _pairs(was, now):
        was_settled, is_settled = _is_settled(old), _is_settled(new)
        settled += records * (is_settled and not was_settled)
        unsettled += records * (was_settled and not is_settled)
        if new is not None and new[0] == RecordState.AVAILABLE and not was_settled:
            returned += records * (new[1] > (0 if old is None else old[1]))
    return settled, returned, unsettled


def _is_settled(known: _Known) -> bool:
    return known is not None and known[0] in _TERMINAL


def _pairs(was: ShareState, now: ShareState) -> Iterator[tuple[int, _Known, _Known]]:
    """Walk the offsets of which either state knows something: how many there are in a row, and what both know of each."""
    old, new = _runs(was), _runs(now)
    # Below both start offsets nothing has changed, and where one is not resolved nothing is known.
    starts = [state["start_offset"] for state in (was, now) if state["start_offset"] >= 0]
    cuts = sorted({cut for first, last, _ in (*old, *new) for cut in (first, last + 1)} | set(starts))
    old_at, new_at = _Walk(old, was["start_offset"]), _Walk(new, now["start_offset"])
    for first, end in pairwise(cuts):
        yield end - first, old_at.known(first), new_at.known(first)


def _runs(state: ShareState) -> list[tuple[int, int, tuple[int, int]]]:
    return [(first, last, (delivery_state, count)) for first, last, delivery_state, count in state["batches"]]


class _Walk:
    """Walk over a state by ascending offsets."""

    def __init__(self, runs: Sequence[tuple[int, int, tuple[int, int]]], start_offset: int) -> None:
        self._runs = runs
        self._start_offset = start_offset
        self._at = 0

    def known(self, offset: int) -> _Known:
        if offset < self._start_offset:
            return _PASSED
        while self._at < len(self._runs) and self._runs[self._at][1] < offset:
            self._at += 1
        if self._at < len(self._runs) and self._runs[self._at][0] <= offset:
            return self._runs[self._at][2]
        return None
