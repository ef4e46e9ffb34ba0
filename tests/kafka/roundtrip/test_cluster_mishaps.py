"""Mishaps of a cluster while it is read, played by a broker that does what we tell it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import share_state
from share_state import SharePartitionKey
from share_state.cli.app import app
from share_state.operate.reading import cluster
from share_state.operate.reading.as_of import AsOf
from share_state.operate.reading.cluster import ClusterReadError, ClusterScan, NoAnswerError, ReadNotAllowedError
from tests.gateway.wire.batches import batch
from tests.kafka.roundtrip.played import ADDRESS, log_of, playing
from tests.operate.live.fake_cluster import FETCH, LIST_OFFSETS, METADATA, OUT_OF_RANGE, VERSIONS, FakeCluster

KEY = SharePartitionKey("workers", "cdaaa4ea-466b-46fd-b8cd-9e5fe6a2ff2d", 3)


Play = Callable[..., FakeCluster]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Play]:
    """Plays a cluster with one state partition, of batches; more of it is set by the fields of the cluster."""
    with ExitStack() as stack:

        def played_cluster(*batches: bytes, **fields: Any) -> FakeCluster:
            cluster = FakeCluster(log_of(tmp_path / "log", {0: batches}), **fields)
            return stack.enter_context(playing(monkeypatch, cluster))

        yield played_cluster


def records() -> list[tuple[bytes, bytes | None]]:
    """Records of one initialisation and one write."""
    coordinator = share_state.ShareCoordinator()
    made = coordinator.initialize(*KEY, 2, 10, wall_ms=1).records
    for offset, record in enumerate(made):
        coordinator.replay(offset, record.key, record.value)
    write = share_state.WriteState(2, 0, 12, 1, [(12, 12, 0, 1), (13, 13, 2, 1)])
    made += coordinator.write(*KEY, write, wall_ms=2).records
    return [(record.key, record.value) for record in made]


def at(offset: int, record: tuple[bytes, bytes | None], ms: int = 5) -> bytes:
    """A batch with one record."""
    key, value = record
    return batch([value], keys=[key], base_offset=offset, timestamp=ms)


def test_what_is_written_meanwhile_is_left_for_the_next_time(play: Play) -> None:
    first, second = records()
    play(at(7, first), at(8, second), log_starts={0: 7}, told_ends={0: 8})
    assert [record.offset for record in ClusterScan(ADDRESS)] == [7]


def test_a_log_that_was_pruned_meanwhile_begins_later(play: Play) -> None:
    first, second = records()
    played = play(at(0, first), at(5, first), at(8, second))
    played.before_fetch = lambda: played.log_starts.update({0: 5})
    assert [record.offset for record in ClusterScan(ADDRESS)] == [5, 8]
    assert played.is_left()


@pytest.mark.parametrize("fetches", [{}, {FETCH: [0, OUT_OF_RANGE]}], ids=["it gives nothing", "it has no such offset"])
def test_a_log_whose_last_records_are_gone_ends_earlier(fetches: dict[int, list[int]], play: Play) -> None:
    first, _ = records()
    # Where the end is asked for, it is told as it was before.
    play(at(0, first), told_ends={0: 9}, codes=fetches)
    assert [record.offset for record in ClusterScan(ADDRESS)] == [0]


def test_an_empty_partition_is_not_waited_for(play: Play) -> None:
    played = play(log_starts={0: 0})
    assert list(ClusterScan(ADDRESS)) == []
    assert played.fetched == {}


def test_a_failure_in_the_middle_is_an_error_with_kafkas_code(play: Play) -> None:
    first, second = records()
    played = play(at(0, first), at(1, second, ms=6), codes={FETCH: [29]})
    with pytest.raises(ReadNotAllowedError, match="needs READ on the topic __share_group_state, and no other right") as raised:
        list(ClusterScan(ADDRESS))
    assert raised.value.kafka_code == 29
    played.codes = {FETCH: [87]}
    with pytest.raises(ClusterReadError, match="__share_group_state-0: code 87") as raised_too:
        list(ClusterScan(ADDRESS))
    assert raised_too.value.kafka_code == 87
    played.codes, played.fetch_code = {}, 70
    with pytest.raises(ClusterReadError, match=r"Fetch is answered with 70 \(FETCH_SESSION_ID_NOT_FOUND\)") as whole:
        list(ClusterScan(ADDRESS))
    assert whole.value.kafka_code == 70
    assert played.is_left()


@pytest.mark.parametrize("api_key", [LIST_OFFSETS, FETCH, METADATA])
def test_a_leader_that_is_elected_is_waited_for(api_key: int, play: Play) -> None:
    first, second = records()
    # LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, OFFSET_NOT_AVAILABLE.
    codes = [5] if api_key == METADATA else [6, 78]
    played = play(at(0, first), at(1, second), codes={api_key: codes})
    assert [record.offset for record in ClusterScan(ADDRESS)] == [0, 1]
    assert played.codes == {api_key: []}


@pytest.mark.parametrize("api_key", [VERSIONS, METADATA, LIST_OFFSETS, FETCH])
def test_a_cluster_that_falls_silent_is_an_error(api_key: int, play: Play) -> None:
    first, _ = records()
    played = play(at(0, first), silent={api_key})
    with pytest.raises(NoAnswerError, match=r"no answer.* within 0\.2 s") as silent:
        list(ClusterScan(ADDRESS, timeout=0.2))
    assert silent.value.seconds == 0.2
    assert played.is_left()


def test_a_reader_that_stops_early_closes_the_client(play: Play) -> None:
    first, second = records()
    played = play(at(0, first), at(1, second))
    rows = iter(ClusterScan(ADDRESS))
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert played.is_left()


def test_a_caller_may_have_an_event_loop_of_its_own(play: Play) -> None:
    first, _ = records()
    play(at(0, first))

    async def read() -> list[int]:
        return [record.offset for record in ClusterScan(ADDRESS)]

    assert asyncio.run(read()) == [0]


@pytest.mark.parametrize("as_of", [AsOf(offset=0), AsOf(offset={0: 0}), AsOf(timestamp=5), AsOf(0, 5)])
def test_what_is_after_the_end_that_is_asked_for_is_not_waited_for(play: Play, as_of: AsOf) -> None:
    first, second = records()
    played = play(at(0, first, ms=5), at(1, second, ms=6), at(2, first, ms=5))
    seen: list[tuple[int, int]] = []
    scan = ClusterScan(ADDRESS, None, lambda *at: seen.append(at), as_of)
    assert [record.offset for record in scan] == [0]
    assert seen[-1] == scan.progress
    assert scan.progress[0] == scan.progress[1]
    assert played.fetched == {0: [0]}
    assert played.is_left()


def test_progress_ends_at_the_total(play: Play) -> None:
    first, second = records()
    play(at(0, first), at(1, second))
    seen: list[tuple[int, int]] = []
    states, findings = cluster.fold_cluster(ClusterScan(ADDRESS, None, lambda *at: seen.append(at)))
    assert seen == [(0, 2), (2, 2)]
    assert not findings
    assert [(state["start_offset"], state["batches"]) for state in states] == [(12, [(12, 12, 0, 1), (13, 13, 2, 1)])]


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_a_record_that_cannot_be_decoded_is_a_finding(command: str, play: Play) -> None:
    first, second = records()
    play(at(0, first), at(1, (b"\x00\x00\x00", b"?")), at(2, second))
    ran = CliRunner().invoke(app, [command, ADDRESS, "--format", "jsonl"])
    assert ran.exit_code == 4
    assert ran.stderr.startswith("record: __share_group_state-0: the record at offset 1 cannot be decoded")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(rows) == {"state": 1, "dump": 3, "history": 4, "anomalies": 0}[command]


def test_a_batch_that_is_damaged_is_an_error(play: Play) -> None:
    first, _ = records()
    damaged = bytearray(at(0, first))
    damaged[-1] ^= 1
    play(bytes(damaged))
    with pytest.raises(ClusterReadError, match="__share_group_state: a batch cannot be read"):
        list(ClusterScan(ADDRESS))


def test_a_cluster_without_a_state_topic_says_when_it_comes(play: Play) -> None:
    play(codes={METADATA: [3]})
    with pytest.raises(ClusterReadError, match="a cluster makes it when its first share group comes") as missing:
        list(ClusterScan(ADDRESS))
    assert missing.value.kafka_code == 3
