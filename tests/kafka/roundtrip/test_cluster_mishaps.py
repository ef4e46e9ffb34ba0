"""What a cluster may do while it is read, played by a client that does what we tell it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

import share_state
from share_state import SharePartitionKey
from share_state.cli.app import app
from share_state.reading import cluster
from share_state.reading.as_of import AsOf
from share_state.reading.cluster import ClusterReadError, ClusterScan
from tests.kafka.roundtrip.played import ADDRESS, EOF, Error, Log, Message, Played, client

KEY = SharePartitionKey("workers", "cdaaa4ea-466b-46fd-b8cd-9e5fe6a2ff2d", 3)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int, list[Message]], Played]:
    def put_in_place(start: int, end: int, messages: list[Message]) -> Played:
        played = Played({0: Log(start, end, messages)})
        monkeypatch.setitem(sys.modules, "confluent_kafka", client(played))
        return played

    return put_in_place


def records() -> list[tuple[bytes, bytes | None]]:
    """Those of one initialisation and one write."""
    coordinator = share_state.ShareCoordinator()
    made = coordinator.initialize(*KEY, 2, 10, wall_ms=1).records
    for offset, record in enumerate(made):
        coordinator.replay(offset, record.key, record.value)
    write = share_state.WriteState(2, 0, 12, 1, [(12, 12, 0, 1), (13, 13, 2, 1)])
    made += coordinator.write(*KEY, write, wall_ms=2).records
    return [(record.key, record.value) for record in made]


def test_what_is_written_meanwhile_is_left_for_the_next_time(play: Callable[..., Played]) -> None:
    first, second = records()
    play(7, 8, [Message(7, *first), Message(8, *second)])
    assert [record.offset for record in ClusterScan(ADDRESS)] == [7]


def test_a_log_that_was_pruned_meanwhile_begins_later(play: Callable[..., Played]) -> None:
    first, _ = records()
    played = play(0, 9, [Message(5, *first), Message(9, failure=Error(EOF))])
    assert [record.offset for record in ClusterScan(ADDRESS)] == [5]
    assert played.closed


def test_an_empty_partition_is_not_waited_for(play: Callable[..., Played]) -> None:
    play(4, 4, [])
    assert list(ClusterScan(ADDRESS)) == []


def test_a_failure_in_the_middle_is_an_error_with_kafkas_code(play: Callable[..., Played]) -> None:
    first, _ = records()
    played = play(0, 2, [Message(0, *first), Message(1, failure=Error(29))])
    with pytest.raises(ClusterReadError, match="error 29") as raised:
        list(ClusterScan(ADDRESS))
    assert raised.value.kafka_code == 29
    assert played.closed


def test_a_cluster_that_falls_silent_is_an_error(play: Callable[..., Played], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.0)
    first, _ = records()
    played = play(0, 2, [Message(0, *first)])
    with pytest.raises(ClusterReadError, match="no answer for __share_group_state-0"):
        list(ClusterScan(ADDRESS))
    assert played.closed


def test_a_reader_that_stops_early_closes_the_client(play: Callable[..., Played]) -> None:
    first, second = records()
    played = play(0, 2, [Message(0, *first), Message(1, *second)])
    rows = iter(ClusterScan(ADDRESS))
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert played.closed


@pytest.mark.parametrize("as_of", [AsOf(offset=0), AsOf(offset={0: 0}), AsOf(timestamp=5), AsOf(0, 5)])
def test_what_is_after_the_end_that_is_asked_for_is_not_waited_for(play: Callable[..., Played], as_of: AsOf) -> None:
    first, second = records()
    played = play(0, 3, [Message(0, *first, ms=5), Message(1, *second, ms=6), Message(2, *first, ms=5)])
    seen: list[tuple[int, int]] = []
    scan = ClusterScan(ADDRESS, None, lambda *at: seen.append(at), as_of)
    assert [record.offset for record in scan] == [0]
    assert seen[-1] == scan.progress
    assert scan.progress[0] == scan.progress[1]
    assert played.handed_out <= 2
    assert played.closed


def test_progress_ends_at_the_total(play: Callable[..., Played]) -> None:
    first, second = records()
    play(0, 2, [Message(0, *first), Message(1, *second)])
    seen: list[tuple[int, int]] = []
    states, findings = cluster.fold_cluster(ClusterScan(ADDRESS, None, lambda *at: seen.append(at)))
    assert seen == [(0, 2), (2, 2)]
    assert not findings
    assert [(state["start_offset"], state["batches"]) for state in states] == [(12, [(12, 12, 0, 1), (13, 13, 2, 1)])]


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_a_record_that_cannot_be_decoded_is_a_finding(command: str, play: Callable[..., Played]) -> None:
    first, second = records()
    play(0, 3, [Message(0, *first), Message(1, b"\x00\x00\x00", b"?"), Message(2, *second)])
    ran = CliRunner().invoke(app, [command, ADDRESS, "--format", "jsonl"])
    assert ran.exit_code == 4
    assert ran.stderr.startswith("record: __share_group_state-0: the record at offset 1 cannot be decoded")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(rows) == {"state": 1, "dump": 3, "history": 4, "anomalies": 0}[command]
