"""librdkafka's mock cluster: an upstream without a JVM, and without a disk. A restart loses its topics and its ports.

The cluster lives inside a client, so that client has a process of its own, which can be killed.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.kafka.broker import die_with_parent
from tests.kafka.home import REPOSITORY

#: Partitions of every topic; the mock cluster makes a topic when it is asked for, and knows no other way.
PARTITIONS = 4


class MockCluster:
    """A mock cluster in a process of its own."""

    def __init__(self, brokers: int = 1) -> None:
        self._brokers = brokers
        self._process: subprocess.Popen[str] | None = None
        self._bootstrap = ""

    @property
    def bootstrap(self) -> str:
        """Hosts and ports for clients, of this start."""
        return self._bootstrap

    def start(self) -> None:
        """Start an empty cluster on fresh ports."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.gateway.upstreams.mock_process", str(self._brokers)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
        )
        assert self._process.stdout is not None
        self._bootstrap = self._process.stdout.readline().strip()
        if not self._bootstrap:
            self.kill()
            raise OSError("the mock cluster did not start")

    def stop(self) -> None:
        """As :meth:`kill`: there is nothing to keep."""
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def restart(self, *, killed: bool = False) -> None:
        """Start an empty one in its place."""
        del killed
        self.kill()
        self.start()


@contextlib.contextmanager
def running(directory: Path | None = None, *, brokers: int = 1) -> Iterator[MockCluster]:
    """A mock cluster inside the ``with``; it needs no directory."""
    del directory
    cluster = MockCluster(brokers)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()
