"""A cluster that refuses, or falls silent: the command ends with a reason, and a Ctrl-C ends it at once."""

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli_in_process import run_here
from tests.cli_runner import COMMAND, environment, run

#: Nothing listens on the port of tcpmux.
NOBODY = "kafka://127.0.0.1:1"
#: Longer than a test may take: who waits as long as this is ended as one that hangs.
LONG = "3600"


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_a_refused_connection_is_not_waited_for(command: str) -> None:
    result = run(command, NOBODY, "--timeout", LONG)
    assert (result.returncode, result.stdout) == (3, "")
    [sentence] = result.stderr.splitlines()
    assert sentence.startswith(f"share-state: cannot read {NOBODY}: ")
    assert sentence.endswith(": 127.0.0.1:1: Connection refused")


def test_one_broker_that_refuses_does_not_speak_for_the_others() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        both = f"{NOBODY},127.0.0.1:{silent.getsockname()[1]}"
        result = run("state", both, "--timeout", "1.5")
        assert result.returncode == 3
        connection, _ = silent.accept()
        connection.close()


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_a_cluster_that_does_not_answer_is_waited_for_as_long_as_is_said(command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"kafka://127.0.0.1:{silent.getsockname()[1]}"
        result = run(command, address, "--timeout", "0.3")
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr == f"share-state: cannot read {address}: no answer within 0.3 s (--timeout)\n"


@pytest.mark.parametrize("command", [("peek", "g", "t"), ("trace", "g", "t", "0", "0"), ("top",), ("doctor",)], ids=" ".join)
def test_a_cluster_that_cannot_be_asked_is_told(command: tuple[str, ...]) -> None:
    name, *rest = command
    refused = run_here(name, NOBODY, *rest, "--timeout", LONG)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert refused.stderr == f"share-state: cannot read {NOBODY}: 127.0.0.1:1: Connection refused\n"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        waited = run_here(name, f"kafka://{address}", *rest, "--timeout", "0.3")
    assert (waited.returncode, waited.stdout) == (3, "")
    assert waited.stderr == f"share-state: cannot read kafka://{address}: {address}: connecting took too long\n"


@pytest.mark.parametrize("command", ["top", "doctor", "web", "peek"])
@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("somewhere", "somewhere is not a cluster, kafka://HOST:PORT"),
        ("kafka://host", "'host' is not host:port"),
    ],
)
def test_what_is_no_cluster_is_refused(command: str, address: str, told: str) -> None:
    ran = run_here(command, address, *(("g", "t") if command == "peek" else ()))
    assert ran.returncode == (3 if command == "peek" and "//" in address else 2)
    assert told in ran.stderr


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies", "top"])
def test_ctrl_c_ends_the_wait_for_a_cluster(command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"kafka://127.0.0.1:{silent.getsockname()[1]}"
        with subprocess.Popen(
            [*COMMAND, command, address, "--timeout", LONG],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            connection, _ = silent.accept()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            connection.close()
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.parametrize("seconds", ["0", "-1", "3601", "nan", "inf"])
def test_a_time_that_nobody_can_wait_is_refused(seconds: str) -> None:
    result = run("state", NOBODY, "--timeout", seconds, COLUMNS="200")
    assert (result.returncode, result.stdout) == (2, "")
    assert f"--timeout is {seconds}; expected more than 0 and at most 3600 seconds" in result.stderr


def test_a_time_to_wait_is_for_a_cluster(tmp_path: Path) -> None:
    result = run("state", tmp_path, "--timeout", "1", COLUMNS="200")
    assert result.returncode == 2
    assert "--timeout applies only to a cluster, kafka://HOST:PORT" in result.stderr


@pytest.mark.parametrize("address", ["localhost:9092", "a.example:9092,b.example:9093", "[::1]:9092"])
def test_an_address_without_its_scheme_is_told_the_scheme(address: str) -> None:
    result = run("state", address)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.endswith(f"; a running cluster is kafka://{address}\n")


@pytest.mark.parametrize(
    ("path", "cluster"),
    [
        ("http://localhost:9092", "localhost:9092"),
        ("http://localhost:9092/", "localhost:9092"),
        ("https://a.example/topics", "HOST:PORT"),
        ("localhost", "HOST:PORT"),
        ("a.example", "HOST:PORT"),
        ("[::1]", "HOST:PORT"),
    ],
)
def test_what_is_almost_an_address_is_told_the_scheme(path: str, cluster: str) -> None:
    result = run("state", path)
    assert (result.returncode, result.stdout) == (3, "")
    assert (
        result.stderr == f"share-state: cannot read {path}: No such file or directory; a running cluster is kafka://{cluster}\n"
    )


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
@pytest.mark.parametrize("address", ["localhost:99999", "localhost:65536", "localhost:0", "localhost", "localhost:x"])
def test_a_port_that_cannot_be_is_refused(command: str, address: str) -> None:
    result = run(command, f"kafka://127.0.0.1:9,{address}", "--timeout", "0.1")
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr == f"share-state: cannot read kafka://127.0.0.1:9,{address}: '{address}' is not host:port\n"


def test_a_path_that_is_missing_is_told_no_scheme() -> None:
    assert "kafka://" not in run("state", "nowhere/a:b").stderr
