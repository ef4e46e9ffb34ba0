"""Packing loses nothing and makes nothing up, brings into order whatever comes in no order, and keeps little of it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import BinaryType, StructField, StructType

import share_state as ss
from share_state import frames
from share_state.spark import packing
from share_state.spark.schemas import INPUT_SCHEMA, arrow_schema
from tests.spark.logs import GrowingLog

_INNER = arrow_schema(INPUT_SCHEMA)
_OUTER = arrow_schema(StructType([*INPUT_SCHEMA, StructField("packed", BinaryType())]))


def shuffled(batches: list[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """What Spark makes of batches: one task's rows by state partition and offset, what is missing first; divided anew."""
    packed = [one for batch in batches for one in packing._packed(batch.cast(_INNER), _OUTER)]
    keys = [("partition", "ascending", "at_start"), ("offset", "ascending", "at_start")]
    whole = pa.Table.from_batches(packed, schema=_OUTER).sort_by(keys)
    yield from whole.combine_chunks().to_batches(max_chunksize=most)


def divided(chance: random.Random, records: pa.Table) -> list[pa.RecordBatch]:
    """Records as batches of any size, in order, in an order of little knots, or in none."""
    order = list(range(records.num_rows))
    knot = chance.choice([1, 1, 50, 10**6])
    order.sort(key=lambda row: row // knot + chance.random() * (0 if knot == 1 else 3))
    if chance.random() < 0.3:
        chance.shuffle(order)
    batches: list[pa.RecordBatch] = records.take(order).combine_chunks().to_batches(chance.choice([1, 40, 300, 10**6]))
    return batches


@pytest.mark.parametrize("seed", range(30))
def test_records_come_back_in_order_whatever_they_came_in(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  a test, not a secret
    monkeypatch.setattr(packing, "_WINDOW_BITS", chance.choice([3, 6, 14]))
    monkeypatch.setattr(packing, "_FEWEST", chance.choice([1, 4, 32]))
    monkeypatch.setattr(packing, "_ENOUGH_BYTES", chance.choice([1, 2_000, 1 << 20]))
    made = []
    for partition in [None, -1, *range(chance.randrange(1, 5))]:
        offset = chance.choice([-40, 0, 10**12])
        for _ in range(3 if partition is None else chance.randrange(600)):
            offset += chance.choice([1, 1, 1, 1, 2, 30_000])
            value = None if chance.random() < 0.1 else chance.randbytes(chance.choice([9, 9, 9, 3_000]))
            for _ in range(1 + (chance.random() < 0.05)):
                place = None if chance.random() < 0.01 else offset
                made.append({"key": chance.randbytes(8), "value": value, "partition": partition, "offset": place})
    records = pa.Table.from_pylist(made, schema=_INNER.remove(4)).append_column(
        _INNER.field(4), pa.nulls(len(made), _INNER.types[4])
    )
    back = [row for batch in packing.unpacked(shuffled(divided(chance, records), 100)) for row in batch.to_pylist()]
    assert sorted(map(repr, back)) == sorted(map(repr, records.to_pylist()))
    places = [tuple(-(10**20) if row[name] is None else row[name] for name in ("partition", "offset")) for row in back]
    assert places == sorted(places)


@pytest.mark.parametrize("seed", range(6))
def test_the_fold_is_the_same_and_tells_what_is_repeated(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  a test, not a secret
    log = GrowingLog(tmp_path, partitions=1 + seed % 3, keys=7, seed=seed)
    log.write(400)
    records = pa.Table.from_batches(frames.read(tmp_path)).cast(_INNER)
    expected = rows_of(frames.state(records.to_batches()))
    assert len(expected) == len(list(ss.states(tmp_path)))
    assert rows_of(frames.state(packing.unpacked(shuffled(divided(chance, records), 70)))) == expected
    some = records.slice(10, 3)
    twice = frames.state(
        packing.unpacked(shuffled(divided(chance, pa.concat_tables([records, some])), 70)), on_error="quarantine"
    )
    assert rows_of(twice) == expected
    told = [(row["partition"], row["offset"], row["reason"]) for row in rows_of(twice.quarantined())]
    places = zip(some.column("partition").to_pylist(), some.column("offset").to_pylist(), strict=True)
    assert told == [(*place, "repeated") for place in places]


def rows_of(batches: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("apart", [1, 7, 400])
def test_what_a_task_keeps_does_not_grow_with_its_input(apart: int) -> None:
    chance = random.Random(apart)  # noqa: S311  a test, not a secret
    count = 200_000
    columns = [
        pa.array([bytes(40)] * count),
        pa.array([bytes(60)] * count),
        pa.array([3] * count, pa.int32()),
        pa.array(range(0, count * apart, apart), pa.int64()),
        pa.nulls(count, _INNER.types[4]),
    ]
    records = pa.Table.from_arrays(columns, schema=_INNER)
    order = list(range(count))
    # Each batch has records of sixteen windows or so.
    order.sort(key=lambda row: row + chance.randrange(250_000 // apart))
    batches = records.take(order).combine_chunks().to_batches(max_chunksize=10_000)
    merged, most, given = packing._Merged(), 0, 0
    for run in packing._runs(shuffled(batches, 10_000)):
        given += sum(batch.num_rows for batch in merged.add(run))
        most = max(most, merged._bytes)
    given += sum(batch.num_rows for batch in merged.rest())
    assert given == count
    # A window has 16,384 records of 125 bytes at most, of which one half may be kept when the other is given.
    assert most < 3 * 16_384 * 125 < records.nbytes / 2
