"""The recorded state directories of real brokers: our own copies, and all of ../shared where it is."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
ORDERS = REPOSITORY / "examples" / "orders-4.4.0"
JOBS = REPOSITORY / "tests" / "data" / "kafka-state" / "jobs-4.4.0"
SHARED = REPOSITORY.parent / "shared" / "data" / "kafka-state"

#: Records in Kafka's own dump of each directory that we know; a new one only has to agree.
KNOWN_DUMP_LINES = {"orders-4.4.0": 1495, "jobs-4.4.0": 608}


def recordings() -> list[Path]:
    """All recorded directories at hand."""
    shared = sorted(path for path in SHARED.iterdir() if path.is_dir()) if SHARED.is_dir() else []
    return [ORDERS, JOBS, *shared]


def recording_id(directory: Path) -> str:
    return f"{directory.parent.name}-{directory.name}"


def shared_is_required() -> bool:
    """CI always has ../shared beside the checkout: a run without it has not tested what it should."""
    return os.environ.get("CI") == "true"


def dump_lines(directory: Path) -> list[str]:
    """What Kafka's DumpLogSegments printed, a line a record."""
    with gzip.open(directory / "dump.jsonl.gz", "rt", encoding="utf-8") as lines:
        return lines.read().splitlines()


def read_answers(directory: Path) -> list[dict[str, Any]]:
    """What the broker answered to ReadShareGroupState and ReadShareGroupStateSummary."""
    answers: list[dict[str, Any]] = json.loads((directory / "reads.json").read_text(encoding="utf-8"))
    return answers
