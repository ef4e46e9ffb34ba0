"""Source of what the view does not hold: a copy of the state topic, or the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from share_state.operate.analysis.read_history import history
from share_state.operate.reading.cluster import is_cluster

if TYPE_CHECKING:
    from share_state._core import HistoryScan
    from share_state.operate.analysis.history_row import HistoryRow
    from share_state.operate.analysis.record_history import RecordHistory
    from share_state.operate.web.background import Progress

__all__ = ["Key", "Place", "Rows", "Source"]

#: Group, topic id and partition.
Key = tuple[str, str, int]


class Place(NamedTuple):
    """Place where the state of a share partition is kept.

    Attributes:
        key: the share partition.
        own: its state partition; no other one is read.
        state_partitions: all that there are.
    """

    key: Key
    own: int
    state_partitions: tuple[int, ...]


class Source(NamedTuple):
    """Something to read.

    Attributes:
        path: a copy of the state topic, or a running cluster.
        client_config: settings of a cluster's client, in librdkafka's names.
        timeout: seconds to wait for an answer of a cluster.
    """

    path: str
    client_config: dict[str, object] | None = None
    timeout: float | None = None

    def rows(self, place: Place, progress: Progress) -> Rows:
        """Read the history of a share partition. It blocks: not on an event loop.

        Raises:
            ShareStateError: a cluster cannot be read.
            OSError: a path cannot be read.
        """
        group, topic_id, partition = place.key
        scan = history(
            self.path,
            group=group,
            topic_id=topic_id,
            partition=partition,
            # Every other state partition is cut before its first record.
            as_of_offset={number: -1 for number in place.state_partitions if number != place.own},
            progress=progress,
            client_config=self.client_config,
            timeout=self.timeout,
        )
        return Rows(scan, is_copy=not is_cluster(self.path))


class Rows:
    """The rows of a history; iterate once."""

    def __init__(self, scan: HistoryScan | RecordHistory, *, is_copy: bool) -> None:
        self._scan = scan
        self._is_copy = is_copy

    def __iter__(self) -> Iterator[HistoryRow]:
        """Return the rows."""
        return iter(self._scan)

    @property
    def findings(self) -> tuple[str, ...]:
        """Findings after the last row: what could not be read; the end of a copy is being written."""
        found: Iterable[dict[str, object]] = map(dict, self._scan.findings)
        return tuple(str(one["message"]) for one in found if not (self._is_copy and one["kind"] == "torn_tail"))
