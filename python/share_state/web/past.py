"""What became of the records of one share partition lately, as far as a page shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from share_state.analysis.history import history
from share_state.analysis.history_row import HistoryRow
from share_state.analysis.spans import Span, spans
from share_state.reading.as_of import AsOfOffset
from share_state.reading.cluster import is_cluster
from share_state.web.background import Progress

__all__ = ["Key", "Past", "Source", "read_past"]

#: Group, topic id and partition.
Key = tuple[str, str, int]

#: Spans and moves of the start offset that are kept: the newest. They bound memory, and the work of drawing.
_MOST_SPANS: Final = 20_000
_MOST_CHANGES: Final = 200


class Source(NamedTuple):
    """Where histories are read.

    Attributes:
        path: a copy of the state topic, or a running cluster.
        client_config: settings of a cluster's client, in librdkafka's names.
        timeout: seconds to wait for an answer of a cluster.
    """

    path: str
    client_config: dict[str, object] | None = None
    timeout: float | None = None


class Past(NamedTuple):
    """What was read.

    Attributes:
        changes: the newest rows, the newest last.
        changes_total: all rows that there were.
        spans: what was known of offsets, and for how long, in the order in which it ended; the newest.
        starts: when the start offset came to which offset.
        findings: what could not be read.
    """

    changes: tuple[HistoryRow, ...]
    changes_total: int
    spans: tuple[Span, ...]
    starts: tuple[tuple[int, int], ...]
    findings: tuple[str, ...]


def read_past(source: Source, key: Key, state_partitions: Iterable[int], own: int, progress: Progress) -> Past:
    """Read the history of a share partition. It blocks: not on an event loop.

    Args:
        source: where to read.
        key: the share partition.
        state_partitions: those that there are.
        own: the state partition that keeps the share partition; no other one is read.
        progress: what it raises ends the reading.

    Raises:
        ShareStateError: a cluster cannot be read.
        OSError: a path cannot be read.
    """
    group, topic_id, partition = key
    scan = history(
        source.path,
        group=group,
        topic_id=topic_id,
        partition=partition,
        as_of_offset=_only(own, state_partitions),
        progress=progress,
        client_config=source.client_config,
        timeout=source.timeout,
    )
    seen = _Seen()
    kept = tuple(deque(spans(seen.rows(scan)), _MOST_SPANS))
    is_copy = not is_cluster(source.path)
    # The end of a copy is being written.
    findings = tuple(found["message"] for found in scan.findings if not (is_copy and found["kind"] == "torn_tail"))
    return Past(tuple(seen.newest), seen.total, kept, tuple(seen.starts), findings)


def _only(own: int, state_partitions: Iterable[int]) -> AsOfOffset:
    """Cut every other state partition before its first record."""
    return {number: -1 for number in state_partitions if number != own}


class _Seen:
    """Keeps of the rows that pass what pictures do not."""

    def __init__(self) -> None:
        self.newest: deque[HistoryRow] = deque(maxlen=_MOST_CHANGES)
        self.starts: deque[tuple[int, int]] = deque(maxlen=_MOST_SPANS)
        self.total = 0

    def rows(self, found: Iterable[HistoryRow]) -> Iterator[HistoryRow]:
        for row in found:
            self.total += 1
            self.newest.append(row)
            if row.start_offset >= 0 and (not self.starts or self.starts[-1][1] != row.start_offset):
                self.starts.append((row.at_timestamp, row.start_offset))
            yield row
