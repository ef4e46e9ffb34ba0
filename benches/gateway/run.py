"""Measures share groups through the gateway (C) beside a broker's own (B) and a consumer group (A), all on one broker.

    python -m benches.gateway.run [--quick] [--rounds N] [--only throughput,latency,...] [--before CHECKOUT]

Each part writes `benches/results/gateway-PART.json`; all of them together make `docs/benchmarks-gateway.md`. With ``--quick``
everything is a tenth of the size, and goes to `build/bench`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benches import environment
from benches.gateway import acknowledgements, idle, latency, report, second_group, throughput

_REPOSITORY = Path(__file__).resolve().parents[2]
_RESULTS = _REPOSITORY / "benches" / "results"
_PAGE = _REPOSITORY / "docs" / "benchmarks-gateway.md"
_QUICK = _REPOSITORY / "build" / "bench" / "gateway"

Say = Callable[[str], None]
#: Says what it does; rounds; by how much the sizes shrink.
Part = Callable[[Say, int, int], dict[str, Any]]
#: By name: what is given where results go, how many rounds, and by how much the sizes shrink.
PARTS: dict[str, Part] = {
    "throughput": throughput.throughput,
    "latency": latency.latency,
    "acknowledgements": acknowledgements.acknowledgements,
    "partitions": idle.partitions,
    "members": idle.members,
    "second-group": second_group.second_group,
    "curves": throughput.curves,
}


def main() -> int:
    """Measure, write JSON, write the page."""
    parser = argparse.ArgumentParser(prog="python -m benches.gateway.run")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes, one round, into build/bench")
    parser.add_argument("--rounds", type=int, default=5, help="of each measurement, in random order (5)")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure: " + ",".join(PARTS))
    parser.add_argument("--before", type=Path, help="another checkout, whose gateways make acknowledgements beside these")
    given = parser.parse_args()
    wanted = given.only.split(",")
    if unknown := [name for name in wanted if name not in PARTS]:
        parser.error(f"--only: no such part: {', '.join(unknown)}")
    if given.rounds < 1:
        parser.error(f"--rounds is {given.rounds}; expected >= 1")
    results, page = (_QUICK, _QUICK / _PAGE.name) if given.quick else (_RESULTS, _PAGE)
    results.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - begun:5.0f} s] {text}", flush=True)

    parts: dict[str, Part] = {**PARTS, "acknowledgements": partial(acknowledgements.acknowledgements, before=given.before)}
    for name in wanted:
        found = parts[name](say, 1 if given.quick else given.rounds, 10 if given.quick else 1)
        told = {"environment": environment.read(), "rounds": given.rounds, **found}
        (results / f"gateway-{name}.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    page.write_text(report.page(results), encoding="utf-8")
    say(f"wrote {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
