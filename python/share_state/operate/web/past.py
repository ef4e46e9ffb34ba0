"""Past of the records of one share partition, as far as a page shows it; and of one record."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.operate.analysis.spans import Span, spans
from share_state.operate.analysis.trace import RecordFacts, RecordTrace, RecordTracer

if TYPE_CHECKING:
    from share_state.operate.analysis.history_row import HistoryRow
    from share_state.operate.web.background import Progress
    from share_state.operate.web.source import Place, Source

__all__ = ["Life", "Past", "read_life", "read_past"]

#: Spans and moves of the start offset that are kept: the newest. They bound memory, and the work of drawing.
_MOST_SPANS: Final = 20_000
_MOST_CHANGES: Final = 200


class Past(NamedTuple):
    """Past of a share partition, as far as it was read.

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


class Life(NamedTuple):
    """Life of one record, as far as it was read.

    Attributes:
        trace: its events.
        facts: what was known beside the log.
        findings: what could not be read.
    """

    trace: RecordTrace
    facts: RecordFacts
    findings: tuple[str, ...]


def read_past(source: Source, place: Place, progress: Progress) -> Past:
    """Read the history of a share partition. It blocks; what the progress raises ends it.

    Raises:
        ShareStateError: a cluster cannot be read.
        OSError: a path cannot be read.
    """
    rows, seen = source.rows(place, progress), _Seen()
    kept = tuple(deque(spans(seen.passing(rows)), _MOST_SPANS))
    return Past(tuple(seen.newest), seen.total, kept, tuple(seen.starts), rows.findings)


def read_life(source: Source, place: Place, offset: int, facts: RecordFacts, progress: Progress) -> Life:
    """Read what became of one record. It blocks; what the progress raises ends it.

    Raises:
        NotInLogError: the log tells nothing of it.
        ShareStateError: a cluster cannot be read.
        OSError: a path cannot be read.
    """
    rows, tracer = source.rows(place, progress), RecordTracer(offset)
    for row in rows:
        tracer.see(row)
    return Life(tracer.trace(facts), facts, rows.findings)


class _Seen:
    """Keeps of the rows that pass what pictures do not."""

    def __init__(self) -> None:
        self.newest: deque[HistoryRow] = deque(maxlen=_MOST_CHANGES)
        self.starts: deque[tuple[int, int]] = deque(maxlen=_MOST_SPANS)
        self.total = 0

    def passing(self, found: Iterable[HistoryRow]) -> Iterator[HistoryRow]:
        for row in found:
            self.total += 1
            self.newest.append(row)
            if row.start_offset >= 0 and (not self.starts or self.starts[-1][1] != row.start_offset):
                self.starts.append((row.at_timestamp, row.start_offset))
            yield row
