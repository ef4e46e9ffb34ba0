"""Records histories of systems under test, with faults, keeps them and checks them.

``python -m tests.proof.histories --system kafka-4.4.0 --seconds 60 --seed 7``, or ``--all`` for every system, one after the other
(docs/histories.md, docs/verdicts.md).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

from tests.kafka.home import JUDGE
from tests.proof.histories.members import CHOICES
from tests.proof.histories.systems import SYSTEMS
from tests.proof.histories.verdict import judge, table


def main() -> int:
    """Record and check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", choices=SYSTEMS, action="append", help=f"may be given again; kafka-{JUDGE} without it")
    parser.add_argument("--all", action="store_true", help="every system")
    parser.add_argument("--seconds", type=float, default=30, help="of each run")
    parser.add_argument("--seed", type=int, default=None, help="of the first run; the next ones count on")
    parser.add_argument("--faults", default=None, help="names with commas, empty for none; all that a system can have without it")
    parser.add_argument("--members", choices=CHOICES, default="confluent", help="by which library")
    parser.add_argument("--out", type=Path, default=Path("build/histories"), help="where histories are kept")
    parser.add_argument("--json", action="store_true", help="one object a run instead of the table")
    arguments = parser.parse_args()
    names = list(SYSTEMS) if arguments.all else arguments.system or [f"kafka-{JUDGE}"]
    first = random.SystemRandom().randrange(1 << 31) if arguments.seed is None else arguments.seed
    arguments.out.mkdir(parents=True, exist_ok=True)
    verdicts = []
    for number, name in enumerate(names):
        system, seed = SYSTEMS[name], first + number
        faults = system.faults if arguments.faults is None else tuple(filter(None, arguments.faults.split(",")))
        if unknown := set(faults) - set(system.faults):
            parser.error(f"{name} has no fault {', '.join(sorted(unknown))}; it has {', '.join(system.faults)}")
        print(f"{name}: seed {seed}", file=sys.stderr, flush=True)
        history = arguments.out / f"{name}-{seed}.jsonl"
        verdict, violations = judge(system, seed, arguments.seconds, faults, history, kinds=CHOICES[arguments.members])
        verdicts.append(verdict)
        for violation in violations[:20]:
            print(violation.check, violation.partition, violation.first, violation.last, violation.text, file=sys.stderr)
        if arguments.json:
            print(json.dumps(verdict.as_json()), flush=True)
    if not arguments.json:
        print(table(verdicts))
    return 0 if all(verdict.is_clean for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
