"""The second main job: share groups for a cluster that has none, without a JVM.

1. Fill a topic of librdkafka's mock cluster, which knows no share groups.
2. Start a gateway in front of it, and let unmodified share consumers take the records. One stalls beyond its locks, one is
   killed, and half-way the gateway is killed and started again on the same port and directory.
3. Account for every record, and say where the state lies and how to look at it.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from examples.demo.directory import NotOurDirectoryError, make_anew, named
from examples.demo.history import read_histories
from examples.demo.report import print_report
from examples.gateway import figures, report, verdict
from examples.gateway.plan import PARTITIONS, Plan
from examples.gateway.records import ProducingError, produce
from examples.gateway.server import GatewayError
from examples.gateway.supervise import serve_with_kills
from share_state import StateBatch
from share_state.testing import MockCluster

REPOSITORY = Path(__file__).resolve().parents[2]
#: Most records that a partition of the mock cluster keeps.
_MOST = PARTITIONS * 40_000
_LEAST = 1_000


def main() -> int:
    """Run the demo; 0 when every check passed."""
    parser = argparse.ArgumentParser(description="Share groups on a mock cluster through the gateway, with kills, checked.")
    parser.add_argument(
        "--directory", type=Path, default=REPOSITORY / ".demo-gateway", help="made again (default: .demo-gateway)"
    )
    parser.add_argument("--records", type=int, default=100_000, help="a multiple of four (default: 100000)")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="json: one object, and nothing else")
    options = parser.parse_args()
    if options.records % PARTITIONS or not _LEAST <= options.records <= _MOST:
        parser.error(f"--records is {options.records}, not a multiple of {PARTITIONS} from {_LEAST} to {_MOST}")
    console = Console(highlight=False, soft_wrap=True, stderr=options.format == "json")
    # As Ctrl-C: every process is ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        result = run(Plan(options.directory.resolve(), options.records), console)
    except (NotOurDirectoryError, GatewayError, ProducingError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. Every process was ended; what the gateway confirmed is in its directory.", file=sys.stderr)
        return 128 + signal.SIGINT
    if options.format == "json":
        print(json.dumps(result))
    return 0 if result["passed"] else 1


def run(plan: Plan, console: Console) -> dict[str, Any]:
    """Do the three steps; gives the result as it is saved."""
    make_anew(plan.directory)
    with MockCluster() as upstream:
        console.print("1. A cluster without share groups: librdkafka's mock cluster\n", style="bold")
        begun = time.monotonic()
        produce(plan, upstream)
        console.print(f"{plan.records:,} records in {PARTITIONS} partitions, in {time.monotonic() - begun:.1f} s")

        console.print("\n2. Share groups for it: a gateway, and share consumers as they are\n", style="bold")
        done = serve_with_kills(plan, upstream.bootstrap_servers, console)

    histories = {key.partition: history for key, history in read_histories(plan.state / "state").items()}
    evidence = verdict.Evidence(plan, done, histories, shown_states(plan))
    checks, counted = verdict.judge(evidence), figures.count(evidence)
    result = report.as_json(counted, checks)
    plan.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print_report(console, report.rows(counted), checks)

    console.print(f"3. The state lies in {named(plan.state)}, these results in {named(plan.result)}\n", style="bold")
    console.print(f"$ {named(Path(sys.executable).with_name('share-state'))} state {named(plan.state / 'state')}")
    return result


def shown_states(plan: Plan) -> list[dict[str, Any]]:
    """Give the rows that the command line shows for the gateway's directory."""
    command = [sys.executable, "-m", "share_state", "state", str(plan.state / "state"), "--format", "jsonl"]
    shown = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    for row in rows:
        # The fields of a batch have names in JSON; what judges takes batches of the library.
        row["batches"] = [StateBatch(*(batch[name] for name in StateBatch._fields)) for batch in row["batches"]]
    return rows
