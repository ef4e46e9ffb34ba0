"""Kafka 2.8 on ZooKeeper: the oldest upstream, and one whose topics have no ids."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.kafka.broker import START_TIMEOUT_S, Broker, BrokerError, die_with_parent, free_ports
from tests.kafka.home import UPSTREAMS, java, libraries

VERSION = UPSTREAMS[1]

#: Below 2.8 a ZooKeeper cluster gives topics no ids.
_PROTOCOL_WITHOUT_IDS = "2.7"
_SESSION_MS = 2000


class ZooKeeper:
    """ZooKeeper server; it goes on while its broker is killed and started again."""

    def __init__(self, directory: Path) -> None:
        (self.port,) = free_ports(1)
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def connect(self) -> str:
        """Host and port for the broker."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the process; a broker that starts waits for it."""
        data = self._directory / "zookeeper"
        data.mkdir(exist_ok=True)
        config = self._directory / "zookeeper.properties"
        lines = {
            "dataDir": data,
            "clientPort": self.port,
            "clientPortAddress": "127.0.0.1",
            # A session lasts two ticks at least: so a killed broker is missed soon.
            "tickTime": _SESSION_MS // 4,
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "dump",
        }
        config.write_text("".join(f"{name}={value}\n" for name, value in lines.items()), encoding="utf-8")
        with (self._directory / "zookeeper.out").open("ab") as output:
            self._process = subprocess.Popen(
                [java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-cp", f"{libraries(VERSION)}/*",
                 "org.apache.zookeeper.server.ZooKeeperServerMain", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
            )  # fmt: skip

    def ephemeral_nodes(self) -> str:
        """The answer to its command ``dump``: sessions with what is registered by them."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=2.0) as connection:
                connection.sendall(b"dump")
                answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
                if answer.startswith("SessionTracker"):
                    return answer
            if time.monotonic() > deadline:
                raise BrokerError("ZooKeeper does not answer")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it at once: it has nothing that is not on its disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@dataclass(slots=True)
class ZooKeeperBroker(Broker):
    """A broker that is registered in ZooKeeper."""

    zookeeper: ZooKeeper = field(kw_only=True)

    def format(
        self, settings: Mapping[str, str], *, features: Mapping[str, int] | None = None, cluster: str | None = None
    ) -> None:
        """Write ``server.properties``; nothing else is to be formatted."""
        if features or cluster:
            raise BrokerError(f"Kafka {self.version} has no levels of features, and ZooKeeper names the cluster")
        properties = {
            "broker.id": "1",
            "zookeeper.connect": self.zookeeper.connect,
            "zookeeper.session.timeout.ms": str(_SESSION_MS),
            "inter.broker.protocol.version": _PROTOCOL_WITHOUT_IDS,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": str(self.data),
            "num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
            **settings,
        }
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), encoding="utf-8")

    def start(self) -> None:
        """Start it, once ZooKeeper has missed the one that was killed: a registration that is there would end it."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while "/brokers/ids/" in self.zookeeper.ephemeral_nodes():
            if time.monotonic() > deadline:
                raise BrokerError("ZooKeeper keeps the session of a broker that has gone")
            time.sleep(0.05)
        # Without `super()`: a dataclass with slots is another class than the one that is being defined here.
        Broker.start(self)


@contextlib.contextmanager
def running(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[ZooKeeperBroker]:
    """A broker of 2.8 and its ZooKeeper; both are gone afterwards, whatever happens."""
    (port,) = free_ports(1)
    zookeeper = ZooKeeper(directory)
    broker = ZooKeeperBroker(VERSION, directory, port, 0, zookeeper=zookeeper)
    broker.format(settings or {})
    try:
        zookeeper.start()
        broker.start()
        yield broker
    finally:
        broker.stop()
        zookeeper.stop()
