"""A client of Spark Connect, without a JVM of its own; prints one line of JSON.

Arguments: the address of the server, a state log, a directory to write in.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import DataFrame, SparkSession

from share_state import spark as share_state_spark
from share_state.operate import analysis
from share_state.spark.run import Job, run
from tests.spark import rows


def main() -> None:
    url, log, directory = sys.argv[1:]
    spark = SparkSession.builder.remote(url).getOrCreate()
    try:
        raw = spark.read.format("share_state").option("table", "raw").load(log)
        stream = spark.readStream.format("share_state").option("table", "raw").load(log)
        kept = share_state_spark.StateTable(f"{directory}/states")
        finish(stream.writeStream.foreachBatch(kept), f"{directory}/states-checkpoint")
        finish(stream.writeStream.format("parquet").option("path", f"{directory}/raw"), f"{directory}/raw-checkpoint")
        job = Job(log, f"{directory}/out", ("state", "history"))
        states = rows.of_engine(analysis.states(log))
        told = {
            "session": type(spark).__module__,
            "function state": rows.states(share_state_spark.state(raw)) == states,
            "function history": rows.history(share_state_spark.history(raw)) == rows.of_engine(analysis.history(log)),
            "function anomalies": rows.anomalies(share_state_spark.anomalies(raw)) == rows.of_engine(analysis.anomalies(log)),
            "source": rows.states(rows.table(spark, log, "state")) == states,
            "stream": places(spark.read.parquet(f"{directory}/raw")) == places(raw),
            "state table": rows.states(kept.state(spark)) == states,
            "job": {one.table: one.rows for one in run(spark, job, lambda _done, _all: None)},
        }
    finally:
        spark.stop()
    sys.stdout.write(json.dumps(told) + "\n")


def finish(writer: object, checkpoint: str) -> None:
    """Read a stream to its end."""
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()  # type: ignore[attr-defined]
    query.awaitTermination()


def places(frame: DataFrame) -> list[tuple[int, int]]:
    return sorted((row["partition"], row["offset"]) for row in frame.select("partition", "offset").collect())


if __name__ == "__main__":
    main()
