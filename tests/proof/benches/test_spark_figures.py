"""Sizes for a job on Spark, from measurements that are made up, and from those that are recorded."""

from __future__ import annotations

import json

from benches.spark.figures import Found, sizes
from tests.kafka.home import REPOSITORY


def row(records: int, seconds: list[float], **more: object) -> dict[str, object]:
    return {"records": records, "seconds": seconds, "wrong": None, **more}


MADE_UP: Found = {
    "ways": {"cores": 2, "rows": [row(0, [1.0], way="source"), row(1_000_000, [1.25, 9.0], way="source")]},
    "cores": {
        "rows": [row(0, [2.0, 3.0], cores=1), row(1_000_000, [2.5], cores=1)],
        "logs": [{"records": 10, "bytes": 5000}, {"records": 1_000_000, "bytes": 80_000_000}],
    },
    "memory": {
        "partitions": 16,
        "rows": [
            {"way": "frames", "keys": 16, "worker_bytes": 100 << 20},
            {"way": "frames", "keys": 16_016, "worker_bytes": (100 << 20) + 500_000},
        ],
    },
}


def test_sizes_follow_from_the_rows() -> None:
    assert list(sizes(MADE_UP)) == [
        # A quarter of a second for a million records, on two cores.
        ("records a second and core, our source (2 cores)", "2,000,000"),
        ("records a second and core, our source, of 1,000,000 (one core)", "2,000,000"),
        ("bytes of a record in its segment", "80"),
        ("seconds of a job with next to nothing to fold, in a session that is up (one core)", "2.0 to 3.0"),
        ("MiB of a worker with 16 share partitions, the function `state`", "100"),
        # A thousand more in each of sixteen state partitions.
        ("bytes more for each live share partition of its state partition, the function `state`", "500"),
    ]
    assert list(sizes({})) == []


def test_the_page_has_those_that_were_measured() -> None:
    files = sorted((REPOSITORY / "benches" / "results").glob("spark-*.json"))
    found = {file.stem.removeprefix("spark-"): json.loads(file.read_text(encoding="utf-8")) for file in files}
    page = (REPOSITORY / "docs" / "benchmarks-spark.md").read_text(encoding="utf-8")
    told = list(sizes(found))
    assert told
    assert [one for one in told if f"| {one[0]} | {one[1]} |" not in page] == []
