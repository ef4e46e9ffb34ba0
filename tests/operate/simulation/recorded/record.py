"""Records the runs again: ``python -m tests.operate.simulation.recorded.record DIRECTORY``. It takes about two minutes.

One broker, a group and a topic a run. The members are assigned before the records come, so a run begins with a backlog. What is
kept is the state topic, and for each run what the members saw: ``runs.json``.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from tests.gateway.clients.members import Member
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group, wait_for_members
from tests.gateway.records import create_topic, produce
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker, running
from tests.kafka.home import JUDGE
from tests.kafka.roundtrip.workload import BROKER_SETTINGS

RECORDS = 2000
#: Records of a log batch, and of a poll.
BATCH = 10
#: Longer than any lock and any stall: nothing comes any more.
_IDLE_SECONDS = 7.0


class Run(NamedTuple):
    """The settings of one group."""

    group: str
    lock_ms: int
    limit: int
    members: int


RUNS = (
    Run("short-locks", 1000, 3, 2),
    Run("long-locks", 3000, 3, 2),
    Run("more-members", 1000, 3, 4),
    Run("more-deliveries", 1000, 6, 2),
)


def record(broker: Broker, run: Run, seed: int) -> dict[str, Any]:
    """Let members of a group take all records; what they saw."""
    topic = f"of-{run.group}"
    create_topic(broker.bootstrap, topic, 1)
    configs = {
        "share.auto.offset.reset": "earliest",
        "share.record.lock.duration.ms": str(run.lock_ms),
        "share.delivery.count.limit": str(run.limit),
    }
    configure_group(broker.bootstrap, run.group, **configs)
    settings = {"max.poll.records": str(BATCH)}
    with ExitStack() as cleanup:
        members = []
        for number in range(run.members):
            plan = Plan(
                bootstrap=broker.bootstrap,
                group=run.group,
                topics=[topic],
                seed=seed * 100 + number,
                settings=settings,
                idle_seconds=60.0,
            )
            command = [sys.executable, "-m", "tests.operate.simulation.recorded.member"]
            members.append(cleanup.enter_context(Member(command, plan, number)))
        wait_for_members(broker.bootstrap, run.group, run.members)
        # Every member knows its assignment after one more heartbeat.
        time.sleep(2.0)
        produce(broker.bootstrap, topic, [b"%d" % number for number in range(RECORDS)], batch=BATCH)
        before = -1
        while (now := sum(member.received() for member in members)) != before:
            before = now
            time.sleep(_IDLE_SECONDS)
        for member in members:
            member.stop()
        received = [
            record for member in members for event in member.events if event["event"] == "received" for record in event["records"]
        ]
    assert len({offset for _, _, offset, _ in received}) == RECORDS
    return {**run._asdict(), "deliveries": len(received), "redeliveries": sum(count > 1 for *_, count in received)}


def main() -> None:
    """Record every run into a directory."""
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        settings = {**BROKER_SETTINGS, **kraft.SHARE_SETTINGS, **kraft.QUICK}
        with running(JUDGE, Path(directory), settings) as broker:
            runs = [record(broker, run, seed) for seed, run in enumerate(RUNS, start=1)]
        for log in sorted((Path(directory) / "data").glob("__share_group_state-*/*.log")):
            if log.stat().st_size:
                (target / log.parent.name).mkdir(exist_ok=True)
                shutil.copyfile(log, target / log.parent.name / log.name)
    (target / "runs.json").write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
