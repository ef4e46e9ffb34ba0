"""The history of records that somebody hands out one by one: the rows of a running cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from share_state import _core
from share_state.errors import ShareStateError
from share_state.operate.reading.plain import Finding, LogRecord, undecodable
from share_state.types import SharePartitionKey

if TYPE_CHECKING:
    from share_state.operate.analysis.history_row import HistoryRow

__all__ = ["Choice", "RecordHistory"]

#: The fields of a row that are no numbers.
_WORDS = frozenset({"group", "topic_id", "cause"})


class Choice(TypedDict, total=False):
    """Choice of share partitions, and of one offset in them."""

    group: str | None
    topic_id: str | None
    partition: int | None
    offset: int | None


class _Records(Protocol):
    """Records in order of partition and offset, and how far their reading is."""

    findings: list[Finding]
    progress: tuple[int, int]

    def __iter__(self) -> Iterator[LogRecord]:
        """Walk the records."""


class RecordHistory:
    """An iterator of rows with the face of :class:`share_state.operate.analysis.HistoryScan`; its progress is told in records."""

    def __init__(self, records: _Records, choice: Choice) -> None:
        # A choice that cannot be is refused here, not at the first row.
        _core.History(**choice)
        self._source = records
        self._choice = choice
        self._records = iter(records)
        self._ready: deque[HistoryRow] = deque()
        self._history: tuple[int, _core.History] | None = None

    @property
    def findings(self) -> list[Finding]:
        """Findings so far: what could not be decoded."""
        return list(self._source.findings)

    @property
    def progress(self) -> tuple[int, int]:
        """Records read so far, and records there are."""
        return self._source.progress

    def __iter__(self) -> Iterator[HistoryRow]:
        return self

    def __next__(self) -> HistoryRow:
        while not self._ready:
            self._ready.extend(self._rows(next(self._records)))
        return self._ready.popleft()

    def columns(self, max_rows: int = 65536) -> dict[str, Any] | None:
        """Return the next rows as columns, or None at the end; see ``HistoryScan.columns``."""
        if max_rows < 1:
            raise ValueError(f"max_rows is {max_rows}")
        rows = list(islice(self, max_rows))
        # The rows of a record stay together.
        rows += self._ready
        self._ready.clear()
        return _columns(rows) if rows else None

    def _rows(self, record: LogRecord) -> list[HistoryRow]:
        if self._history is None or self._history[0] != record.partition:
            # Another state partition has other keys: what was known is of no use to it.
            self._history = record.partition, _core.History(record.partition, **self._choice)
        try:
            return self._history[1].replay(record.offset, record.timestamp, record.key, record.value)
        except ShareStateError as error:
            self._source.findings.append(undecodable(record, error))
            return []


def _columns(rows: list[HistoryRow]) -> dict[str, Any]:
    import numpy as np  # noqa: PLC0415  comes with the first columnar call, as everywhere

    causes = {name: number for number, name in enumerate(_core.HISTORY_CAUSES)}
    keys: dict[tuple[str, str, int], int] = {}
    columns: dict[str, Any] = {
        name: np.array([-1 if value is None else value for value in values], dtype=np.int64)
        for name, values in zip(rows[0]._fields, zip(*rows, strict=True), strict=True)
        if name not in _WORDS
    }
    columns["cause"] = np.array([causes[row.cause] for row in rows], dtype=np.uint8)
    columns["key"] = np.array([keys.setdefault(row[:3], len(keys)) for row in rows], dtype=np.int64)
    columns["keys"] = [SharePartitionKey(*key) for key in keys]
    return columns
