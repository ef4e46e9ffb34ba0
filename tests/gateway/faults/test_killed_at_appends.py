"""The gateway dies before and after everything that it writes, and is started again: what it has confirmed holds."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.gateway.faults.books import ACCEPT, REJECT, RELEASE, Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.patience import wait_until
from tests.gateway.wire import Connection, Disconnected
from tests.kafka.broker import die_with_parent
from tests.kafka.home import REPOSITORY

RECORDS = 20
#: Number of points that a run passes at least: two around each call that writes.
POINTS = 40
_NEVER = 1 << 30
_GONE = 69


class Nursery:
    """Starts gateways that die."""

    def __init__(self, process: subprocess.Popen[str], upstream: str) -> None:
        self._process = process
        self._upstream = upstream
        self._pid = 0

    def start(self, path: Path, point: int = _NEVER) -> str:
        """Start one that dies at a point; its address, and "" where the point was before it listened."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"upstream": self._upstream, "path": str(path), "point": point}) + "\n")
        self._process.stdin.flush()
        self._pid = 0
        while True:
            line = self._line()
            if line.startswith("{"):
                told = json.loads(line)
                if "ended" in told:
                    assert told["ended"] == signal.SIGKILL
                    return ""
                self._pid = told["pid"]
            else:
                return line

    def end(self) -> None:
        """Kill the one that runs, if it does, and wait for its end."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        while "ended" not in self._line():
            pass

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery has ended"
        return line.strip()


@contextmanager
def nursery(upstream: str) -> Iterator[Nursery]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.gateway.faults.dying"], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        encoding="utf-8", preexec_fn=die_with_parent,  # noqa: PLW1509
    ) as process:  # fmt: skip
        try:
            yield Nursery(process, upstream)
        finally:
            process.kill()


class Workload:
    """Work of a group's members and its operator; a step that was cut short is done again."""

    def __init__(self) -> None:
        self.address = ""
        self.books = Books()
        self.first: Member | None = None
        self.second: Member | None = None
        self.deleted = False

    def steps(self) -> list[Callable[[], None]]:
        return [self.join, self.decide, self.settle, self.leave, self.alter, self.take_again, self.leave_again, self.delete]

    def died(self) -> None:
        """Frees what was held and closes all connections."""
        for member in (self.first, self.second):
            if member is not None:
                member.close()

    def join(self) -> None:
        self.first = self.first or Member(self.address, "g", ["t"], self.books)
        self._joined(self.first)

    def decide(self) -> None:
        assert self.first is not None
        self._joined(self.first)
        while not (got := self.first.poll(most=10)):
            pass
        for place in got:
            self.first.acknowledge([place], (ACCEPT, RELEASE, REJECT)[place.offset % 3])
        self.first.acknowledge(self.first.poll(0))

    def settle(self) -> None:
        assert self.first is not None
        self._joined(self.first)
        self._drain(self.first, RECORDS)

    def leave(self) -> None:
        assert self.first is not None
        self._left(self.first)
        self.first.close()

    def alter(self) -> None:
        rows = [{"topicName": "t", "partitions": [{"partitionIndex": 0, "startOffset": 5}]}]
        with Connection(self.address) as connection:
            answer = connection.ask("AlterShareGroupOffsets", 0, {"groupId": "g", "topics": rows})
        codes = [answer["errorCode"], *(row["errorCode"] for one in answer["responses"] for row in one["partitions"])]
        assert set(codes) == {0}, answer
        self.books = Books()

    def take_again(self) -> None:
        self.second = self.second or Member(self.address, "g", ["t"], self.books)
        self._joined(self.second)
        self._drain(self.second, RECORDS - 5)
        assert {place.offset for place in self.books.deliveries} == set(range(5, RECORDS))

    def leave_again(self) -> None:
        assert self.second is not None
        self._left(self.second)
        self.second.close()

    def delete(self) -> None:
        with Connection(self.address) as connection:
            (row,) = connection.ask("DeleteGroups", 2, {"groupsNames": ["g"]})["results"]
        assert row["errorCode"] in {0, _GONE}, row
        self.deleted = True

    def check(self) -> None:
        """After another start: nothing that was settled comes again, and what was deleted is gone."""
        with Connection(self.address) as connection:
            groups = [row["groupId"] for row in connection.ask("ListGroups", 4)["groups"]]
        assert groups == [], groups
        fresh = Books()
        with Member(self.address, "g", ["t"], fresh) as member:
            self._joined(member)
            self._drain(member, RECORDS)
        assert fresh.settled_values(member.topic) == values(0, RECORDS)

    def _joined(self, member: Member) -> None:
        member.moved(self.address)
        member.join()

    def _left(self, member: Member) -> None:
        member.moved(self.address)
        row: dict[str, Any] = {"groupId": "g", "memberId": member.name, "memberEpoch": -1, "subscribedTopicNames": None}
        answer = member.connection.ask("ShareGroupHeartbeat", 1, row)
        # UNKNOWN_MEMBER_ID: it had left before the gateway died.
        assert answer["errorCode"] in {0, 25}, answer

    @staticmethod
    def _drain(member: Member, count: int) -> None:
        """Until all are settled, those of which the gateway died before it could say so among them."""

        def look() -> bool:
            # Not waiting for records: the answer leaves as soon as the acknowledgements are done.
            got = member.poll(0 if member.has_more_to_say else 20)
            member.acknowledge(got)
            return not got and not member.has_more_to_say and len(member.books.settled.keys() | member.books.unheard) >= count

        wait_until(look, f"{count} records are settled")


def test_a_gateway_that_dies_at_every_write(tmp_path: Path) -> None:
    deaths = 0
    with HostileUpstream() as upstream, nursery(upstream.bootstrap) as born:
        upstream.create("t")
        upstream.append("t", 0, values(0, RECORDS))
        while True:
            path = tmp_path / "state"
            died = run(born, path, deaths)
            shutil.rmtree(path)
            if not died:
                break
            deaths += 1
    assert deaths >= POINTS


def run(born: Nursery, path: Path, point: int) -> bool:
    """Play everything, with a death at a point; whether it came to that."""
    work = Workload()
    work.address = born.start(path, point)
    died = not work.address
    if died:
        work.address = born.start(path)
    for step in work.steps():
        try:
            step()
        except (Disconnected, OSError):
            assert not died, f"it died twice, the second time in {step.__name__}"
            died = True
            work.died()
            born.end()
            work.address = born.start(path)
            step()
    born.end()
    work.died()
    work.address = born.start(path)
    work.check()
    born.end()
    return died
