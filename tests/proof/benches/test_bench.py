"""Kafka's own classes have the same results as share_state on the operation logs of the benchmarks."""

from pathlib import Path

import pytest

from benches import programs
from benches.plan import DURABILITIES
from benches.programs import KAFKA, running
from tests.proof.benches.program import generate, program, replay

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

WORKLOADS = {
    "W2": 5_000,
    "W4": 10,
    "W5": 1_000,
    "W6-cycle": 200,
    "W7-jittered": 600,
    "W8": 200,
    "W9": 600,
    "W10": 3_000,
    "W11": 50,
    "W12": 50,
    "W13-zipf": 100,
    "W14": 5,
    "W1-durable": 10,
    "W4-durable": 60,
    "W13-durable": 20,
    "W15-jump": 2_000,
    "W15-gaps": 1_000,
    "encode": 20,
}


@pytest.mark.parametrize("durability", DURABILITIES)
def test_kafka_makes_the_commits_of_the_store(durability: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its persister appends the bytes of every commit, neither more nor fewer, and is timed."""
    monkeypatch.setattr(programs, "rust", lambda _: program())
    path = generate("W4-durable", 60, tmp_path)
    with running(path, KAFKA, 60, durability) as kafka:
        assert kafka.results["digest"] == replay(path, "tree")["digest"]
        told = kafka.ask("replays", 2)
        assert told["ns"] > 0
        assert told["compiling_ms"] >= 0
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_kafka_agrees(workload: str, tmp_path: Path) -> None:
    path = generate(workload, WORKLOADS[workload], tmp_path)
    with running(path, KAFKA, 60) as kafka:
        assert kafka.results["digest"] is not None
        assert kafka.results["digest"] == replay(path, "tree")["digest"]
