"""Measures one workload at one size, on every engine that plays it, and shows what came of it.

    python -m benches.run W4 --size 10000 [--engines kafka,tree] [--processes 3] [--most-s 90] [--tails] [--limit-s 30] [--seed 1]
                         [--durable never|interval|always|polled]

The results are compared first: an engine that is wrong is reported as wrong and not timed. What a process measured is kept below
`build/bench`, so that a run that was stopped goes on with the next process.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from benches import environment, programs, steady
from benches.oplog import HEADER
from benches.plan import DURABILITIES, ROWS, Row
from benches.programs import ENGINES, KAFKA, TREE
from benches.steady import Effort

RESULTS = Path(__file__).resolve().parent / "results"
#: Measurements of processes, of rows that are not complete.
PROCESSES = programs.REPOSITORY / "build" / "bench" / "processes"
#: The engines of which one process is enough: no target is about them.
_ONCE = {programs.TWIN, programs.KIO}
#: Such an engine is given up so many times sooner.
_SOONER = 6


def measure(row: Row, effort: Effort, seed: int = 1, stopped: dict[str, int] | None = None) -> dict[str, Any]:
    """The result of a row. `stopped` has the size at which an engine needed too long already."""
    if row.workload in ("replay", "durable"):
        return _result(row, seed, 1, _state_log(row))
    log = programs.generate(row.workload, row.size, seed, writes=row.writes)
    kept = PROCESSES / environment.code() / f"{row.name}-{seed}"
    if environment.changes():
        # What was measured of a changed tree is of no other one.
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True, exist_ok=True)
    try:
        elements = _elements(log)
        engines: dict[str, Any] = {}
        for engine in (engine for engine in ENGINES if engine in row.engines):
            if not programs.has(engine):
                engines[engine] = {"missing": True}
            elif engine in (stopped or {}):
                engines[engine] = {"stopped_at_size": (stopped or {})[engine]}
            elif row.workload.startswith("memory"):
                print(f"  {row.name} {engine}", file=sys.stderr, flush=True)
                engines[engine] = programs.memory(log, engine)
                engines[engine]["bytes_each"] = engines[engine]["memory_bytes"] / elements
            else:
                engines[engine] = {}
        # A process of each engine in turn, so that what changes on the machine meets all of them.
        for number in range(effort.processes):
            for engine, found in engines.items():
                if not found or (found.get("timed") and engine not in _ONCE):
                    _process(row, effort, log, engine, number, engines, kept)
        for found in engines.values():
            found.update(steady.figures(found.pop("timed", []), elements))
        result = _result(row, seed, elements, engines)
    finally:
        log.unlink()
    shutil.rmtree(kept)
    return result


def _process(row: Row, effort: Effort, log: Path, engine: str, number: int, engines: dict[str, Any], kept: Path) -> None:
    """Adds what the next process of an engine measures, or has measured in a run that was stopped."""
    path = kept / f"{engine}-{number}.json"
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
    else:
        print(f"  {row.name} {engine}, process {number + 1}", file=sys.stderr, flush=True)
        mine = effort
        if engine in _ONCE:
            mine = dataclasses.replace(effort, limit_s=max(1, effort.limit_s // _SOONER), most_s=effort.most_s / _SOONER)
        found = _measured(row, mine, log, engine, number, engines)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(found), encoding="utf-8")
        part.replace(path)
    timed = found.pop("timed", None)
    engines[engine] = found | engines[engine]
    if timed:
        engines[engine].setdefault("timed", []).append(timed)


def _measured(row: Row, effort: Effort, log: Path, engine: str, number: int, engines: dict[str, Any]) -> dict[str, Any]:
    expected = next((one["digest"] for one in engines.values() if one.get("digest") and not one.get("wrong")), None)
    with programs.running(log, engine, effort.limit_s, row.durability) as process:
        found = process.results
        found["wrong"] = found["digest"] is not None and found["digest"] != (expected or found["digest"])
        if found["wrong"] or found["stopped"] is not None:
            return found
        found["timed"] = steady.rounds(process, effort.most_s)
        if row.workload == "W16":
            found |= process.ask("threads")
        if row.tails and not number and row.workload not in ("W11", "encode"):
            found |= process.ask("tails", effort.tail_rounds)
    return found


def _state_log(row: Row) -> dict[str, Any]:
    print(f"  {row.name} {TREE}", file=sys.stderr, flush=True)
    return {TREE: programs.state_log(row.workload, "--size", str(row.size))}


def _elements(log: Path) -> int:
    import numpy as np  # noqa: PLC0415 # the header only: the log may have ten million operations

    return int(np.fromfile(log, HEADER, 1)[0]["elements"])


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
        apart = f"rounds {found['spread']:.0%} apart"
        return f"{found['ns']:14,.1f} ns {ratio}  {apart}, {found['writes']:,} writes, {found['bytes']:,} bytes persisted"
    named = ("bytes_each", "records_a_second", "share_of_bare", "stopped_at_size")
    return ", ".join(f"{name} {found[name]:,.1f}" for name in named if name in found)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("workload")
    arguments.add_argument("--size", type=int, required=True)
    arguments.add_argument("--engines", default="")
    arguments.add_argument("--processes", type=int, default=Effort.processes)
    arguments.add_argument("--most-s", type=float, default=Effort.most_s)
    arguments.add_argument("--tails", action="store_true")
    arguments.add_argument("--durable", choices=tuple(DURABILITIES), default="")
    arguments.add_argument("--limit-s", type=int, default=Effort.limit_s)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    planned = [row for row in ROWS if row.workload == given.workload]
    engines = tuple(given.engines.split(",")) if given.engines else planned[0].engines if planned else ENGINES
    row = Row(given.workload, given.size, engines, tails=given.tails, durability=given.durable)
    effort = Effort(processes=given.processes, most_s=given.most_s, limit_s=given.limit_s)
    result = measure(row, effort, given.seed)
    show(result)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(any(found.get("wrong") for found in result["engines"].values()))


if __name__ == "__main__":
    sys.exit(main())
