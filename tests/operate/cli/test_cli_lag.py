"""Lag of a share group: a cluster is asked for it, for a directory a file tells it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from typer.testing import CliRunner

from share_state.cli.app import app
from share_state.cli.shared import lag
from share_state.operate import plot
from share_state.operate.reading.cluster import ClusterReadError
from tests.kafka.roundtrip.played import ADDRESS, cluster_of, playing
from tests.operate.live.fake_cluster import FakeCluster
from tests.recordings import ORDERS

GROUP = "orders-workers"
TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
NOW = 1_795_254_400_000


def shown(*arguments: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, [*map(str, arguments)])
    return ran.exit_code, ran.stdout, ran.stderr


def rows(*arguments: object) -> list[dict[str, Any]]:
    code, out, err = shown(*arguments, "--format", "jsonl")
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    """A cluster with the state of a recording. The topic has 2,000 and 3,000 records, one a millisecond up to now."""
    cluster = cluster_of(ORDERS)
    cluster.ends = {("other", UUID(int=1)): [1], ("orders", UUID(TOPIC)): [2_000, 3_000]}
    cluster.times = {"orders": [range(NOW - records, NOW) for records in (2_000, 3_000)]}
    with playing(monkeypatch, cluster):
        yield cluster


def test_of_a_cluster_the_lag_is_asked(played: FakeCluster) -> None:
    told = {(row["topic_id"], row["partition"]): row for row in rows("state", ADDRESS, "--group", GROUP)}
    for partition, end in ((0, 2_000), (1, 3_000)):
        row = told[TOPIC, partition]
        assert row["log_end_offset"] == end
        assert row["lag"] == end - row["start_offset"] - row["delivery_complete_count"] > 0
    unknown = [row for (topic, _), row in told.items() if topic != TOPIC]
    assert [(row["log_end_offset"], row["lag"]) for row in unknown] == [(None, None)] * len(unknown) != []
    assert played.is_left()


def test_the_table_has_a_column_for_it(played: FakeCluster) -> None:
    code, out, _ = shown("state", ADDRESS, "--group", GROUP)
    assert code == 0
    head = out.splitlines()[0].split()
    assert "LAG" in head
    [row] = [line.split() for line in out.splitlines() if TOPIC in line and " 1255 " in line]
    [state] = [row for row in rows("state", ADDRESS, "--group", GROUP) if row["start_offset"] == 1255]
    assert row[head.index("LAG")] == str(state["lag"])
    assert played.is_left()
    assert "LAG" not in shown("state", ORDERS)[1]


def test_as_of_earlier_no_end_of_now_is_taken(played: FakeCluster) -> None:
    told = rows("state", ADDRESS, "--as-of", "2026-11-21T09:45:00Z")
    assert {row["lag"] for row in told} == {None}
    assert played.is_left()


def test_of_a_directory_a_file_tells_it(tmp_path: Path) -> None:
    file = tmp_path / "ends.csv"
    file.write_text(f"{TOPIC},1,200,3000\n{TOPIC},1,100,2000\n", encoding="utf-8")
    told = rows("state", ORDERS, "--group", GROUP, "--log-end-offsets", file)
    [row] = [row for row in told if (row["topic_id"], row["partition"]) == (TOPIC, 1)]
    assert (row["log_end_offset"], row["lag"]) == (3000, 3000 - row["start_offset"] - row["delivery_complete_count"])
    assert [row["lag"] for row in told if row["topic_id"] != TOPIC] == [None] * (len(told) - 2)


def test_a_topic_id_may_be_in_base64_as_kafkas_tools_show_it(tmp_path: Path) -> None:
    file = tmp_path / "ends.csv"
    told = []
    for topic_id in (TOPIC, base64.urlsafe_b64encode(UUID(TOPIC).bytes).decode().rstrip("=")):
        file.write_text(f"{topic_id},1,200,3000\n", encoding="utf-8")
        told.append(rows("state", ORDERS, "--group", GROUP, "--log-end-offsets", file))
    assert told[0] == told[1]
    assert any(row["lag"] for row in told[0])


def test_the_table_of_a_directory_says_how_the_lag_gets_known(tmp_path: Path, played: FakeCluster) -> None:
    file = tmp_path / "ends.csv"
    file.write_text(f"{TOPIC},1,200,3000\n", encoding="utf-8")
    hint = "The lag is unknown: a log does not hold the ends of topics. Pass --log-end-offsets FILE."
    assert hint in " ".join(shown("state", ORDERS)[1].split())
    for known in ((ORDERS, "--log-end-offsets", file), (ADDRESS,)):
        assert "The lag is unknown" not in shown("state", *known)[1]
    assert played.is_left()


OTHER = "00000000-0000-0000-0000-00000000abcd"


@pytest.mark.parametrize("command", ["state", "anomalies"])
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        pytest.param([], "no line is in it", id="empty"),
        pytest.param([f"{OTHER},1,200,3000"], f"no partition of it is in the log: not {OTHER} 1", id="another-topic"),
        pytest.param(
            [f"{TOPIC},1,200,3000", f"{TOPIC},7,200,9"], f"not all partitions of it are in the log: not {TOPIC} 7", id="one"
        ),
    ],
)
def test_measurements_that_match_nothing_are_told(command: str, lines: list[str], told: str, tmp_path: Path) -> None:
    file = tmp_path / "ends.csv"
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    code, out, err = shown(command, ORDERS, "--log-end-offsets", file)
    assert (code, bool(out)) == ({"state": 0, "anomalies": 1}[command], True)
    assert err == f"share-state: warning: {file}: {told}\n"


def test_of_a_choice_only_a_file_that_matches_nothing_is_told(tmp_path: Path) -> None:
    file = tmp_path / "ends.csv"
    file.write_text(f"{TOPIC},0,200,2000\n{TOPIC},1,200,3000\n", encoding="utf-8")
    choice = ("anomalies", ORDERS, "--log-end-offsets", file, "--partition")
    assert shown(*choice, 1)[2] == ""
    file.write_text(f"{TOPIC},1,200,3000\n", encoding="utf-8")
    assert (
        shown(*choice, 0)[2] == f"share-state: warning: {file}: no partition of it is in the log, or not chosen: not {TOPIC} 1\n"
    )
    assert shown("state", ORDERS, "--log-end-offsets", file, "--group", "orders-tx-workers")[2] == ""


@pytest.mark.parametrize("command", ["state", "anomalies"])
def test_ends_that_are_not_told_leave_the_rest(command: str, played: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise ClusterReadError("end offsets: no answer\x1b")

    monkeypatch.setattr("share_state.operate.reading.topic_ends.end_offsets", refused)
    code, out, err = shown(command, ADDRESS, "--group", GROUP)
    assert (code, err) == (code, "share-state: the lag is unknown: end offsets: no answer\\x1b\n")
    assert code == {"state": 0, "anomalies": 1}[command]
    assert GROUP in out
    assert played.is_left()


def test_a_lag_that_grows_is_found_in_a_cluster_without_a_file(played: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: NOW * 1_000_000)
    thresholds = ("--set", "lag_ms=1000", "--set", "lag_records=100")
    _, out, err = shown("anomalies", ADDRESS, "--group", GROUP, *thresholds, "--format", "jsonl")
    found = [json.loads(line) for line in out.splitlines()]
    growing = {(row["topic_id"], row["partition"]): row for row in found if row["kind"] == "growing_lag"}
    assert err == ""
    assert (TOPIC, 1) in growing
    assert "growing_lag" not in shown("anomalies", ORDERS, "--group", GROUP, *thresholds, "--format", "jsonl")[1]
    assert played.is_left()


def test_a_picture_of_the_lag_needs_no_file_for_a_cluster(
    played: FakeCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[list[tuple[int, int]]] = []

    class Figure:
        def savefig(self, path: Path) -> None:
            path.write_bytes(b"drawn")

    def draw(_rows: object, ends: list[tuple[int, int]]) -> Figure:
        drawn.append(ends)
        return Figure()

    monkeypatch.setattr(plot, "lag", draw)
    choice = ("--group", GROUP, "--topic-id", TOPIC, "--partition", 1, "-o", tmp_path / "x.svg", "--kind", "lag")
    assert shown("plot", ADDRESS, *choice) == (0, "", "")
    [ends] = drawn
    assert len(ends) == lag._POINTS + 1
    assert ends == sorted(ends)
    assert ends[-1][1] == 3_000
    code, _, err = shown("plot", ORDERS, *choice)
    assert code == 2
    assert "--kind lag needs --end-offsets" in " ".join(err.split())
    assert played.is_left()
