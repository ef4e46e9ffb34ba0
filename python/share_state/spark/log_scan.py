"""The records of a path as record batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from share_state import _core

__all__ = ["LogScan"]

_BATCH = 10_000
_COLUMNS = pa.schema(
    [
        ("partition", pa.int32()),
        ("segment", pa.string()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)


class LogScan:
    """An iterator of record batches in order of state partition and offset; ``findings`` is complete behind the last."""

    def __init__(self, path: Path) -> None:
        self._scan = _core.scan_path(path)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What could not be read so far."""
        return self._scan.findings

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Read on."""
        while some := list(islice(self._scan, _BATCH)):
            columns = zip(*some, strict=True)
            arrays = [pa.array(values, field.type) for values, field in zip(columns, _COLUMNS, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_COLUMNS).drop_columns(["segment"])
