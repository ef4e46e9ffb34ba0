"""A job of about a second, to see whether Spark works here: `python -m share_state.spark.trial`.

Prints one line of JSON. In its own process, so that its JVM ends with it.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime

from share_state import encode_record
from share_state.util.extras import require

_PARTITIONS = 2


def main() -> int:
    """Fold a few records on one core."""
    require("spark", "pyspark", "pandas", "pyarrow")
    from pyspark.sql import SparkSession  # noqa: PLC0415  after we know that it is there

    from share_state import spark as share_state_spark  # noqa: PLC0415

    begun = time.monotonic()
    session = (
        SparkSession.builder.master("local[1]")
        .appName("share-state spark-doctor")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", str(_PARTITIONS))
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        up = time.monotonic()
        session.sparkContext.setLogLevel("ERROR")
        records = session.createDataFrame(_records(), share_state_spark.INPUT_SCHEMA)
        rows = share_state_spark.state(records).count()
        done = time.monotonic()
        version = session.version
    finally:
        session.stop()
    figures = {"rows": rows, "seconds": done - up, "session_seconds": up - begun, "spark": version}
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0 if rows == _PARTITIONS else 1


def _records() -> list[tuple[bytes, bytes | None, int, int, datetime]]:
    return [(*_snapshot(partition), partition, 0, datetime.fromtimestamp(0, UTC)) for partition in range(_PARTITIONS)]


def _snapshot(partition: int) -> tuple[bytes, bytes | None]:
    names = ("snapshotEpoch", "stateEpoch", "leaderEpoch", "startOffset", "createTimestamp", "writeTimestamp")
    return encode_record(
        {
            "key": {"type": "0", "data": {"groupId": "doctor", "topicId": "A" * 22, "partition": partition}},
            "value": {"version": "0", "data": dict.fromkeys(names, 0) | {"deliveryCompleteCount": 0, "stateBatches": []}},
        }
    )


if __name__ == "__main__":
    sys.exit(main())
