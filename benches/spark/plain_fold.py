"""The fold in plain Python, as somebody would write it who has no engine: what ours is compared with.

Nothing in it is slow on purpose. Records are read with precompiled structs, a state's runs are a short sorted list, and what
comes after all of them, the most common case, is appended without a look at the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Any
from uuid import UUID

__all__ = ["Decoded", "PlainState", "decode", "fold", "fold_decoded", "name_of"]

_SNAPSHOT = Struct(">hiiiqqq")
_UPDATE = Struct(">hiiq")
_BATCH = Struct(">qqbhx")
_COUNT = Struct(">i")
_UPDATE_TYPE = 1
#: First and last offset, delivery state, delivery count.
Run = tuple[int, int, int, int]
#: Flag of an update; snapshot epoch, state epoch (0 in an update, which has none), leader epoch, start offset, delivery
#: complete count, and state batches.
Decoded = tuple[bool, int, int, int, int, int, list[Run]]


class PlainState:
    """The state of one share partition."""

    __slots__ = ("complete", "leader_epoch", "runs", "snapshot_epoch", "start_offset", "state_epoch")

    def __init__(self, snapshot_epoch: int, state_epoch: int, leader_epoch: int) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = -1
        self.complete = -1
        self.runs: list[Run] = []

    def row(self, name: bytes) -> tuple[Any, ...]:
        """Return the columns that are compared, in their order."""
        return self.columns(name_of(name))

    def columns(self, name: tuple[str, str, int]) -> tuple[Any, ...]:
        """Return the same for a share partition whose name has been read."""
        return (
            *name,
            self.snapshot_epoch,
            self.state_epoch,
            self.leader_epoch,
            self.start_offset,
            self.complete,
            self.runs,
        )


def name_of(name: bytes) -> tuple[str, str, int]:
    """Read a key after its type: group, topic id, partition."""
    end = 2 + int.from_bytes(name[:2], "big")
    return name[2:end].decode(), str(UUID(bytes=name[end : end + 16])), int.from_bytes(name[end + 16 : end + 20], "big")


def fold(state: PlainState | None, record_type: int, value: bytes | bytearray | None) -> PlainState | None:
    """Apply one record; None is a share partition without state."""
    return None if value is None else fold_decoded(state, decode(record_type, value))


def decode(record_type: int, value: bytes | bytearray) -> Decoded:
    """Read the value of a record that is no tombstone."""
    if record_type != _UPDATE_TYPE:
        _version, snapshot_epoch, state_epoch, leader_epoch, start, _created, _written = _SNAPSHOT.unpack_from(value)
        batches, complete = _rest(value, _SNAPSHOT.size)
        return False, snapshot_epoch, state_epoch, leader_epoch, start, complete, batches
    _version, snapshot_epoch, leader_epoch, start = _UPDATE.unpack_from(value)
    batches, complete = _rest(value, _UPDATE.size)
    return True, snapshot_epoch, 0, leader_epoch, start, complete, batches


def fold_decoded(state: PlainState | None, record: Decoded) -> PlainState:
    """Apply one record that has been decoded and is no tombstone."""
    is_update, snapshot_epoch, state_epoch, leader_epoch, start, complete, batches = record
    if state is None or not is_update:
        state = PlainState(snapshot_epoch, state_epoch, leader_epoch)
        state.start_offset = start
    else:
        if leader_epoch != -1:
            state.leader_epoch = leader_epoch
        if start not in (-1, state.start_offset):
            state.start_offset = start
            state.runs = _clipped(state.runs, start)
        batches = _clipped(batches, state.start_offset)
    state.complete = complete
    state.runs = _merged(state.runs, batches)
    return state


def _rest(value: bytes | bytearray, at: int) -> tuple[list[Run], int]:
    """Read the state batches, and the delivery complete count, a tagged field."""
    count, at = _unsigned(value, at)
    end = at + (count - 1) * _BATCH.size
    batches = list(_BATCH.iter_unpack(value[at:end]))
    complete = -1
    tags, at = _unsigned(value, end)
    for _ in range(tags):
        tag, at = _unsigned(value, at)
        size, at = _unsigned(value, at)
        if tag == 0:
            (complete,) = _COUNT.unpack_from(value, at)
        at += size
    return batches, complete


def _unsigned(value: bytes | bytearray, at: int) -> tuple[int, int]:
    byte = value[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = value[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7


def _clipped(runs: list[Run], start: int) -> list[Run]:
    """Leave out what lies below the start offset."""
    if not runs or runs[0][0] >= start:
        return runs
    return [(max(first, start), last, state, count) for first, last, state, count in runs if last >= start]


def _merged(runs: list[Run], batches: Iterable[Run]) -> list[Run]:
    """Merge batches into sorted, disjoint runs: at each offset the higher count stands, then the higher state."""
    for batch in batches:
        if runs and batch[0] <= runs[-1][1]:
            runs = _overlaid(runs, batch)
        else:
            _append(runs, batch)
    return runs


def _append(runs: list[Run], run: Run) -> None:
    """Append after all others; one that goes on as the last is joined to it."""
    first, last, state, count = run
    if runs:
        before = runs[-1]
        if before[1] + 1 == first and before[2] == state and before[3] == count:
            runs[-1] = (before[0], last, state, count)
            return
    runs.append(run)


def _overlaid(runs: list[Run], batch: Run) -> list[Run]:
    first, last, state, count = batch
    merged: list[Run] = []
    for run in runs:
        run_first, run_last, run_state, run_count = run
        if run_last < first:
            _append(merged, run)
            continue
        if first <= last:
            if first < run_first:
                # What of the batch lies before this run.
                _append(merged, (first, min(last, run_first - 1), state, count))
                first = run_first
            if first <= last and first <= run_last:
                if run_first < first:
                    _append(merged, (run_first, first - 1, run_state, run_count))
                both = min(last, run_last)
                best_count, best_state = max((run_count, run_state), (count, state))
                _append(merged, (first, both, best_state, best_count))
                first = run_first = both + 1
        if run_first <= run_last:
            _append(merged, (run_first, run_last, run_state, run_count))
    if first <= last:
        _append(merged, (first, last, state, count))
    return merged
