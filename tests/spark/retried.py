"""A driver whose tasks fail at their first attempt, or are so slow that they are run twice; prints one line of JSON."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from tests.spark.sessions import builder


def fails_at_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pass records on and then fail, at the first attempt of every task."""
    context = TaskContext.get()
    for batch in batches:
        yield batch
        if context is not None and context.attemptNumber() == 0:
            raise OSError("a worker is lost")


def slow_at_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Be slow at the first attempt of the first task."""
    context = TaskContext.get()
    for batch in batches:
        if context is not None and context.attemptNumber() == 0 and context.partitionId() == 0:
            time.sleep(20)
        yield batch


def main() -> None:
    how, log = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        # Four attempts a task; two slots, and a speculative copy of what takes longer than the others.
        made = builder(Path(directory), "local[2,4]")
        speculation = {"": "true", ".multiplier": "1.1", ".quantile": "0.3", ".interval": "100ms", ".minTaskRuntime": "500ms"}
        for name, value in speculation.items() if how == "speculation" else ():
            made = made.config(f"spark.speculation{name}", value)
        session = made.getOrCreate()
        try:
            from share_state import spark as share_state_spark  # noqa: PLC0415  once a session is there

            raw = session.read.format("share_state").option("table", "raw").load(log)
            step = fails_at_first if how == "failure" else slow_at_first
            state = share_state_spark.state(raw.mapInArrow(step, raw.schema)).mapInArrow(step, share_state_spark.schema("state"))
            keys = sorted([row["group"], row["topic_id"], row["partition"], row["start_offset"]] for row in state.collect())
        finally:
            session.stop()
    sys.stdout.write(json.dumps(keys) + "\n")


if __name__ == "__main__":
    main()
