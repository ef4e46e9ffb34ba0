"""Measures share groups through the gateway (C) beside those of a broker (B), in one run, on one broker with one topic a load.

    python -m benches.gateway.run [--quick] [--output FILE]

The client is ``kafka-share-consumer-perf-test`` of Kafka 4.3.1, unchanged. Times are those that it prints, joining included: a
broker assigns on the second heartbeat, about 5 s after the first; the gateway on the first. ``cpu_s`` is what the server
that decides has spent: the broker for B; for C the gateway, and beside it ``upstream_cpu_s``, what the broker has spent on it.
``sync`` says when an acknowledgement is on the disk: B's broker leaves that to the page cache, as C does with ``interval``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benches.gateway.records import fill
from tests.gateway.groups import configure_group
from tests.gateway.process import GatewayProcess
from tests.gateway.records import create_topic
from tests.gateway.upstreams import kraft
from tests.kafka.home import java, libraries

RESULTS = Path(__file__).parents[1] / "results" / "gateway.json"
_TOOLS = "4.3.1"
_PERF = "org.apache.kafka.tools.ShareConsumerPerformance"
_PARTITIONS = 6
_TICKS = os.sysconf("SC_CLK_TCK")


class Load(NamedTuple):
    """What is to be consumed."""

    name: str
    records: int
    size: int
    single: bool = False


LOADS = (
    Load("100 B", 1_000_000, 100),
    Load("1,000 B", 300_000, 1_000),
    Load("100 B, one record a batch", 200_000, 100, single=True),
)


def main() -> int:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benches.gateway.run")
    parser.add_argument("--quick", action="store_true", help="a tenth of the records, one round")
    parser.add_argument("--output", type=Path, default=None, help=f"where to write; {RESULTS.name} without --quick")
    given = parser.parse_args()
    rounds = 1 if given.quick else 5
    loads = [load._replace(records=load.records // 10) for load in LOADS] if given.quick else list(LOADS)
    rows = [row for load in loads for row in measure(load, rounds)]
    result = {"machine": platform.processor() or platform.machine(), "cpus": os.cpu_count(), "rounds": rounds, "rows": rows}
    output = given.output or (None if given.quick else RESULTS)
    if output is not None:
        output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    show(rows)
    return 0


def measure(load: Load, rounds: int) -> list[dict[str, Any]]:
    """Consume one topic as often as asked from each side, in random order after a warm-up of each."""
    with tempfile.TemporaryDirectory(prefix="bench-gateway-") as name, ExitStack() as stack:
        directory = Path(name)
        (directory / "broker").mkdir()
        broker = stack.enter_context(kraft.with_share_groups(directory / "broker"))
        create_topic(broker.bootstrap, "load", _PARTITIONS)
        fill(broker.bootstrap, "load", load.records, load.size, _PARTITIONS, single=load.single)
        sides: dict[str, tuple[str, int]] = {"B": (broker.bootstrap, broker.pid)}
        for sync in ("interval", "always"):
            gateway = GatewayProcess(directory / sync, broker.bootstrap, kraft.SHARE_SETTINGS, "--sync", sync)
            stack.enter_context(gateway)
            sides[f"C {sync}"] = (gateway.bootstrap, gateway.pid)
        seen: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
        for round_number in range(rounds + 1):
            for side in random.sample(sorted(sides), len(sides)):
                bootstrap, pid = sides[side]
                group = f"{side.replace(' ', '-')}-{round_number}"
                configure_group(bootstrap, group, **{"share.auto.offset.reset": "earliest"})
                before, upstream = _cpu(pid), _cpu(broker.pid)
                figures = consume(bootstrap, group, load.records)
                figures |= {"cpu_s": _cpu(pid) - before, "upstream_cpu_s": _cpu(broker.pid) - upstream}
                if round_number > 0 or rounds == 1:
                    seen[side].append(figures)
                print(f"{load.name}, {side}: {figures['records_s']:,.0f} records/s", file=sys.stderr)
    return [
        {
            "load": load.name,
            "records": load.records,
            "side": side,
            **{
                f"{name}_{what.__name__}": what(row[name] for row in rows)
                for name in rows[0]
                for what in (min, statistics.median, max)
            },
        }
        for side, rows in seen.items()
    ]


def consume(bootstrap: str, group: str, records: int) -> dict[str, float]:
    """Run the tool; records a second with and without what passes before the first one is asked for."""
    command = [
        java(), "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{libraries(_TOOLS)}/*", _PERF, "--bootstrap-server", bootstrap,
        "--topic", "load", "--group", group, "--num-records", str(records), "--timeout", "60000",
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        consumed, fetch_ms = (float(field) for field in ran.stdout.strip().splitlines()[-1].split(",")[5:7])
    except (IndexError, ValueError):
        raise RuntimeError(f"the tool has printed no figures: {ran.stdout[-500:]} {ran.stderr[-500:]}") from None
    if consumed < records:
        raise RuntimeError(f"{consumed:.0f} of {records} records were consumed")
    return {"seconds": fetch_ms / 1000, "records_s": consumed / fetch_ms * 1000}


def show(rows: list[dict[str, Any]]) -> None:
    """Print the medians, and how many times as fast as the broker."""
    table = Table("load", "side", "records/s", "of B", "server CPU s", "upstream CPU s")
    base = {row["load"]: row["records_s_median"] for row in rows if row["side"] == "B"}
    for row in rows:
        rate = row["records_s_median"]
        table.add_row(
            row["load"], row["side"], f"{rate:,.0f}", f"{rate / base[row['load']]:.1f}×",
            f"{row['cpu_s_median']:.2f}", f"{row['upstream_cpu_s_median']:.2f}",
        )  # fmt: skip
    Console().print(table)


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    sys.exit(main())
