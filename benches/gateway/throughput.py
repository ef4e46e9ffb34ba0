"""Rate at which records get through, from the first to the last: sides A, B and C beside each other, in random order."""

from __future__ import annotations

import os
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from benches.gateway import sides, tools
from benches.gateway.records import fill
from benches.gateway.sides import Side
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic

Say = Callable[[str], None]
Figures = dict[str, float]

_PARTITIONS = 6
#: Cores to which processes are pinned: the servers to one, the client to the other.
_SERVERS, _CLIENT = {0}, {1}


class Load(NamedTuple):
    """Records to consume, and the way to consume them."""

    name: str
    records: int
    size: int
    partitions: int = _PARTITIONS
    single: bool = False
    threads: int = 1
    max_poll_records: int = 500
    pinned: bool = False


LOADS = (
    Load("100 B", 500_000, 100),
    Load("100 B, one partition", 500_000, 100, partitions=1),
    Load("100 B, 3 members", 500_000, 100, threads=3),
    Load("100 B, 5,000 a poll", 500_000, 100, max_poll_records=5_000),
    Load("100 B, servers and client on a core each", 500_000, 100, pinned=True),
    Load("1,000 B", 300_000, 1_000),
    Load("100 B, one record a batch", 200_000, 100, single=True),
)

#: Loads in which one figure grows while the rest stays.
CURVES = {
    "members": tuple(Load(str(members), 500_000, 100, threads=members) for members in (1, 2, 4, 8, 16)),
    "partitions": tuple(Load(str(count), 500_000, 100, partitions=count) for count in (1, 10, 100)),
    "record size": tuple(Load(str(size), 40_000_000 // max(size, 100), size) for size in (10, 100, 1_000, 10_000)),
}


def throughput(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """All loads on all sides; a ``share`` of 10 consumes a tenth of the records."""
    with sides.running(("A", "B", "C interval", "C always")) as (broker, found):
        bench = _Bench(broker.bootstrap, found, say, rounds, share)
        return {"rows": [row for load in LOADS for row in bench.measure(load)]}


def curves(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """Members, partitions and record sizes that grow, on B and C."""
    with sides.running(("B", "C interval")) as (broker, found):
        bench = _Bench(broker.bootstrap, found, say, min(rounds, 2), share)
        measured = ((what, row) for what, loads in CURVES.items() for load in loads for row in bench.measure(load))
        return {"rows": [{"curve": what, **row} for what, row in measured]}


class _Bench:
    """Loads one after the other, each on a topic of its own, on sides that are warm."""

    def __init__(self, upstream: str, found: list[Side], say: Say, rounds: int, share: int) -> None:
        self._upstream = upstream
        self._sides = found
        self._say = say
        self._rounds = rounds
        self._share = share
        self._topics = 0
        for _ in range(2):
            self.measure(Load("warm-up", 200_000, 100), rounds=1)

    def measure(self, load: Load, *, rounds: int = 0) -> list[dict[str, Any]]:
        """Consume a topic as often as asked from each side, in random order."""
        load = load._replace(records=load.records // self._share)
        seen: defaultdict[str, list[Figures]] = defaultdict(list)
        self._topics += 1
        topic = f"load-{self._topics}"
        create_topic(self._upstream, topic, load.partitions)
        fill(self._upstream, topic, load.records, load.size, load.partitions, single=load.single)
        with self._placed(load):
            for number in range(rounds or self._rounds):
                for side in random.sample(self._sides, len(self._sides)):
                    figures = _consume(side, load, topic, f"{topic}-{side.name.replace(' ', '-')}-{number}")
                    seen[side.name].append(figures)
                    self._say(f"{load.name}, {side.name}: {figures['rate']:,.0f} records/s")
        told = {"load": load.name, "records": load.records}
        return [{**told, "side": side.name, **_summary(seen[side.name])} for side in self._sides]

    @contextmanager
    def _placed(self, load: Load) -> Iterator[None]:
        """Keep the servers to their core while a pinned load runs."""
        pids = {pid for side in self._sides for pid in (side.pid, side.upstream_pid)}
        everywhere = os.sched_getaffinity(0)
        for pid in pids if load.pinned else ():
            sides.pin(pid, _SERVERS)
        try:
            yield
        finally:
            for pid in pids if load.pinned else ():
                sides.pin(pid, everywhere)


def _consume(side: Side, load: Load, topic: str, group: str) -> Figures:
    cores = _CLIENT if load.pinned else None
    with sides.watch(side) as spent:
        if side.name == "A":
            found = tools.consumer(side.bootstrap, topic, group, load.records, cores=cores)
        else:
            configure_group(side.bootstrap, group, **{"share.auto.offset.reset": "earliest"})
            found = tools.share_consumer(
                side.bootstrap, topic, group, load.records,
                threads=load.threads, max_poll_records=load.max_poll_records, cores=cores,
            )  # fmt: skip
    return {
        "rate": found.rate,
        "joining_s": found.joining_s,
        "server_cpu_s": spent[0].server,
        "upstream_cpu_s": spent[0].upstream,
    }


def _summary(rounds: list[Figures]) -> dict[str, dict[str, float]]:
    """Median and extremes of each figure."""
    return {
        name: {
            "median": statistics.median(one[name] for one in rounds),
            "least": min(one[name] for one in rounds),
            "most": max(one[name] for one in rounds),
        }
        for name in rounds[0]
    }
