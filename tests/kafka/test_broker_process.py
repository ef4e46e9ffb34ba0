"""The process of a broker is ended whatever happens; played by a program that answers as a broker does, without Java."""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.kafka import broker as plain
from tests.kafka.broker import Broker, BrokerError

#: Formats at once; as a broker it starts a process of its own, takes no SIGTERM, and answers what it is asked with its head.
STAND_IN = """
import os, signal, socket, sys, time
if "format" in sys.argv:
    sys.exit("it cannot be formatted" if "fail-format" in sys.argv[1] else 0)
if "fail-start" in sys.argv[1]:
    sys.exit("it does not start")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    time.sleep(600)
print(os.getpid(), child, flush=True)
lines = dict(line.split("=", 1) for line in open(sys.argv[-1]).read().split())
port = int(lines["advertised.listeners"].rsplit(":", 1)[1])
with socket.create_server(("127.0.0.1", port)) as listening:
    while True:
        client, _ = listening.accept()
        asked = client.recv(100)
        client.sendall(asked[:4] + asked[8:12])
"""


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = [sys.executable, "-c", STAND_IN, tmp_path.name]
    monkeypatch.setattr(Broker, "_java", lambda _self, *arguments: [*program, *arguments])
    monkeypatch.setattr(plain, "STOP_TIMEOUT_S", 0.5)


def processes(directory: Path) -> list[int]:
    return [int(word) for word in (directory / "broker.out").read_text(encoding="utf-8").split()]


def is_running(process: int) -> bool:
    """Returns true if a process has not ended; one that nobody has waited for yet has the state Z."""
    try:
        return (Path("/proc") / str(process) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def all_end(directory: Path) -> bool:
    """Returns true if all end soon: a signal takes its time. None is left behind here either."""
    begun = processes(directory)
    for process in begun:
        with suppress(ProcessLookupError):
            watched = os.pidfd_open(process)
            try:
                # Readable once the process has ended.
                ended, _, _ = select.select([watched], [], [], 10.0)
                if not ended:
                    os.kill(process, signal.SIGKILL)
                    return False
            finally:
                os.close(watched)
    return len(begun) == 2


@pytest.mark.parametrize("raised", [AssertionError, KeyboardInterrupt, SystemExit])
def test_a_failing_test_leaves_no_process(raised: type[BaseException], tmp_path: Path) -> None:
    def test() -> None:
        with plain.running("4.4.0", tmp_path) as broker:
            assert broker.runs()
            assert all(map(is_running, processes(tmp_path)))
            raise raised

    with pytest.raises(raised):
        test()
    assert all_end(tmp_path)


def test_what_does_not_start_or_format_is_told(tmp_path: Path) -> None:
    for how, what in (("fail-start", "it does not start"), ("fail-format", "it cannot be formatted")):
        directory = tmp_path / how
        directory.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            program = [sys.executable, "-c", STAND_IN, how]
            patch.setattr(Broker, "_java", lambda _self, *arguments, program=program: [*program, *arguments])
            with pytest.raises(BrokerError, match=what), plain.running("4.4.0", directory):
                pytest.fail("it runs")


def test_one_that_never_answers_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Broker, "_answers", lambda _: False)
    monkeypatch.setattr(plain, "START_TIMEOUT_S", 3.0)
    with pytest.raises(BrokerError, match="did not start"), plain.running("4.4.0", tmp_path):
        pytest.fail("it runs")
    assert all_end(tmp_path)
