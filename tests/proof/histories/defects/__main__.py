"""Tells which of Kafka's apparent defects a client can see, with a history of each.

``python -m tests.proof.histories.defects --system 4.3.1`` (docs/verdicts.md); ``--system gateway`` asks the gateway the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.kafka.home import JUDGE, VERSIONS
from tests.proof.histories.defects.playing import GATEWAY, SCENARIOS, opened, play
from tests.proof.histories.defects.scenario import text
from tests.proof.histories.recorded import write


def main() -> int:
    """Ask, keep and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choices = (*VERSIONS, GATEWAY)
    parser.add_argument("--system", choices=choices, action="append", help=f"may be given again; {JUDGE} without it")
    parser.add_argument("--defect", choices=SCENARIOS, action="append", help="may be given again; all without it")
    parser.add_argument("--out", type=Path, default=Path("build/histories"), help="where histories are kept")
    parser.add_argument("--json", action="store_true", help="one object a scenario instead of the table")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    scenarios = [SCENARIOS[defect] for defect in arguments.defect or SCENARIOS]
    for system in arguments.system or [JUDGE]:
        with tempfile.TemporaryDirectory() as directory, opened(system, Path(directory)) as server:
            found = play(server, scenarios)
        for scenario in scenarios:
            one = found[scenario.defect]
            history = arguments.out / f"{scenario.defect.lower()}-{system}.jsonl"
            write(history, one.topic.lines)
            row = scenario.row(one, system, history, of_kafka=system != GATEWAY)
            print(json.dumps(row) if arguments.json else text(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
