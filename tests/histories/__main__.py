"""Records a history of share consumers on a real broker, with faults, keeps it and checks it.

``python -m tests.histories --version 4.4.0 --seconds 60 --seed 7 --out run.jsonl``
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from share_state.histories import check_history
from tests.gateway.clients.members import Member, confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic, produce
from tests.gateway.upstreams import kraft
from tests.gateway.wire import Connection, Disconnected
from tests.histories.recorded import Line, lines_of, write
from tests.kafka.broker import Broker, running
from tests.kafka.home import JUDGE, VERSIONS
from tests.kafka.roundtrip.workload import BROKER_SETTINGS

_TOPIC: Final = "orders"
_GROUP: Final = "workers"
_PARTITIONS: Final = 2
_MEMBERS: Final = 3


class Run:
    """Members, a producer, somebody who looks, and faults."""

    def __init__(self, broker: Broker, rng: random.Random, *, lock_ms: int) -> None:
        self.broker = broker
        self.rng = rng
        self.lock_ms = lock_ms
        self.lines: list[Line] = []
        self.members: list[Member] = []
        self.killed: dict[int, int] = {}
        self.faults: dict[str, int] = {}
        self._ends = [0] * _PARTITIONS
        self._over = threading.Event()

    def join(self, **plan: object) -> Member:
        """Start a member."""
        number = len(self.members)
        wanted: dict[str, object] = {"weights": (16, 3, 1, 0), "commit": "mixed", "seed": self.rng.randrange(1 << 30), **plan}
        member = confluent(Plan(bootstrap=self.broker.bootstrap, group=_GROUP, topics=[_TOPIC], **wanted), number)  # type: ignore[arg-type]
        self.members.append(member)
        return member

    def produce(self) -> None:
        """Produce a burst to one partition."""
        partition, count = self.rng.randrange(_PARTITIONS), self.rng.randint(1, 200)
        first = self._ends[partition]
        try:
            produce(self.broker.bootstrap, _TOPIC, [b"%d" % number for number in range(count)], partition=partition)
        except Exception as error:
            raise RuntimeError("records were produced of which nobody knows whether they are there") from error
        self._ends[partition] += count
        span = {"first": first, "last": first + count - 1}
        self.lines.append({"type": "produce", "t": time.monotonic_ns(), "topic": _TOPIC, "partition": partition, **span})

    def look(self) -> None:
        """Ask for start offsets and leader epochs until the run is over."""
        topics = [{"topicName": _TOPIC, "partitions": list(range(_PARTITIONS))}]
        while not self._over.wait(0.3):
            sent = time.monotonic_ns()
            try:
                with Connection(self.broker.bootstrap) as connection:
                    groups = [{"groupId": _GROUP, "topics": topics}]
                    answer = connection.ask("DescribeShareGroupOffsets", 0, {"groups": groups})
            except (OSError, Disconnected):
                # The broker is away.
                continue
            t = time.monotonic_ns()
            for group in answer["groups"]:
                for topic in group["topics"]:
                    for one in topic["partitions"]:
                        if one["errorCode"] == 0:
                            shown = {"start_offset": one["startOffset"], "leader_epoch": one["leaderEpoch"]}
                            place = {"group": _GROUP, "topic": _TOPIC, "partition": one["partitionIndex"]}
                            self.lines.append({"type": "view", "t": t, "sent": sent, **place, **shown})

    def kill(self) -> None:
        """Kill a member, and start another one."""
        victim = self.rng.choice([one for one in self.members if one.number not in self.killed])
        self.killed[victim.number] = time.monotonic_ns()
        victim.kill()
        self.join()

    def stall(self) -> None:
        """Stop a member for longer than its locks hold. What its client fetched meanwhile it may never hand out: it is gone."""
        victim = self.rng.choice([one for one in self.members if one.number not in self.killed])
        self.lines.append({"type": "gone", "t": time.monotonic_ns(), "group": _GROUP, "member": f"m{victim.number}"})
        victim.pause()
        time.sleep(self.lock_ms / 1000 + self.rng.random())
        victim.resume()

    def restart(self) -> None:
        """Kill the broker, and start it again."""
        self.broker.restart(killed=True)

    def play(self, seconds: float, faults: list[str]) -> None:
        """Let everybody work for a while, then until everything is settled."""
        looking = threading.Thread(target=self.look, daemon=True)
        looking.start()
        for _ in range(_MEMBERS):
            self.join()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.produce()
            time.sleep(self.rng.random())
            if faults and self.rng.random() < 0.1:
                fault = self.rng.choice(faults)
                self.faults[fault] = self.faults.get(fault, 0) + 1
                getattr(self, fault)()
        for member in self.members:
            if member.number not in self.killed:
                member.stop()
        # The last ones accept everything that is left; locks of those who went run out first.
        last = self.join(weights=(1, 0, 0, 0), commit="sync", idle_seconds=self.lock_ms / 1000 + 4)
        last.wait(120)
        self._over.set()
        looking.join()
        self.lines.append({"type": "drained", "t": time.monotonic_ns(), "group": _GROUP})
        for member in self.members:
            self.lines += lines_of(member, lock_ms=self.lock_ms, killed_at=self.killed.get(member.number))


def main() -> int:
    """Record and check a history."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", choices=VERSIONS, default=JUDGE, help="the broker's release")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--faults", default="kill,stall", help="of kill, stall and restart, with commas; empty for none")
    parser.add_argument("--out", type=Path, default=Path("history.jsonl"))
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)  # noqa: S311 - a workload
    lock_ms = rng.choice((1000, 2000, 3000))
    settings = {**BROKER_SETTINGS, **kraft.SHARE_SETTINGS, "group.share.record.lock.duration.ms": str(lock_ms)}
    with tempfile.TemporaryDirectory() as directory, running(arguments.version, Path(directory), settings) as broker:
        create_topic(broker.bootstrap, _TOPIC, _PARTITIONS)
        configure_group(broker.bootstrap, _GROUP, **{"share.auto.offset.reset": "earliest"})
        run = Run(broker, rng, lock_ms=lock_ms)
        run.play(arguments.seconds, [fault for fault in arguments.faults.split(",") if fault])
    events = write(arguments.out, run.lines)
    report = check_history(arguments.out.read_bytes().splitlines(keepends=True))
    print(f"{arguments.version}: {events} events, lock {lock_ms} ms, faults {run.faults}, {len(run.members)} members")
    print(f"{len(report.violations)} violations; {report.lateness}; {arguments.out}")
    for violation in report.violations[:20]:
        print(violation.check, violation.partition, violation.first, violation.last, violation.text)
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
