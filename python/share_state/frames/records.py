"""The records of a log, as the batches that the tables are made of."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

from share_state import _core
from share_state.frames.buffers import batch_out
from share_state.frames.schemas import SCHEMAS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RecordBatches", "read"]


class RecordBatches:
    """An iterator of the record batches of a log, in order of state partition and offset."""

    def __init__(self, scan: _core.FrameScan) -> None:
        #: The schema of every batch.
        self.schema: pa.Schema = SCHEMAS["input"]
        self._scan = scan
        self._is_begun = False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        self._is_begun = True
        batch = self._scan.next()
        if batch is None:
            raise StopIteration
        return batch_out(self.schema, batch)

    def whole(self) -> _core.FrameScan | None:
        """Return what reads the log, for who can do without the batches; None once one has been taken."""
        return None if self._is_begun else self._scan

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Findings about parts that could not be read so far, as :attr:`share_state.operate.analysis.Scan.findings`."""
        return self._scan.findings

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes read so far, and bytes there are."""
        return self._scan.progress


def read(path: str | PathLike[str], *, batch_rows: int = 16_384) -> RecordBatches:
    """Read the records of a log on the disk, beside a writer if need be: ``SCHEMAS["input"]``. Nothing is locked or changed.

    The path is one that :func:`share_state.operate.analysis.scan_path` takes, and what is raised is the same. What cannot be read
    is skipped and stands in ``findings`` afterwards.
    """
    return RecordBatches(_core.FrameScan(path, batch_rows=batch_rows))
