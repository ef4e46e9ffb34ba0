"""History, states and anomalies of a cluster are those of its directory; the cluster is played from a recorded one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from typer.testing import CliRunner

from share_state._core import log_ends
from share_state.cli.app import app
from share_state.cli.state.render import LAG_UNTOLD
from share_state.operate import analysis
from tests.kafka.roundtrip.played import ADDRESS, cluster_of, playing
from tests.operate.live.fake_cluster import FakeCluster
from tests.recordings import JOBS, ORDERS, recording_id

TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
each_directory = pytest.mark.parametrize("directory", [ORDERS, JOBS], ids=recording_id)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], FakeCluster]]:
    with ExitStack() as stack:
        yield lambda directory: stack.enter_context(playing(monkeypatch, cluster_of(directory)))


@each_directory
def test_the_rows_of_a_history(directory: Path, cluster: Callable[[Path], FakeCluster]) -> None:
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
        rows = analysis.history(ADDRESS, **choice, progress=progress)
        expected = list(analysis.history(directory, **choice))
        assert list(rows) == expected
        assert rows.findings == []
        total = sum(end - start for _, start, end in log_ends(directory))
        assert progress.call_args.args == rows.progress == (total, total)
        assert played.is_left()
        told += len(expected)
    assert told > 1000


@each_directory
def test_the_columns_of_a_history(directory: Path, cluster: Callable[[Path], FakeCluster]) -> None:
    cluster(directory)
    ours, theirs = analysis.history(ADDRESS), analysis.history(directory)
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
def test_states_and_anomalies(directory: Path, cluster: Callable[[Path], FakeCluster]) -> None:
    cluster(directory)
    assert list(analysis.states(ADDRESS)) == list(analysis.states(directory)) != []
    cluster(directory)
    config = analysis.AnomalyConfig(stuck_ms=2000, stuck_records=50, delivery_count_limit=3)
    assert list(analysis.anomalies(ADDRESS, config)) == list(analysis.anomalies(directory, config)) != []


@each_directory
@pytest.mark.parametrize("command", ["state", "history", "anomalies"])
@pytest.mark.parametrize("output_format", ["table", "json", "jsonl"])
def test_the_commands(command: str, output_format: str, directory: Path, cluster: Callable[[Path], FakeCluster]) -> None:
    cluster(directory)
    of_cluster = CliRunner().invoke(app, [command, ADDRESS, "--format", output_format])
    of_directory = CliRunner().invoke(app, [command, str(directory), "--format", output_format])
    assert (of_cluster.exit_code, of_cluster.stderr) == (of_directory.exit_code, "")
    assert of_cluster.stdout != ""
    # Where topics end is asked of a cluster; of a directory the table says that nobody has told.
    untold = f"{LAG_UNTOLD}\n" if (command, output_format) == ("state", "table") else ""
    # A directory has no names of topics; nobody tells those of the played one.
    shown = re.sub(r',\s*"topic": ?null', "", of_cluster.stdout)
    assert shown + untold == of_directory.stdout


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_the_clients_settings_come_from_a_file(command: str, tmp_path: Path, cluster: Callable[[Path], FakeCluster]) -> None:
    cluster(JOBS)
    file = tmp_path / "client.properties"
    # What tunes another client is passed over.
    file.write_text("# who we are\n\n security.protocol = plaintext\nauto.offset.reset=latest\n", encoding="utf-8")
    ran = CliRunner().invoke(app, [command, ADDRESS, "--command-config", str(file)])
    assert ran.exit_code == (1 if command == "anomalies" else 0)
    for lines, said in (
        ("security.protocol=SASL_SSL\nsasl.password=a=b\n", "names no username and password"),
        ("security.protocl=SSL\n", "security.protocl is not a security property that is known here"),
        ("clint.id=me\n", "clint.id is not a setting of a client that is known here"),
        ("sasl.password\n", "line 1: expected NAME=VALUE"),
    ):
        file.write_text(lines, encoding="utf-8")
        ran = CliRunner().invoke(app, [command, ADDRESS, "--command-config", str(file)])
        assert (ran.exit_code, ran.stdout) == (3, "")
        assert said in ran.stderr
        assert "a=b" not in ran.stderr
    ran = CliRunner().invoke(app, [command, ADDRESS, "--command-config", str(tmp_path / "none")])
    assert (ran.exit_code, ran.stdout) == (3, "")
    ran = CliRunner().invoke(app, [command, str(JOBS), "--command-config", str(file)])
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_a_slip_is_told_before_anybody_is_asked() -> None:
    for read in (analysis.history, analysis.states, analysis.anomalies):
        with pytest.raises(ValueError, match="topic_id"):
            read(ADDRESS, topic_id="nonsense")
        with pytest.raises(ValueError, match="client_config applies only to a cluster"):
            read(JOBS, client_config={})
