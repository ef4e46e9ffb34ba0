"""How fast records get through, from the first to the last: sides A, B and C beside each other, in random order."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from benches.gateway import sides, tools
from benches.gateway.records import fill
from benches.gateway.sides import Side
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic

Say = Callable[[str], None]
Figures = dict[str, float]

_PARTITIONS = 6
#: Where everything is pinned: the servers to one core, the client to the other.
_SERVERS, _CLIENT = {0}, {1}


class Load(NamedTuple):
    """What is to be consumed, and how."""

    name: str
    records: int
    size: int
    partitions: int = _PARTITIONS
    single: bool = False
    threads: int = 1
    max_poll_records: int = 500
    pinned: bool = False


LOADS = (
    Load("100 B", 1_000_000, 100),
    Load("100 B, one partition", 1_000_000, 100, partitions=1),
    Load("100 B, 3 members", 1_000_000, 100, threads=3),
    Load("100 B, 5,000 a poll", 1_000_000, 100, max_poll_records=5_000),
    Load("100 B, servers and client on a core each", 1_000_000, 100, pinned=True),
    Load("1,000 B", 300_000, 1_000),
    Load("100 B, one record a batch", 200_000, 100, single=True),
)

#: What grows while the rest stays.
CURVES = {
    "members": tuple(Load(str(members), 500_000, 100, threads=members) for members in (1, 2, 4, 8, 16)),
    "partitions": tuple(Load(str(count), 500_000, 100, partitions=count) for count in (1, 10, 100)),
    "record size": tuple(Load(str(size), 40_000_000 // max(size, 100), size) for size in (10, 100, 1_000, 10_000)),
}


def throughput(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """All loads on all sides; a ``share`` of 10 consumes a tenth of the records."""
    return {"rows": [row for load in LOADS for row in measure(load, ("A", "B", "C interval", "C always"), say, rounds, share)]}


def curves(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """Members, partitions and record sizes that grow, on B and C."""
    rows = []
    for what, loads in CURVES.items():
        for load in loads:
            rows += [{"curve": what, **row} for row in measure(load, ("B", "C interval"), say, min(rounds, 2), share)]
    return {"rows": rows}


def measure(load: Load, names: tuple[str, ...], say: Say, rounds: int, share: int) -> list[dict[str, Any]]:
    """Consume one topic as often as asked from each side, in random order after a warm-up of each."""
    load = load._replace(records=load.records // share)
    seen: defaultdict[str, list[Figures]] = defaultdict(list)
    with sides.running(names) as (broker, found):
        create_topic(broker.bootstrap, tools.TOPIC, load.partitions)
        fill(broker.bootstrap, tools.TOPIC, load.records, load.size, load.partitions, single=load.single)
        if load.pinned:
            for pid in {one for side in found for one in (side.pid, side.upstream_pid)}:
                sides.pin(pid, _SERVERS)
        for number in range(rounds + 1):
            for side in random.sample(found, len(found)):
                figures = _consume(side, load, f"{side.name.replace(' ', '-')}-{number}")
                if number > 0:
                    seen[side.name].append(figures)
                warm = " (warm-up)" if number == 0 else ""
                say(f"{load.name}, {side.name}: {figures['rate']:,.0f} records/s{warm}")
    return [{"load": load.name, "records": load.records, "side": name, **_summary(seen[name])} for name in names]


def _consume(side: Side, load: Load, group: str) -> Figures:
    cores = _CLIENT if load.pinned else None
    with sides.watch(side) as spent:
        if side.name == "A":
            found = tools.consumer(side.bootstrap, group, load.records, cores=cores)
        else:
            configure_group(side.bootstrap, group, **{"share.auto.offset.reset": "earliest"})
            found = tools.share_consumer(
                side.bootstrap, group, load.records,
                threads=load.threads, max_poll_records=load.max_poll_records, cores=cores,
            )  # fmt: skip
    return {
        "rate": found.rate,
        "rate_with_joining": found.rate_with_joining,
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
