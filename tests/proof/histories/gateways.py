"""The gateway as a system, over a cluster that has no share groups; members reach it through a proxy of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.gateway.process import GatewayProcess
from tests.gateway.upstreams import Upstream, kraft, mock
from tests.proof.histories.system import Process, Server
from tests.proof.histories.tcp import TcpProxy
from tests.proof.histories.wall_clock import WallClock


@contextmanager
def _opened(directory: Path, settings: Mapping[str, str], upstream: Upstream, source: Process | None) -> Iterator[Server]:
    own = {name: value for name, value in settings.items() if name.startswith("group.share.")}
    clock = WallClock(directory)
    with TcpProxy() as proxy:
        options = ("--advertise", proxy.bootstrap)
        process = GatewayProcess(directory / "gateway", upstream.bootstrap, own, *options, environment=clock.environment)
        with process:
            host, _, port = process.bootstrap.rpartition(":")
            proxy.server = (host, int(port))
            yield Server(process, upstream.bootstrap, proxy, source, clock)


@contextmanager
def over_mock(directory: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    """Over librdkafka's mock cluster, which needs no JVM, and keeps nothing when it ends."""
    with mock.running() as cluster, _opened(directory, settings, cluster, None) as server:
        yield server


@contextmanager
def over_broker(directory: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    """Over a broker of 4.4.0 without share groups, which can be killed as well."""
    room = directory / "upstream"
    room.mkdir()
    quick = {name: value for name, value in settings.items() if name.startswith("broker.")}
    with kraft.without_share_groups(room, quick) as broker, _opened(directory, settings, broker, broker) as server:
        yield server
