"""A broker starts, keeps its data through a crash, and is never left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .broker import Broker
from .home import REPOSITORY
from .roundtrip.workload import admin_of, create_topic

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def topics(broker: Broker) -> set[str]:
    return set(admin_of(broker).list_topics(timeout=60).topics)


def test_a_broker_answers_and_keeps_its_topics_through_a_crash(kafka: Broker) -> None:
    create_topic(kafka, "kept", 1)
    assert "kept" in topics(kafka)
    kafka.kill()
    assert not kafka.runs()
    kafka.start()
    assert "kept" in topics(kafka)


def test_no_broker_outlives_its_starter(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.kafka import broker\n"
        "with broker.running('4.4.0', Path(sys.argv[1])) as b: print(b._process.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as starter:
        assert starter.stdout is not None
        watched = os.pidfd_open(int(starter.stdout.readline()))
        starter.send_signal(signal.SIGKILL)
        starter.wait()
    try:
        # Readable once the process has ended.
        assert select.select([watched], [], [], 60.0)[0] == [watched]
    finally:
        os.close(watched)
