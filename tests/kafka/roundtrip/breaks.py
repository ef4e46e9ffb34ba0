"""Folds that are wrong on purpose: each does to the records, before they are folded, what a broken rule would do to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import share_state
from share_state.operate import analysis

Value = dict[str, Any]
Fold = Callable[[Path], tuple[list[dict[str, Any]], list[dict[str, Any]]]]

_SNAPSHOT, _UPDATE = "0", "1"
_AVAILABLE, _ACKNOWLEDGED, _ARCHIVED = 0, 2, 4


def _start_offsets_of_updates_are_ignored(kind: str, value: Value) -> None:
    if kind == _UPDATE:
        value["startOffset"] = -1


def _counts_of_updates_are_ignored(kind: str, value: Value) -> None:
    if kind == _UPDATE:
        value["deliveryCompleteCount"] = -1


def _batches_of_updates_are_ignored(kind: str, value: Value) -> None:
    if kind == _UPDATE:
        value["stateBatches"] = []


def _acknowledged_is_taken_for_available(_kind: str, value: Value) -> None:
    for batch in value["stateBatches"]:
        if batch["deliveryState"] == _ACKNOWLEDGED:
            batch["deliveryState"] = _AVAILABLE


def _archived_is_taken_for_acknowledged(_kind: str, value: Value) -> None:
    for batch in value["stateBatches"]:
        if batch["deliveryState"] == _ARCHIVED:
            batch["deliveryState"] = _ACKNOWLEDGED


def _delivery_counts_are_ignored(_kind: str, value: Value) -> None:
    for batch in value["stateBatches"]:
        batch["deliveryCount"] = 1


def _the_last_offset_of_a_batch_is_left_out(_kind: str, value: Value) -> None:
    for batch in value["stateBatches"]:
        batch["lastOffset"] = max(batch["firstOffset"], batch["lastOffset"] - 1)


def _state_epochs_are_ignored(kind: str, value: Value) -> None:
    if kind == _SNAPSHOT:
        value["stateEpoch"] = 0


#: Broken rules, by name.
BREAKS: dict[str, Callable[[str, Value], None]] = {
    rule.__name__.strip("_").replace("_", " "): rule
    for rule in (
        _start_offsets_of_updates_are_ignored,
        _counts_of_updates_are_ignored,
        _batches_of_updates_are_ignored,
        _acknowledged_is_taken_for_available,
        _archived_is_taken_for_acknowledged,
        _delivery_counts_are_ignored,
        _the_last_offset_of_a_batch_is_left_out,
        _state_epochs_are_ignored,
    )
}
#: Breaks that lose what a member has settled.
LOSING = ("acknowledged is taken for available", "batches of updates are ignored", "the last offset of a batch is left out")


def broken(rule: Callable[[str, Value], None]) -> Fold:
    """A stand-in for ``share_state.operate.analysis.fold_path`` that breaks a rule; without one of the above it is right."""

    def fold(directory: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        coordinators: dict[int, share_state.ShareCoordinator] = {}
        for partition, _segment, offset, _timestamp, key, value in analysis.scan_path(directory):
            record = share_state.decode_record(key, value)
            if record["value"] is not None:
                rule(record["key"]["type"], record["value"]["data"])
            coordinator = coordinators.setdefault(partition, share_state.ShareCoordinator())
            coordinator.replay(offset, *share_state.encode_record(record))
        return [state for coordinator in coordinators.values() for state in coordinator.states()], []

    return fold
