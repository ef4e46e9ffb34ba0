"""States that a stream keeps up to date are those of the whole log, micro-batch after micro-batch."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from share_state import ShareStateError, frames
from share_state.operate import analysis
from share_state.spark import StateTable, compaction
from tests.spark import rows
from tests.spark.logs import GrowingLog
from tests.spark.rows import table


def test_a_stream_keeps_the_states_through_restarts(spark: SparkSession, tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "log", partitions=2, seed=3)
    states = StateTable(str(tmp_path / "states"))
    with pytest.raises(ShareStateError, match="no micro-batch"):
        states.state(spark)
    for _ in range(2):
        log.write(60)
        stream = spark.readStream.format("share_state").option("table", "raw").option("maxRecordsPerBatch", "40")
        writer = stream.load(str(log.path)).writeStream.foreachBatch(states).option("checkpointLocation", str(tmp_path / "place"))
        writer.trigger(availableNow=True).start().awaitTermination()
        assert rows.states(states.state(spark)) == rows.of_engine(analysis.states(log.path))
    assert len(list((tmp_path / "states").iterdir())) == 2


def test_a_micro_batch_that_is_run_again_comes_to_the_same(spark: SparkSession, tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "log", partitions=2, seed=4)
    log.write(100)
    raw = table(spark, log.path, "raw")
    parts: list[DataFrame] = [raw.where("offset < 20"), raw.where("offset >= 20 and offset < 35"), raw.where("offset >= 35")]
    states = StateTable(str(tmp_path / "states"))
    for number, part in enumerate(parts):
        states(part, number)
        states(part, number)
    assert rows.states(states.state(spark)) == rows.of_engine(analysis.states(log.path))


def batches(path: Path) -> list[pa.RecordBatch]:
    records = [
        {"partition": partition, "offset": offset, "timestamp": timestamp * 1000, "key": key, "value": value}
        for partition, _segment, offset, timestamp, key, value in analysis.scan_path(path)
    ]
    return [pa.RecordBatch.from_pylist([record], schema=frames.SCHEMAS["input"]) for record in records]


def in_order(some: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    whole = pa.concat_tables([pa.Table.from_batches([one]) for one in some], promote_options="default")
    return list(whole.sort_by([("partition", "ascending"), ("offset", "ascending")]).to_batches(3))


@pytest.mark.parametrize("seed", range(25))
def test_folding_what_was_compacted_and_what_came_later_is_folding_everything(tmp_path: Path, seed: int) -> None:
    log = GrowingLog(tmp_path, partitions=1 + seed % 3, keys=2 + seed % 5, seed=seed)
    log.write(80)
    whole = batches(log.path)
    # The log may begin after a snapshot: a state that is incomplete stays so.
    whole = whole[seed % 4 :]
    expected = [row for batch in frames.state(whole) for row in batch.to_pylist()]
    kept: list[pa.RecordBatch] = []
    ends = [seed + 5, seed + 6, 70, 10**9]
    after = 0
    for end in ends:
        new = [one for one in whole if after <= one.column("offset")[0].as_py() < end]
        after = end
        kept = list(compaction.compact(in_order([*kept, *new]))) if kept or new else []
    assert [row for batch in compaction.states(kept) for row in batch.to_pylist()] == expected
    assert sum(one.num_rows for one in kept) == len(expected) > 0
