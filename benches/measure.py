"""Measures every row of the plan, a file of results each, and writes the report.

python -m benches.measure [--quick] [--only W4,W5] [--limit-s N] [--results DIRECTORY] [--report FILE]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from benches import environment, report, run
from benches.plan import ROWS, Row
from benches.programs import TWIN, Effort, EngineFailedError

REPOSITORY = Path(__file__).resolve().parents[1]
#: The quick run saves processes and sizes, not Kafka's warm-up or its time for a first replay, which a cold JVM needs.
_QUICK = Effort(processes=1)
#: The quick run leaves out the obvious twin: it takes longest, and the tests compare it anyway.
_NOT_QUICK = (TWIN,)


def rows(*, quick: bool, only: str) -> list[Row]:
    wanted = [row for row in ROWS if not only or row.workload in only.split(",")]
    if not quick:
        return wanted
    return [
        dataclasses.replace(row, engines=tuple(engine for engine in row.engines if engine not in _NOT_QUICK), tails=False)
        for row in wanted
        if row.quick
    ]


def effort(*, quick: bool, limit_s: int | None) -> Effort:
    """How long to measure; a limit that was asked for counts for both runs."""
    chosen = _QUICK if quick else Effort()
    return dataclasses.replace(chosen, limit_s=limit_s or chosen.limit_s)


def measure(planned: list[Row], to_spend: Effort, into: Path) -> list[str]:
    """Measures the rows; what went wrong."""
    into.mkdir(parents=True, exist_ok=True)
    wrong = []
    stopped: dict[str, dict[str, int]] = {}
    for row in planned:
        too_slow = stopped.setdefault(row.workload, {})
        mine = dataclasses.replace(to_spend, tail_rounds=to_spend.rounds if row.tails else 0)
        try:
            result = run.measure(row, mine, stopped=too_slow)
        except EngineFailedError as error:
            wrong.append(f"{row.name}: {error}")
            continue
        for engine, found in result["engines"].items():
            if found.get("stopped") is not None:
                too_slow[engine] = row.size
            if found.get("wrong"):
                wrong.append(f"{row.name}: {engine} is wrong")
        run.show(result)
        sys.stdout.flush()
        _write(into / f"{row.name}.json", result)
    return wrong


def _write(path: Path, result: dict[str, Any]) -> None:
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--limit-s", type=int)
    arguments.add_argument("--results", type=Path)
    arguments.add_argument("--report", type=Path)
    given = arguments.parse_args()
    build = REPOSITORY / "build" / "bench"
    into = given.results or (build / "results" if given.quick else run.RESULTS)
    page = given.report or (build / "benchmarks.md" if given.quick else report.PAGE)
    if into == run.RESULTS and (changed := environment.changes()):
        print(
            f"Published results come from a clean commit, and this differs: {changed}. Commit it, or give --results.",
            file=sys.stderr,
        )
        return 1
    wrong = measure(rows(quick=given.quick, only=given.only), effort(quick=given.quick, limit_s=given.limit_s), into)
    report.write(into, page)
    print(f"results: {into}\nreport: {page}")
    for text in wrong:
        print(text, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
