"""Writes a second and latency of our Kafka persisters and of Kafka's own, side by side in one run against one broker.

The rounds of the three are interleaved, each round beginning with another, and what comes before the first of them at a
concurrency is warm-up. Figures go to a table and to ``build/bench/persister.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benches.persister.load import Awaited, Blocking, Kafkas, Load, Round
from share_state.kafka import KafkaPersister
from tests.kafka import broker as brokers
from tests.kafka import home

_TICKS = os.sysconf("SC_CLK_TCK")
_RESULTS = home.REPOSITORY / "build" / "bench" / "persister.json"
#: Writes of a round, by concurrency: short rounds, many of them, so that what else the machine does meets all alike.
WRITES = {1: 500, 16: 4_000, 256: 15_000}
PARTITIONS = 256


@dataclass(frozen=True, slots=True)
class Figure:
    """What one persister did at one concurrency, over all rounds.

    Attributes:
        persister: its class.
        concurrency: writes under way at a time.
        writes: in all rounds.
        per_second: writes a second, the median of the rounds; ``slowest`` and ``fastest`` are their extremes.
        p50_us: latency in µs, over the writes of all rounds.
        requests: sent in all rounds.
        client_cpu_us: CPU time of the client's process for a write, µs.
        broker_cpu_us: CPU time of the broker for a write, µs.
    """

    persister: str
    concurrency: int
    writes: int
    per_second: float
    slowest: float
    fastest: float
    p50_us: float
    p99_us: float
    max_us: float
    requests: int
    client_cpu_us: float
    broker_cpu_us: float


def against(broker: brokers.Broker, *, rounds: int, scale: float) -> list[Figure]:
    """Make the topic and the three loads, and measure them."""
    broker.tool(
        "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", broker.bootstrap, "--create",
        "--topic", "bench-orders", "--partitions", str(PARTITIONS),
    )  # fmt: skip
    with KafkaPersister(broker.bootstrap) as persister:
        topic_id = persister.topic_ids(["bench-orders"])["bench-orders"]
    loads: list[Load] = []
    try:
        loads.append(Awaited(broker, topic_id, PARTITIONS))
        loads.append(Blocking(broker, topic_id, PARTITIONS))
        loads.append(Kafkas(broker, topic_id, PARTITIONS))
        return measure(loads, broker, rounds=rounds, scale=scale)
    finally:
        for load in loads:
            load.close()


def measure(loads: Sequence[Load], broker: brokers.Broker, *, rounds: int, scale: float) -> list[Figure]:
    """Run every load at every concurrency."""
    figures = []
    for concurrency, full in WRITES.items():
        writes = max(concurrency, int(full * scale))
        for load in loads:
            load.round(concurrency, writes)
        done: dict[str, list[Round]] = {load.name: [] for load in loads}
        broker_cpu = dict.fromkeys(done, 0.0)
        for number in range(rounds):
            first = number % len(loads)
            for load in [*loads[first:], *loads[:first]]:
                before = _cpu_seconds(broker.pid)
                taken = load.round(concurrency, writes)
                broker_cpu[load.name] += _cpu_seconds(broker.pid) - before
                if len(taken.latencies) != writes:
                    raise AssertionError(f"{load.name} made {len(taken.latencies)} writes of {writes}")
                done[load.name].append(taken)
        figures += [_figure(name, concurrency, taken, broker_cpu[name]) for name, taken in done.items()]
    return figures


def _figure(name: str, concurrency: int, rounds: list[Round], broker_cpu: float) -> Figure:
    latencies = sorted(nanos for taken in rounds for nanos in taken.latencies)
    speeds = [len(taken.latencies) / taken.nanos * 1e9 for taken in rounds]
    writes = len(latencies)
    return Figure(
        persister=name,
        concurrency=concurrency,
        writes=writes,
        per_second=statistics.median(speeds),
        slowest=min(speeds),
        fastest=max(speeds),
        p50_us=latencies[writes // 2] / 1e3,
        p99_us=latencies[writes * 99 // 100] / 1e3,
        max_us=latencies[-1] / 1e3,
        requests=sum(taken.requests for taken in rounds),
        client_cpu_us=sum(taken.cpu_nanos for taken in rounds) / writes / 1e3,
        broker_cpu_us=broker_cpu / writes * 1e6,
    )


def table(figures: list[Figure]) -> str:
    """The figures in Markdown."""
    head = ["at a time", "persister", "writes/s", "slowest to fastest round", "p50 ms", "p99 ms", "max ms"]
    head += ["writes a request", "client CPU µs/write", "broker CPU µs/write"]
    lines = ["| " + " | ".join(head) + " |", "|--:|---" + "|--:" * (len(head) - 2) + "|"]
    for figure in figures:
        cells = [f"{figure.concurrency}", figure.persister, f"{figure.per_second:,.0f}"]
        cells += [f"{figure.slowest:,.0f} to {figure.fastest:,.0f}"]
        cells += [f"{micros / 1e3:.2f}" for micros in (figure.p50_us, figure.p99_us, figure.max_us)]
        cells += [f"{figure.writes / figure.requests:.1f}", f"{figure.client_cpu_us:.0f}", f"{figure.broker_cpu_us:.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cpu_seconds(pid: int) -> float:
    # Behind the name in brackets, which may hold anything: the 12th and 13th field are user and system time (proc(5)).
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def main() -> None:
    """Start a broker, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11, help="measured rounds of each persister at each concurrency")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual number of writes")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="share-state-") as name, brokers.running(home.JUDGE, Path(name)) as broker:
        figures = against(broker, rounds=chosen.rounds, scale=chosen.scale)
    print(table(figures))
    _RESULTS.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "kafka": home.JUDGE,
        "python": platform.python_version(),
        "machine": platform.platform(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg(),
        "rounds": chosen.rounds,
        "share_partitions": PARTITIONS,
    }
    _RESULTS.write_text(
        json.dumps({"about": about, "figures": [asdict(figure) for figure in figures]}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
