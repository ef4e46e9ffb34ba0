"""The servers that are compared: a broker with share groups of its own, and gateways over the same broker.

A  a consumer group, which the broker serves directly: the ceiling.
B  the broker's own share group.
C  a share group through the gateway; the upstream's share groups are not used.

``sync`` says when an acknowledgement is on the disk: ``interval`` leaves it to a timer, as Kafka leaves it to the page
cache; ``always`` answers after fsync.
"""

from __future__ import annotations

import os
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.gateway.process import GatewayProcess
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker, free_ports

_TICKS = os.sysconf("SC_CLK_TCK")
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Side:
    """A way to the records.

    Attributes:
        name: A, B, C interval or C always.
        bootstrap: where its clients connect.
        pid: the process that decides who gets which record.
        upstream_pid: the broker's; the same process for A and B.
        upstream: where the broker serves.
        metrics: where the gateway tells of itself.
    """

    name: str
    bootstrap: str
    pid: int
    upstream_pid: int
    upstream: str
    metrics: str = ""

    @property
    def is_gateway(self) -> bool:
        """True if the gateway stands between the clients and the broker."""
        return self.pid != self.upstream_pid


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds of the process that decides, and of the broker behind it: 0 where they are one."""

    server: float
    upstream: float


@contextmanager
def running(
    names: tuple[str, ...],
    settings: Mapping[str, str] | None = None,
    broker: Mapping[str, str] | None = None,
    before: Path | None = None,
) -> Iterator[tuple[Broker, list[Side]]]:
    """Run a broker and the gateways over it, in a directory that goes away with them.

    Args:
        names: The sides that are wanted. One whose name ends with `before` is a gateway of another checkout.
        settings: Share settings of the broker and of the gateways alike.
        broker: Settings of the broker alone.
        before: The other checkout, with its extension built.
    """
    settings = dict(settings or {})
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-gateway-")))
        (directory / "broker").mkdir()
        served = stack.enter_context(kraft.with_share_groups(directory / "broker", {**settings, **(broker or {})}))
        sides = []
        for name in names:
            if name in {"A", "B"}:
                sides.append(Side(name, served.bootstrap, served.pid, served.pid, served.bootstrap))
                continue
            sync = name.removeprefix("C ").removesuffix(" before")
            metrics = f"127.0.0.1:{free_ports(1)[0]}"
            # Each has groups of its own, so no record is delivered twice.
            options = ("--sync", sync, "--metrics", metrics, "--alongside")
            elsewhere = {"PYTHONPATH": str(before / "python")} if before and name.endswith(" before") else {}
            settled = {**kraft.SHARE_SETTINGS, **settings}
            gateway = GatewayProcess(directory / name, served.bootstrap, settled, *options, environment=elsewhere)
            stack.enter_context(gateway)
            sides.append(Side(name, gateway.bootstrap, gateway.pid, served.pid, served.bootstrap, metrics))
        yield served, sides


@contextmanager
def watch(side: Side) -> Iterator[list[Spent]]:
    """Measure the CPU time that passes inside; the list has its one element afterwards."""
    found: list[Spent] = []
    server, upstream = cpu_seconds(side.pid), cpu_seconds(side.upstream_pid)
    yield found
    took = cpu_seconds(side.upstream_pid) - upstream
    found.append(Spent(cpu_seconds(side.pid) - server, took if side.is_gateway else 0.0))


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MIB


def pin(pid: int, cores: set[int]) -> None:
    """Keep every thread of a process to these cores."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def counter(side: Side, name: str) -> float:
    """A counter of the gateway, summed over its labels."""
    with urllib.request.urlopen(f"http://{side.metrics}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))
