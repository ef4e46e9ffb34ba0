"""Kafka's own brokers as systems: members reach them through a proxy of bytes, everybody else does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.kafka.broker import Broker, free_ports
from tests.proof.histories.system import Server
from tests.proof.histories.tcp import TcpProxy
from tests.proof.histories.wall_clock import WallClock


@contextmanager
def opened(version: str, directory: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    """A broker of a release, with share groups."""
    port, controller_port, proxied = free_ports(3)
    clock = WallClock(directory)
    broker = Broker(version, directory, port, controller_port, clock.environment)
    with TcpProxy(("127.0.0.1", proxied)) as proxy:
        broker.format({**_listeners(broker, proxied, proxy.bootstrap), **settings})
        try:
            broker.start()
            yield Server(broker, broker.bootstrap, proxy, clock=clock)
        finally:
            broker.stop()


def _listeners(broker: Broker, proxied: int, advertised: str) -> dict[str, str]:
    """Two listeners for clients: the one is advertised as it is, the other as the proxy before it."""
    plain = f"PLAINTEXT://{broker.bootstrap}"
    return {
        "listeners": f"{plain},PROXIED://127.0.0.1:{proxied},CONTROLLER://127.0.0.1:{broker.controller_port}",
        "advertised.listeners": f"{plain},PROXIED://{advertised}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "auto.create.topics.enable": "false",
    }
