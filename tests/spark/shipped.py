"""A driver on a cluster of separate worker processes whose Python has no share_state: it goes along as an archive.

Arguments: the archive of the package, how it goes along (`archives`, `artifact`), a state log. Prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tests.spark.sessions import builder

#: Place where the workers unpack it, in their own directories.
_PLACE = "ssenv"


def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Tell where a worker has the package from."""
    import share_state  # noqa: PLC0415  on the worker

    for _batch in batches:
        yield pa.RecordBatch.from_pydict({"file": [share_state.__file__], "place": [str(Path.cwd())]})


def main() -> None:
    archive, how, log = sys.argv[1:]
    # An executor's own PYTHONPATH, so that it does not inherit the driver's.
    made = builder(Path(archive).parent, "local-cluster[2,1,1024]").config("spark.executorEnv.PYTHONPATH", f"./{_PLACE}")
    if how == "archives":
        made = made.config("spark.archives", f"{archive}#{_PLACE}")
    session = made.config("spark.executor.memory", "512m").config("spark.default.parallelism", "2").getOrCreate()
    try:
        if how == "artifact":
            session.addArtifact(f"{archive}#{_PLACE}", archive=True)
        found = session.range(0, 8, numPartitions=4).mapInArrow(where, "file string, place string").collect()
        from share_state import spark as share_state_spark  # noqa: PLC0415  once a session is there

        raw = session.read.format("share_state").option("table", "raw").load(log)
        by_source = session.read.format("share_state").option("table", "state").load(log)
        rows = [sorted(map(repr, frame.drop("batches").collect())) for frame in (by_source, share_state_spark.state(raw))]
        keys = sorted([row["group"], row["topic_id"], row["partition"], row["start_offset"]] for row in by_source.collect())
    finally:
        session.stop()
    told = {
        "files": sorted({row["file"] for row in found}),
        "places": sorted({row["place"] for row in found}),
        "agree": rows[0] == rows[1],
        "keys": keys,
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
