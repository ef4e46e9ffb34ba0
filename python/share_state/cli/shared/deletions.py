"""States that were deleted: a fold no longer has them, and what was found in them concerns nobody any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import typer

from share_state.cli.shared.choice import Key
from share_state.operate.analysis.anomaly import Anomaly
from share_state.operate.analysis.history_row import HistoryCause, HistoryRow
from share_state.operate.analysis.names import instant
from share_state.util.printable import printable


class Deletions:
    """Deletions among the rows that pass."""

    def __init__(self) -> None:
        """Begin with none."""
        #: Offsets of the state topic and times in ms, ascending, by share partition and state partition.
        self._seen: dict[tuple[Key, int], list[tuple[int, int]]] = {}

    def watch(self, rows: Iterable[HistoryRow]) -> Iterator[HistoryRow]:
        """Pass rows on, and keep the deletions among them."""
        for row in rows:
            if row.cause == HistoryCause.DELETED:
                self._seen.setdefault((row[:3], row.state_partition), []).append((row.at_offset, row.at_timestamp))
            yield row

    def after(self, found: Anomaly) -> int | None:
        """Tell when the state in which something was found was deleted, in ms since the epoch; None: it was not."""
        key = (found.group, found.topic_id, found.partition)
        there = self._seen.get((key, found.state_partition), [])
        return next((ms for offset, ms in there if offset >= found.since_offset), None)


def check_deleted(group: str, rows: Iterable[HistoryRow]) -> None:
    """Refuse a group, without state, whose rows tell of deletions, with the time of the last.

    Raises:
        typer.BadParameter: its states were deleted.
    """
    deleted = [row for row in rows if row.group == group and row.cause == HistoryCause.DELETED]
    if deleted:
        last = instant(max(row.at_timestamp for row in deleted))
        some = len({row[:3] for row in deleted})
        whose = "its share partition was deleted at" if some == 1 else f"its {some} share partitions was deleted, the last at"
        told = f"--group {group} has no state any more: that of {whose} {last}; `share-state history` shows its history"
        raise typer.BadParameter(printable(told))
