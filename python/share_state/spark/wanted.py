"""Filters that Spark pushes into the data source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import EqualTo, Filter, In

__all__ = ["Wanted", "pushed"]

#: Columns that tell rows of one share partition or state partition from those of another.
_COLUMNS = ("group", "topic_id", "partition", "state_partition")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows are wanted in which each of these columns has one of these values."""

    values: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Leave out the rows that nobody wants."""
        for batch in batches:
            kept = batch
            for column, values in self.values:
                kept = kept.filter(pc.is_in(kept.column(column), value_set=pa.array(values, kept.column(column).type)))
            if kept.num_rows:
                yield kept

    def allows(self, column: str, value: object) -> bool:
        """Return true if rows with this value may be wanted."""
        return all(value in values for name, values in self.values if name == column)


def pushed(filters: list[Filter], columns: list[str]) -> tuple[Wanted, list[Filter]]:
    """Take the filters that we can apply exactly, and give back the others."""
    taken: list[tuple[str, tuple[Any, ...]]] = []
    others: list[Filter] = []
    for one in filters:
        name = one.attribute[0] if isinstance(one, EqualTo | In) and len(one.attribute) == 1 else None
        if name not in _COLUMNS or name not in columns:
            others.append(one)
        else:
            taken.append((name, (one.value,) if isinstance(one, EqualTo) else tuple(one.value)))
    return Wanted(tuple(taken)), others
