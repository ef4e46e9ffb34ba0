"""Five hundred members at once, one that reads a byte at a time, and others that send garbage: everybody else is served."""

from __future__ import annotations

import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import settled, there, values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving
from tests.gateway.wire.codec import api_key, decode, encode

MEMBERS = 500
PARTITIONS = 10
#: Records of a partition, in batches of one: enough for every member to get some.
RECORDS = 100


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_five_hundred_members_at_once(tmp_path: Path) -> None:
    books, others = Books(), Books()
    size = {"group.share.max.size": "1000"}
    with HostileUpstream() as upstream, serving(upstream.bootstrap, tmp_path, broker=size) as gateway, ExitStack() as stack:
        upstream.create("t", PARTITIONS)
        upstream.create("sound")
        upstream.append("sound", 0, values(0, 10))
        address = gateway.bootstrap_servers
        members = [stack.enter_context(Member(address, "crowd", ["t"], books)) for _ in range(MEMBERS)]
        heartbeat = api_key("ShareGroupHeartbeat")
        for member in members:
            asked = {"groupId": "crowd", "memberId": member.name, "memberEpoch": 0, "rackId": None, "subscribedTopicNames": ["t"]}
            member.connection.send(heartbeat, 1, encode(heartbeat, 1, asked))
        heard = [decode(heartbeat, 1, member.connection.receive(heartbeat, 1), response=True) for member in members]
        assert {answer["errorCode"] for answer in heard} == {0}
        places = members[0].join().places
        for member in members:
            member.places = places
            member.ask(20_000, most=1)
        wait_until(lambda: gateway.plane.node.figures()["waiting_fetches"] == MEMBERS, "all wait")
        other = stack.enter_context(Member(address, "other", ["sound"], others))
        other.join().drain(10, "another group is served while they wait")
        for number in range(RECORDS):
            for partition in range(PARTITIONS):
                upstream.append("t", partition, values(number, 1))
        served = sum(bool(member.answered()) for member in members)
        # There are twice as many records: nobody has waited in vain.
        assert served == MEMBERS
        assert len(books.holders) >= MEMBERS
        held = dict(books.holders)
        for member in members:
            member.acknowledge([place for place, holder in held.items() if holder == member.name])
            member.ask(0)
        for member in members:
            member.acknowledge(member.answered())
            member.ask(0)
        for member in members:
            member.acknowledge(member.answered())
        wait_until(lambda: _rest(books, members[:5]), "every record is settled")
        assert settled(books, members[0].topic) == there(upstream, "t")
        assert not [error for member in members for error in member.errors]


def _rest(books: Books, members: list[Member]) -> bool:
    for member in members:
        member.acknowledge(member.poll(50))
    return len(books.settled) == PARTITIONS * RECORDS


def test_one_that_reads_a_byte_at_a_time_and_garbage(tmp_path: Path) -> None:
    books, others = Books(), Books()
    with HostileUpstream() as upstream, serving(upstream.bootstrap, tmp_path) as gateway, ExitStack() as stack:
        for name in ("t", "sound"):
            upstream.create(name)
            for first in range(0, 50, 5):
                upstream.append(name, 0, [b"%d" % number + b"x" * 20_000 for number in range(first, first + 5)])
        address = gateway.bootstrap_servers
        slow = stack.enter_context(Member(address, "slow", ["t"], books)).join()
        slow.connection._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.ask(0)
        done = threading.Event()
        read = bytearray()

        def drip() -> None:
            while not done.wait(0.05):
                read.extend(slow.connection._socket.recv(1))

        dripping = threading.Thread(target=drip)
        dripping.start()
        host, _, port = address.rpartition(":")
        for size in (1, 7, 64, 4096, 100_000):
            for _ in range(10):
                mad = stack.enter_context(socket.create_connection((host, int(port))))
                with suppress(OSError):
                    mad.sendall(os.urandom(size))
        other = stack.enter_context(Member(address, "other", ["sound"], others))
        other.join().drain(50, "others are served meanwhile")
        wait_until(lambda: len(read) > 3, "the slow one reads")
        done.set()
        dripping.join()
        # What it held is others' once it is gone.
        slow.close()
        with Member(address, "slow", ["t"], Books()) as next_one:
            next_one.join().drain(50)
            assert not next_one.errors
