"""Measures the rows of the plan, a file of results each, and writes the report.

    python -m benches.measure [--quick] [--only W4,W5] [--minutes N] [--missing] [--limit-s N]
                             [--results DIRECTORY] [--report FILE]

Rows that have a result of this commit are left alone, with `--missing` those that have one of any commit, so that a run which was
stopped goes on where it was; the rows of the front page come first, and those whose rounds lay too far apart again at the end.
With `--minutes` no row is begun after that time.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any

from benches import environment, report, run, steady
from benches.plan import FIRST, ROWS, Row
from benches.programs import TWIN, EngineFailedError
from benches.steady import Effort

REPOSITORY = Path(__file__).resolve().parents[1]
#: The quick run saves processes, sizes and patience, not Kafka's time for a first replay, which a cold JVM needs.
_QUICK = Effort(processes=1, most_s=10.0)
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
    """Return the effort of a measurement; a limit that was asked for counts for both runs."""
    chosen = _QUICK if quick else Effort()
    return dataclasses.replace(chosen, limit_s=limit_s or chosen.limit_s)


def left(planned: list[Row], into: Path, *, missing: bool) -> list[Row]:
    """The rows that are to be measured, in their order: the first ones, the others, and again those that were not steady."""
    order: list[tuple[int, Row]] = []
    for row in planned:
        path = into / f"{row.name}.json"
        result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        kept = {found.get("untold", "") for found in map(steady.published, result.get("engines", {}).values())}
        is_done = bool(result) and "not measured again" not in kept
        is_done = is_done and (missing or result["environment"]["commit"] == environment.code())
        if not is_done or "not steady" in kept:
            order.append((len(FIRST) + 1 if is_done else FIRST.index(row.name) if row.name in FIRST else len(FIRST), row))
    return [row for _, row in sorted(order, key=lambda one: one[0])]


def measure(planned: list[Row], to_spend: Effort, into: Path, minutes: float = float("inf")) -> list[str]:
    """Measures the rows; what went wrong."""
    into.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    wrong = []
    stopped: dict[str, dict[str, int]] = {}
    for number, row in enumerate(planned):
        if time.monotonic() - began > 60 * minutes:
            print(f"{len(planned) - number} rows are left for the next run", file=sys.stderr)
            break
        too_slow = stopped.setdefault(row.workload, {})
        smaller = {engine: size for engine, size in too_slow.items() if size < row.size}
        try:
            result = run.measure(row, to_spend, stopped=smaller)
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
    arguments.add_argument("--minutes", type=float, default=float("inf"))
    arguments.add_argument("--missing", action="store_true")
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
    planned = left(rows(quick=given.quick, only=given.only), into, missing=given.missing)
    wrong = measure(planned, effort(quick=given.quick, limit_s=given.limit_s), into, given.minutes)
    report.write(into, page)
    print(f"results: {into}\nreport: {page}")
    for text in wrong:
        print(text, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
