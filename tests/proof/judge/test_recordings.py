"""Recorded files of share partitions and share sessions: the driver plays each, and Kafka 4.4.0 answers as was recorded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.kafka.home import REPOSITORY
from tests.proof.conformance.recordings import load
from tests.recordings import OUTSIDE, shared_is_required

from . import session_recordings
from .recordings import HINT, NOT_RECORDED, ORDER, THREADS, play

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

COPIES = REPOSITORY / "tests" / "data" / "conformance"
RECORDINGS = OUTSIDE / "conformance"

#: Figures of what Kafka's own tests recorded: scenarios that agree, those that agree in part and those left out by reason,
#: operations.
OF_TESTS = (181, {ORDER: 3} | Counter(NOT_RECORDED.values()), {THREADS: 1}, 1_070)
#: The same of each file that we know; another one only has to agree.
KNOWN = {
    COPIES / "share_partition_trunk.json.gz": OF_TESTS,
    RECORDINGS / "share_partition_trunk.json": OF_TESTS,
    COPIES / "share_partition_fuzz_trunk.json.gz": (41, {HINT: 13}, {}, 4_485),
    RECORDINGS / "share_partition_fuzz_trunk.json.gz": (260, {HINT: 126}, {}, 30_808),
}


def files(prefix: str) -> list[Path]:
    """Our copies, and all recordings where they are."""
    shared = sorted(RECORDINGS.glob(f"{prefix}*"))
    assert shared or not shared_is_required(), f"no {RECORDINGS}"
    return [*sorted(COPIES.glob(f"{prefix}*")), *shared]


@pytest.mark.parametrize("path", files("share_session"), ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_kafka_answers_of_sessions_as_was_recorded(path: Path) -> None:
    played = session_recordings.play(path)
    assert played.differences == []
    assert played.operations >= len(load(path).scenarios) > 0
    if path.name.startswith("share_session_trunk"):
        assert (played.operations, played.stubbed) == (91, 4)


@pytest.mark.parametrize("path", files("share_partition"), ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_kafka_answers_as_was_recorded(path: Path) -> None:
    played = play(path)
    assert played.differences == []
    scenarios = len(load(path).scenarios)
    # A scenario may have two reasons, so that the parts may be more than the whole.
    assert played.agree + played.in_part.total() + played.left_out.total() >= scenarios > 0
    if path in KNOWN:
        assert (played.agree, played.in_part, played.left_out, played.operations) == KNOWN[path]
