"""A real broker for tests: formatted and started on free loopback ports in a temporary directory, and never left behind."""

from __future__ import annotations

import base64
import ctypes
import os
import random
import signal
import socket
import struct
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .home import java, libraries

#: The broker answers after about ten seconds on two quiet cores.
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0

#: Below the ports that the system gives to clients.
_FOR_SERVERS = (10_240, 32_768)

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class BrokerError(Exception):
    """The broker did not start, or ended by itself; the text holds the end of its output."""


@dataclass(slots=True)
class Broker:
    """A single-node cluster. ``start`` after ``stop`` or ``kill`` goes on with the same data and the same ports."""

    version: str
    directory: Path
    port: int
    controller_port: int
    #: Beside that of the tests.
    environment: Mapping[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None
    _output: IO[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """Host and port for clients."""
        return f"127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        """The log directory, with ``__share_group_state-N`` in it."""
        return self.directory / "data"

    @property
    def properties(self) -> Path:
        """Its ``server.properties``."""
        return self.directory / "server.properties"

    @property
    def pid(self) -> int:
        """Its process, while it runs."""
        if self._process is None:
            raise BrokerError("the broker does not run")
        return self._process.pid

    def runs(self) -> bool:
        """True if its process lives."""
        return self._process is not None and self._process.poll() is None

    def format(
        self, settings: Mapping[str, str], *, features: Mapping[str, int] | None = None, cluster: str | None = None
    ) -> None:
        """Write ``server.properties`` and format the log directory, with levels of features other than the release's own.

        Brokers of one cluster are formatted with the same :func:`cluster_id`.
        """
        properties = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.data),
            "num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "3",
            "group.share.min.record.lock.duration.ms": "1000",
            "group.initial.rebalance.delay.ms": "0",
            **settings,
        }
        lines = [f"{name}={value}" for name, value in properties.items()]
        self.properties.write_text("\n".join(lines) + "\n", encoding="utf-8")
        # With the equals sign: one that begins with a hyphen would be taken for an option.
        command = ["kafka.tools.StorageTool", "format", f"--cluster-id={cluster or cluster_id()}", "-c", str(self.properties)]
        for name, level in (features or {}).items():
            command += ["--feature", f"{name}={level}"]
        ran = subprocess.run(
            self._java("-Xmx256m", *command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            preexec_fn=die_with_parent,
            check=False,
        )
        if ran.returncode != 0:
            raise BrokerError((ran.stdout + ran.stderr).decode("utf-8", "replace"))

    def start(self) -> None:
        """Start the process and wait until it answers a request."""
        if self.runs():
            raise BrokerError("the broker runs already")
        self._output = (self.directory / "broker.out").open("ab")
        # In a session of its own, so that an interrupt at the terminal reaches the tests alone: they stop it in order. Should
        # they be killed, the kernel kills it.
        self._process = subprocess.Popen(
            self._java("-Xmx768m", "kafka.Kafka", str(self.properties)),
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if not self.runs() or time.monotonic() > deadline:
                self.kill()
                raise BrokerError(f"Kafka {self.version} did not start:\n{self.output()[-4000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Ask it to end, and end it when it does not."""
        if self.runs():
            self._signal(signal.SIGTERM)
            self.resume()
            with suppress(subprocess.TimeoutExpired):
                self._wait(STOP_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.runs():
            self._signal(signal.SIGKILL)
        if self._process is not None:
            self._wait(STOP_TIMEOUT_S)
        if self._output is not None:
            self._output.close()
        self._process = self._output = None

    def restart(self, *, killed: bool = False) -> None:
        """End it, in order or by SIGKILL, and start it again."""
        self.kill() if killed else self.stop()
        self.start()

    def pause(self) -> None:
        """Stop its threads where they are: connections stay open and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after :meth:`pause`."""
        self._signal(signal.SIGCONT)

    def output(self) -> str:
        """Text of its standard output and error."""
        path = self.directory / "broker.out"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def tool(self, name: str, *arguments: str, timeout: float = 60.0) -> str:
        """Run one of Kafka's command-line classes of the tools release; its standard output."""
        ran = subprocess.run(
            [java(), "-Xmx256m", "-cp", f"{libraries('4.3.1')}/*", name, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            preexec_fn=die_with_parent,
            timeout=timeout,
            check=False,
        )
        if ran.returncode != 0:
            raise BrokerError((ran.stdout + ran.stderr).decode("utf-8", "replace"))
        return ran.stdout.decode("utf-8", "replace")

    def _java(self, *arguments: str) -> list[str]:
        return [java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{libraries(self.version)}/*", *arguments]

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _wait(self, timeout: float) -> None:
        if self._process is not None:
            self._process.wait(timeout)

    def _answers(self) -> bool:
        """Returns true if ApiVersions (key 18, version 0, no client id) is answered."""
        request = struct.pack(">hhih", 18, 0, 7, -1)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2.0) as connection:
                connection.sendall(struct.pack(">i", len(request)) + request)
                head = connection.recv(8, socket.MSG_WAITALL)
        except OSError:
            return False
        return len(head) == 8 and struct.unpack(">ii", head)[1] == 7


@contextmanager
def running(
    version: str,
    directory: Path,
    settings: Mapping[str, str] | None = None,
    *,
    features: Mapping[str, int] | None = None,
) -> Iterator[Broker]:
    """A formatted broker that runs inside the ``with``; it is stopped whatever happens there."""
    port, controller_port = free_ports(2)
    broker = Broker(version, directory, port, controller_port)
    broker.format(settings or {}, features=features)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


def cluster_id() -> str:
    """A fresh id of a cluster, in Kafka's form."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")


def free_ports(count: int) -> list[int]:
    """Ports nobody uses now. The system draws others for clients, so none of these is taken before a server listens there."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(*_FOR_SERVERS)  # noqa: S311 - no secret
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            if port not in ports:
                ports.append(port)
    return ports


def die_with_parent() -> None:
    """In the child: have the kernel kill it when the process that started it dies, however that happens."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
