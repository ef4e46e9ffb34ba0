"""There is no room left on the disk: nothing is confirmed that is not kept, and with room all goes on."""

from __future__ import annotations

import http.client
import resource
from pathlib import Path

from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import settled, there, values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.patience import wait_until
from tests.gateway.process import GatewayProcess
from tests.kafka.broker import free_ports

#: Code with which an acknowledgement is refused: UNKNOWN_SERVER_ERROR, after which clients go on.
REFUSED = {-1}


def room(process: GatewayProcess, size: int | None) -> None:
    """Files of the gateway may grow to so many bytes; the next write beyond fails as on a full disk, EFBIG for ENOSPC."""
    hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def ready(port: int) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_no_room(tmp_path: Path) -> None:
    books = Books()
    (port,) = free_ports(1)
    with HostileUpstream() as upstream:
        upstream.create("t")
        for first in range(0, 60, 10):
            upstream.append("t", 0, values(first, 10))
        with (
            GatewayProcess(
                tmp_path, upstream.bootstrap, {"share.auto.offset.reset": "earliest"}, "--metrics", f"127.0.0.1:{port}"
            ) as gateway,
            Member(gateway.bootstrap, "a", ["t"], books) as member,
            Member(gateway.bootstrap, "a", ["t"], books) as other,
        ):
            member.acknowledge(member.join().poll(20_000, most=10))
            held = member.poll(20_000, most=10)
            assert len(books.settled) == 10
            assert ready(port)[0] == 200
            room(gateway, 1)
            # What cannot be kept is not confirmed, and the session goes on.
            member.acknowledge(held)
            member.poll(0, most=10)
            assert {code for _, code in books.refused} == REFUSED
            assert len(books.settled) == 10
            wait_until(lambda: ready(port) == (503, "the log of share partitions takes no writes\n"), "it says so")
            # A member that is new has to be written down: it is told to come again.
            answer = other.connection.ask("ShareGroupHeartbeat", 1, {
                "groupId": "b", "memberId": other.name, "memberEpoch": 0, "rackId": None, "subscribedTopicNames": ["t"],
            })  # fmt: skip
            assert answer["errorCode"] == 15
            # Nothing is given out that could not be settled, also when there is room again: nobody knows what the disk holds.
            assert not member.poll()
            room(gateway, None)
            assert not member.poll()
            assert not member.errors
            gateway.kill()
            gateway.start()
            member.close()
            with Member(gateway.bootstrap, "a", ["t"], books) as late:
                late.join().drain(60)
                assert settled(books, late.topic_id("t")) == there(upstream, "t")
            wait_until(lambda: ready(port)[0] == 200, "it is ready")
            assert gateway.stop() == 0
