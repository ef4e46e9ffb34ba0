"""Member on a topic of two partitions, one of them without a record: does the client show the records of the other?

``python -m tests.proof.histories.empty_partition --system kfake --member java-4.4.0`` (docs/verdicts.md).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from share_state.operate.histories import check_history
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic
from tests.gateway.upstreams import kraft
from tests.kafka.home import VERSIONS
from tests.proof.histories import brokers, kfakes
from tests.proof.histories.members import KINDS
from tests.proof.histories.producing import Producing
from tests.proof.histories.recorded import encoded, write
from tests.proof.histories.system import Line, Open, Server

_RECORDS: Final = 40
#: Locks of two seconds: what a client does not show is delivered again within this.
_LOCK_MS: Final = 2000
_IDLE_S: Final = 10.0
_OPEN: Final[Mapping[str, Open]] = {"kfake": kfakes.opened, **{version: partial(brokers.opened, version) for version in VERSIONS}}


def play(server: Server, kind: str) -> list[Line]:
    """Let one member accept every record it is shown, until it was shown all, or none for a while."""
    create_topic(server.upstream, "orders", 2)
    configure_group(server.direct, "workers", **{"share.auto.offset.reset": "earliest"})
    lines = Producing(server.upstream, "orders").burst(0, _RECORDS)
    plan = Plan(bootstrap=server.bootstrap, group="workers", topics=["orders"], records=_RECORDS, idle_seconds=_IDLE_S)
    member = KINDS[kind](plan, 0)
    if not member.wait(60) or (failure := member.failure()):
        raise RuntimeError(f"the member ended by {failure or 'force'}")
    return [*lines, *member.lines(_LOCK_MS), {"type": "drained", "t": time.monotonic_ns(), "group": "workers"}]


def main() -> int:
    """Record and check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", choices=_OPEN, default="kfake")
    parser.add_argument("--member", choices=[kind for kind in KINDS if kind != "bare"], default="confluent")
    parser.add_argument("--out", type=Path, default=Path("build/histories/empty-partition.jsonl"))
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    settings = {**kraft.SHARE_SETTINGS, **kraft.QUICK, "group.share.record.lock.duration.ms": str(_LOCK_MS)}
    with tempfile.TemporaryDirectory() as directory, _OPEN[arguments.system](Path(directory), settings) as server:
        lines = play(server, arguments.member)
    write(arguments.out, lines)
    shown = sum(line["last"] - line["first"] + 1 for line in lines if line["type"] == "grant")
    violations = check_history(encoded(lines)).violations
    print(f"{arguments.system}, {arguments.member}: {shown} of {_RECORDS} records were shown; {arguments.out}")
    for one in violations:
        print(one.check, one.first, one.last, one.text)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
