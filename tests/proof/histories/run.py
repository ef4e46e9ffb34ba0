"""A run on a server: members, a producer, somebody who looks, and faults, until everything is settled."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from confluent_kafka import TopicPartition

from tests.gateway.clients.plan import Plan
from tests.gateway.groups import lag
from tests.proof.histories.bare import BareMember
from tests.proof.histories.looking import Looking
from tests.proof.histories.members import KINDS, Recorded
from tests.proof.histories.producing import Producing, Transactions, without_records
from tests.proof.histories.system import Fault, Line, Server

TOPIC: Final = "orders"
GROUP: Final = "workers"
#: A mock cluster makes topics of four partitions; two are used.
PARTITIONS: Final = 2
_MEMBERS: Final = 3
#: Chance that a turn brings a fault.
_FAULTY: Final = 0.15
#: Beyond the lock's duration: for so long nothing comes to the last member, and it takes that for the end.
_QUIET_S: Final = 2.0
#: On a machine with much else to do a member may see nothing for so long though something is left: the next one looks again.
_ROUNDS: Final = 3
_DRAIN_S: Final = 180.0


class Run:
    """Members and faults at work on a server.

    Args:
        server: the server.
        rng: what is drawn from.
        table: the faults by name.
        lock_ms: duration of a lock.
        kinds: kinds of members.

    Attributes:
        members: those who joined, also those who went.
        active: those of them who work.
        lines: what nobody but the run itself can tell.
    """

    def __init__(
        self, server: Server, rng: random.Random, table: Mapping[str, Fault[Run]], *, lock_ms: int, kinds: tuple[str, ...]
    ) -> None:
        self.group, self.topic = GROUP, TOPIC
        self.server = server
        self.rng = rng
        self._table = table
        self.lock_ms = lock_ms
        self.lines: list[Line] = []
        self.members: list[Recorded] = []
        self.active: list[Recorded] = []
        self.faults: Counter[str] = Counter()
        self.besides: list[str] = []
        self.producing = Producing(server.upstream, TOPIC)
        self.looking = Looking(server.direct, GROUP, TOPIC, range(PARTITIONS))
        self.transactions = Transactions(server.upstream, TOPIC)
        self.log_starts = [0] * PARTITIONS
        self.ends = [0] * PARTITIONS
        self.resets = 0
        self._kinds = kinds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        # None is left at work by a run that did not come to its end.
        for member in self.active:
            member.kill()

    def join(self, kind: str | None = None, **plan: object) -> Recorded:
        """Start a member, of a kind that is drawn where none is wanted."""
        wanted: dict[str, object] = {"weights": (16, 3, 1, 0), "commit": "mixed", "seed": self.rng.randrange(1 << 30), **plan}
        start = KINDS[kind or self.rng.choice(self._kinds)]
        plan_of_it = Plan(bootstrap=self.server.bootstrap, group=GROUP, topics=[TOPIC], **wanted)  # type: ignore[arg-type]
        return self.enter(start(plan_of_it, len(self.members)))

    def enter(self, member: Recorded) -> Recorded:
        """Count a member in that has started."""
        self.members.append(member)
        self.active.append(member)
        return member

    def join_all(self) -> None:
        """Start as many members as a run begins with, one of each kind among them."""
        kinds = [*self._kinds, *(None for _ in range(_MEMBERS - len(self._kinds)))]
        for kind in kinds:
            self.join(kind, **self._habit())

    def leave_all(self) -> None:
        """Have everybody leave."""
        for member in self.active:
            member.stop()
        self.active.clear()

    def gone(self, member: Recorded) -> None:
        """Tell that a member may have been given what it never shows, or loses what it holds."""
        self.lines.append({"type": "gone", "t": time.monotonic_ns(), "group": GROUP, "member": member.name})

    def gone_all(self) -> None:
        """Tell that of every member: the server lets go of what a connection held."""
        for member in self.active:
            self.gone(member)

    def join_as(self, other: BareMember | None) -> None:
        """Start a bare member with the id of another one, or two with one id."""
        plan = Plan(
            bootstrap=self.server.bootstrap, group=GROUP, topics=[TOPIC], weights=(16, 3, 1, 0), seed=self.rng.randrange(99)
        )
        for _ in range(1 if other else 2):
            other = BareMember(plan, len(self.members), member_id=other.name if other else None)
            self.enter(other)

    def play(self, seconds: float, faults: tuple[str, ...]) -> None:
        """Let everybody work for a while, then until everything is settled."""
        with self.looking:
            self.join_all()
            until = time.monotonic() + seconds
            waiting: list[str] = []
            # However slow the machine is: each fault strikes.
            while time.monotonic() < until or not all(self.faults[fault] for fault in faults):
                self.produce(self.rng.randrange(PARTITIONS))
                time.sleep(self.rng.random())
                if faults and (self.rng.random() < _FAULTY or time.monotonic() > until):
                    # Each fault strikes once before any strikes again.
                    waiting = waiting or list(faults)
                    self.strike(waiting.pop(self.rng.randrange(len(waiting))))
            self.lines += self.transactions.commit()
            for partition in range(PARTITIONS):
                # A marker at the end of a log would stay, and count for the lag.
                self.produce(partition)
            self.leave_all()
            self.drain()
        lines = self.all_lines()
        if not any(line["type"] == "grant" for line in lines):
            self.besides.append("nobody was given a record")
        self.besides += without_records(lines, self.transactions.aborted)
        ended = Counter(failure for member in self.members if (failure := member.failure()))
        self.besides += [f"{count} members ended by {failure}" for failure, count in ended.items()]

    def all_lines(self) -> list[Line]:
        """Everything that anybody can tell."""
        of_members = [line for member in self.members for line in member.lines(self.lock_ms)]
        return [*self.lines, *self.looking.lines, *of_members]

    def produce(self, partition: int) -> None:
        """Have more records in a partition."""
        lines = self.producing.burst(partition, self.rng.randint(1, 200))
        for line in lines:
            self.ends[line["partition"]] = line["last"] + 1
        self.lines += self.transactions.readable(lines)

    def strike(self, fault: str) -> None:
        """Have a fault."""
        self._table[fault].strike(self)
        self.faults[fault] += 1

    def drain(self) -> None:
        """Accept everything that is left; locks of those who went run out first."""
        for _ in range(_ROUNDS):
            last = self.join("confluent", weights=(1, 0, 0, 0), commit="sync", idle_seconds=self.lock_ms / 1000 + _QUIET_S)
            ended = last.wait(_DRAIN_S)
            self.active.remove(last)
            if not ended:
                raise RuntimeError(f"the last member ended by {last.failure()}: nothing is known of what is left")
            if last.failure():
                # It has not asked for what is left: that nothing is left cannot be said.
                return
            if all(lag(self.server.direct, GROUP, TopicPartition(TOPIC, one)) == 0 for one in range(PARTITIONS)):
                break
        self.lines.append({"type": "drained", "t": time.monotonic_ns(), "group": GROUP})

    def _habit(self) -> dict[str, object]:
        """Some members sit on what they have for longer than its locks hold."""
        if self.rng.random() < 0.3:
            return {"stall_after": self.rng.randint(100, 400), "stall_seconds": self.lock_ms / 1000 * 1.3}
        return {}
