"""History, states and anomalies of a cluster are those of its directory; the cluster is played from a recorded one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from typer.testing import CliRunner

import share_state as ss
from share_state.cli.app import app
from share_state.cli.render import LAG_UNTOLD
from tests.kafka.roundtrip.played import ADDRESS, Played, client, logs_of
from tests.python.recordings import JOBS, ORDERS, recording_id

TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
each_directory = pytest.mark.parametrize("directory", [ORDERS, JOBS], ids=recording_id)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Played]:
    def put_in_place(directory: Path) -> Played:
        played = Played(logs_of(directory))
        monkeypatch.setitem(sys.modules, "confluent_kafka", client(played))
        return played

    return put_in_place


@each_directory
def test_the_rows_of_a_history(directory: Path, cluster: Callable[[Path], Played]) -> None:
    told = 0
    choices: list[dict[str, Any]] = [
        {},
        {"group": "orders-workers", "partition": 1, "offset": 1251},
        {"topic_id": TOPIC_ID},
        {"partition": 0},
    ]
    for choice in choices:
        played = cluster(directory)
        progress = Mock()
        rows = ss.history(ADDRESS, **choice, progress=progress)
        expected = list(ss.history(directory, **choice))
        assert list(rows) == expected
        assert rows.findings == []
        total = sum(log.end - log.start for log in played.logs.values())
        assert progress.call_args.args == rows.progress == (total, total)
        assert played.closed
        told += len(expected)
    assert told > 1000


@each_directory
def test_the_columns_of_a_history(directory: Path, cluster: Callable[[Path], Played]) -> None:
    cluster(directory)
    ours, theirs = ss.history(ADDRESS), ss.history(directory)
    for max_rows in (1, 50, 10**6):
        # What is ready by then may be more, for the rows of a record stay together.
        got, expected = ours.columns(max_rows), theirs.columns(max_rows)
        assert got is not None
        assert expected is not None
        assert got.keys() == expected.keys()
        assert got.pop("keys") == expected.pop("keys")
        for name, column in expected.items():
            assert got[name].dtype == column.dtype, name
            assert np.array_equal(got[name], column), name
    assert ours.columns() is None
    with pytest.raises(ValueError, match="max_rows"):
        ours.columns(0)


@each_directory
def test_states_and_anomalies(directory: Path, cluster: Callable[[Path], Played]) -> None:
    cluster(directory)
    assert list(ss.states(ADDRESS)) == list(ss.states(directory)) != []
    cluster(directory)
    config = ss.AnomalyConfig(stuck_ms=2000, stuck_records=50, delivery_count_limit=3)
    assert list(ss.anomalies(ADDRESS, config)) == list(ss.anomalies(directory, config)) != []


@each_directory
@pytest.mark.parametrize("command", ["state", "history", "anomalies"])
@pytest.mark.parametrize("output_format", ["table", "json", "jsonl"])
def test_the_commands(command: str, output_format: str, directory: Path, cluster: Callable[[Path], Played]) -> None:
    cluster(directory)
    of_cluster = CliRunner().invoke(app, [command, ADDRESS, "--format", output_format])
    of_directory = CliRunner().invoke(app, [command, str(directory), "--format", output_format])
    assert (of_cluster.exit_code, of_cluster.stderr) == (of_directory.exit_code, "")
    assert of_cluster.stdout != ""
    # Where topics end is asked of a cluster; of a directory the table says that nobody has told.
    untold = f"{LAG_UNTOLD}\n" if (command, output_format) == ("state", "table") else ""
    assert of_cluster.stdout + untold == of_directory.stdout


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_the_clients_settings_come_from_a_file_and_what_makes_the_answer_right_stays(
    command: str, tmp_path: Path, cluster: Callable[[Path], Played]
) -> None:
    played = cluster(JOBS)
    file = tmp_path / "client.properties"
    file.write_text(
        "# who we are\n\n security.protocol = SASL_SSL\nsasl.password=a=b\nauto.offset.reset=latest\n", encoding="utf-8"
    )
    ran = CliRunner().invoke(app, [command, ADDRESS, "--command-config", str(file)])
    assert ran.exit_code == (1 if command == "anomalies" else 0)
    assert played.settings["security.protocol"] == "SASL_SSL"
    assert played.settings["sasl.password"] == "a=b"
    assert played.settings["auto.offset.reset"] == "earliest"
    assert played.settings["bootstrap.servers"] == "played:9092"
    file.write_text("sasl.password\n", encoding="utf-8")
    ran = CliRunner().invoke(app, [command, ADDRESS, "--command-config", str(file)])
    assert (ran.exit_code, ran.stdout) == (3, "")
    assert "line 1: expected NAME=VALUE" in ran.stderr
    ran = CliRunner().invoke(app, [command, ADDRESS, "--command-config", str(tmp_path / "none")])
    assert (ran.exit_code, ran.stdout) == (3, "")
    ran = CliRunner().invoke(app, [command, str(JOBS), "--command-config", str(file)])
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_a_slip_is_told_before_anybody_is_asked() -> None:
    for read in (ss.history, ss.states, ss.anomalies):
        with pytest.raises(ValueError, match="topic_id"):
            read(ADDRESS, topic_id="nonsense")
        with pytest.raises(ValueError, match="client_config applies only to a cluster"):
            read(JOBS, client_config={})
