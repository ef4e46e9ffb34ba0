"""Measures one workload at one size, on every engine that plays it, and shows what came of it.

    python -m benches.run W4 --size 10000 [--engines kafka,tree] [--rounds 5] [--tails] [--limit-s 30] [--seed 1]
                         [--durable never|interval|always|polled]

The results are compared first: an engine that is wrong is reported as wrong and not timed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from benches import environment, programs
from benches.oplog import HEADER
from benches.plan import DURABILITIES, ROWS, Row
from benches.programs import ENGINES, KAFKA, TREE, Effort

RESULTS = Path(__file__).resolve().parent / "results"


def measure(row: Row, effort: Effort, seed: int = 1, stopped: dict[str, int] | None = None) -> dict[str, Any]:
    """The result of a row. `stopped` has the size at which an engine needed too long already."""
    if row.workload in ("replay", "durable"):
        return _result(row, seed, 1, _state_log(row))
    log = programs.generate(row.workload, row.size, seed)
    try:
        elements = _elements(log)
        engines: dict[str, Any] = {}
        expected: str | None = None
        for engine in (engine for engine in ENGINES if engine in row.engines):
            if not programs.has(engine):
                engines[engine] = {"missing": True}
                continue
            if engine in (stopped or {}):
                engines[engine] = {"stopped_at_size": (stopped or {})[engine]}
                continue
            print(f"  {row.name} {engine}", file=sys.stderr, flush=True)
            if row.workload.startswith("memory"):
                found = programs.memory(log, engine)
                found["bytes_each"] = found["memory_bytes"] / elements
            else:
                found = programs.replay(log, engine, effort.of(engine), expected, row.durability)
                expected = expected or found["digest"]
                found["wrong"] = found["digest"] is not None and found["digest"] != expected
            engines[engine] = found | _figures(found, elements)
        return _result(row, seed, elements, engines)
    finally:
        log.unlink()


def _state_log(row: Row) -> dict[str, Any]:
    print(f"  {row.name} {TREE}", file=sys.stderr, flush=True)
    return {TREE: programs.state_log(row.workload, "--size", str(row.size))}


def _elements(log: Path) -> int:
    import numpy as np  # noqa: PLC0415 # the header only: the log may have ten million operations

    return int(np.fromfile(log, HEADER, 1)[0]["elements"])


def _figures(found: dict[str, Any], elements: int) -> dict[str, Any]:
    """Nanoseconds an element: the best round or process, which what else the machine does disturbs least, and the spread."""
    rounds = [spent / elements for spent in found.get("rounds_ns", [])]
    if not rounds:
        return {}
    best, middle = min(rounds), statistics.median(rounds)
    return {
        "ns": best,
        "spread": (max(rounds) - best) / middle,
    }


def _result(row: Row, seed: int, elements: int, engines: dict[str, Any]) -> dict[str, Any]:
    return {
        "row": row.name,
        "workload": row.workload,
        "size": row.size,
        "seed": seed,
        "elements": elements,
        "durability": row.durability,
        "command": _command(row),
        "engines": engines,
        "environment": environment.read(),
    }


def _command(row: Row) -> str:
    options = [" --tails"] * row.tails + [f" --durable {row.durability}"] * bool(row.durability)
    return f"python -m benches.run {row.workload} --size {row.size}{''.join(options)}"


def show(result: dict[str, Any]) -> None:
    """A line an engine."""
    kafka = result["engines"].get(KAFKA, {}).get("ns")
    print(f"{result['row']}: {result['elements']:,} elements")
    for engine, found in result["engines"].items():
        print(f"  {engine:17}{_line(found, kafka if engine != KAFKA else None)}")


def _line(found: dict[str, Any], kafka: float | None) -> str:
    if found.get("missing"):
        return "cannot run here"
    if found.get("wrong"):
        return f"WRONG RESULTS (digest {found['digest']}), not timed"
    if found.get("stopped") is not None:
        return f"stopped at operation {found['stopped']:,}"
    if "ns" in found:
        ratio = f"{kafka / found['ns']:10,.1f} × Kafka" if kafka else " " * 18
        return f"{found['ns']:14,.1f} ns {ratio}  {found['writes']:,} writes, {found['bytes']:,} bytes persisted"
    named = ("bytes_each", "records_a_second", "share_of_bare", "stopped_at_size")
    return ", ".join(f"{name} {found[name]:,.1f}" for name in named if name in found)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("workload")
    arguments.add_argument("--size", type=int, required=True)
    arguments.add_argument("--engines", default="")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--tails", action="store_true")
    arguments.add_argument("--durable", choices=tuple(DURABILITIES), default="")
    arguments.add_argument("--limit-s", type=int, default=Effort.limit_s)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    planned = [row for row in ROWS if row.workload == given.workload]
    engines = tuple(given.engines.split(",")) if given.engines else planned[0].engines if planned else ENGINES
    row = Row(given.workload, given.size, engines, tails=given.tails, durability=given.durable)
    effort = Effort(rounds=given.rounds, tail_rounds=given.rounds if given.tails else 0, limit_s=given.limit_s)
    result = measure(row, effort, given.seed)
    show(result)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(any(found.get("wrong") for found in result["engines"].values()))


if __name__ == "__main__":
    sys.exit(main())
