"""The recorded state directories of real brokers: those of the repository, and those of `SHARE_STATE_RECORDINGS`."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
ORDERS = REPOSITORY / "examples" / "orders-4.4.0"
JOBS = REPOSITORY / "tests" / "data" / "kafka-state" / "jobs-4.4.0"
#: Names a folder with more recordings, outside the repository: then they are required.
SWITCH = "SHARE_STATE_RECORDINGS"
#: Without the switch, a folder that is never there.
OUTSIDE = REPOSITORY / (os.environ.get(SWITCH) or "build/no-recordings")
SHARED = OUTSIDE / "data" / "kafka-state"

#: Code of a broker's answer for a share partition without state.
UNINITIALISED = 42

#: Records in Kafka's own dump of each directory that we know; a new one only has to agree.
KNOWN_DUMP_LINES = {"orders-4.4.0": 1495, "jobs-4.4.0": 608}


def recordings() -> list[Path]:
    """All recorded directories at hand."""
    shared = sorted(path for path in SHARED.iterdir() if path.is_dir()) if SHARED.is_dir() else []
    return [ORDERS, JOBS, *shared]


def recording_id(directory: Path) -> str:
    return f"{directory.parent.name}-{directory.name}"


def shared_is_required() -> bool:
    """The gate names the folder: a run that does not find it has not tested what it should."""
    return bool(os.environ.get(SWITCH))


def dump_lines(directory: Path) -> list[str]:
    """Output of Kafka's DumpLogSegments, a line a record."""
    with gzip.open(directory / "dump.jsonl.gz", "rt", encoding="utf-8") as lines:
        return lines.read().splitlines()


def read_answers(directory: Path) -> list[dict[str, Any]]:
    """Answers of the broker to ReadShareGroupState and ReadShareGroupStateSummary."""
    answers: list[dict[str, Any]] = json.loads((directory / "reads.json").read_text(encoding="utf-8"))
    return answers


def agree_with_the_broker(directory: Path, told: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    """Hold states, by share partition, to all that the broker answered: no more, no fewer, field by field."""
    answers = read_answers(directory)
    left = dict(told)
    for answer in answers:
        key = (answer["group"], answer["topic_id"], answer["partition"])
        read, summary = answer["read"], answer["summary"]
        if read["error"] == UNINITIALISED:
            assert key not in left
            continue
        state = left.pop(key)
        assert [list(batch) for batch in state["batches"]] == read["batches"]
        assert (state["state_epoch"], state["start_offset"]) == (read["state_epoch"], read["start_offset"])
        assert (state["leader_epoch"], state["delivery_complete_count"]) == (
            summary["leader_epoch"],
            summary["delivery_complete_count"],
        )
    assert left == {}, "share partitions that the broker does not know"
    assert len(answers) > 1
