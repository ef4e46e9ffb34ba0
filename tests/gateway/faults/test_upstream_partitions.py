"""Answers of upstream about partitions: errors, garbage for batches, leaders that move, logs that lose their beginning."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from share_state.gateway import ShareGateway
from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import FEW, all_settled, settled, there, values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving
from tests.gateway.wire.batches import LENGTH_FROM, headers

pytestmark = pytest.mark.usefixtures("impatient")

#: Codes that a broker may give for a partition, and codes that nobody has heard of.
CODES = (-1, 2, 3, 5, 6, 9, 29, 30, 56, 58, 74, 75, 76, 78, 100, 103, 109, 1, 999)


def test_codes_of_partitions(upstream: HostileUpstream, tmp_path: Path) -> None:
    upstream.create("t", len(CODES) + 1)
    upstream.create("sound")
    books, others = Books(), Books()
    for number in range(len(CODES) + 1):
        upstream.move_leader("t", number, to=1)
        upstream.append("t", number, values(0, 5))
    upstream.move_leader("sound", 0, to=2)
    upstream.append("sound", 0, values(0, 5))
    with (
        serving(upstream.bootstrap, tmp_path) as gateway,
        Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
        Member(gateway.bootstrap_servers, "b", ["sound"], others) as other,
    ):
        member.join().drain(5 * (len(CODES) + 1))
        for number, code in enumerate(CODES):
            upstream.faults.codes["t", number] = code
            upstream.append("t", number, values(5, 5))
        asked = len(upstream.requests("Fetch"))
        for _ in range(2):
            assert not member.poll()
        assert asked < len(upstream.requests("Fetch")) < asked + FEW * len(CODES)
        upstream.append("t", len(CODES), values(5, 5))
        member.drain(5 * (len(CODES) + 2), "the partition without an error is served")
        other.join().drain(5, "other groups are served")
        upstream.faults.clear()
        member.drain(10 * (len(CODES) + 1))
        assert settled(books, member.topic_id("t")) == there(upstream, "t")
        assert set(member.errors) <= {-1}


@pytest.mark.parametrize("code", [-1, 56, 70, 71, 106])
def test_a_fetch_that_fails_as_a_whole_is_not_repeated_without_a_pause(
    upstream: HostileUpstream, member: Member, books: Books, code: int
) -> None:
    upstream.append("t", 0, values(0, 5))
    member.join().drain(5)
    upstream.faults.fetch_code = code
    upstream.append("t", 0, values(5, 5))
    asked = len(upstream.requests("Fetch"))
    got = [place for _ in range(3) for place in member.poll()]
    member.acknowledge(got)
    assert len(upstream.requests("Fetch")) < asked + FEW
    upstream.faults.clear()
    member.drain(10)
    assert settled(books, member.topic_id("t")) == there(upstream, "t")


def test_many_partitions_are_read_in_a_session_which_may_be_lost(upstream: HostileUpstream, tmp_path: Path) -> None:
    count = 120
    upstream.create("t", count)
    books = Books()
    for number in range(count):
        upstream.move_leader("t", number, to=1)
        upstream.append("t", number, values(0, 1))
    some = range(0, count, 7)
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
        member.join().drain(count)
        # The broker begins again, or says that it has lost the session, each time with another code.
        for turn, code in enumerate((0, None, 70, 71, 106), 1):
            if code is None:
                upstream.restart()
            upstream.faults.fetch_code = code or 0
            for number in some:
                upstream.append("t", number, values(turn, 1))
            for _ in range(2):
                member.acknowledge(member.poll())
            upstream.faults.clear()
            member.drain(count + turn * len(some))
        assert settled(books, member.topic) == there(upstream, "t")
    # A session is opened with twenty or more, and after that only what has changed is said.
    in_session = [one.message["topics"] for one in upstream.requests("Fetch") if one.message["sessionEpoch"] > 0]
    assert min(sum(len(topic["partitions"]) for topic in topics) for topics in in_session) < 20


def test_a_broker_that_throttles_is_left_alone(upstream: HostileUpstream, member: Member) -> None:
    upstream.append("t", 0, values(0, 5))
    member.join().drain(5)
    upstream.faults.throttle_ms = 300
    asked, began = len(upstream.requests("Fetch")), time.monotonic()
    for number in range(5, 50):
        upstream.append("t", 0, values(number, 1))
        member.acknowledge(member.poll(20))
    # Each new record would end a Fetch that waits: there is one in the time that the broker wants, and two at the edges.
    assert len(upstream.requests("Fetch")) - asked <= (time.monotonic() - began) / 0.3 + 2
    upstream.faults.clear()
    member.drain(50)


def _at(position: int, data: bytes) -> Callable[[bytes], bytes]:
    return lambda batches: batches[:position] + data + batches[position + len(data) :]


def _swapped(batches: bytes) -> bytes:
    first = next(headers(batches))
    size = LENGTH_FROM + first.length
    return batches[size:] + batches[:size]


#: Two batches of ten and five records, spoilt.
GARBAGE: dict[str, Callable[[bytes], bytes]] = {
    "random": lambda batches: bytes(range(7, 7 + 200)) + batches,
    "a negative length": _at(8, struct.pack(">i", -1)),
    "a length of nothing": _at(8, struct.pack(">i", 0)),
    "another format": _at(16, b"\1"),
    "a negative base offset": _at(0, struct.pack(">q", -9)),
    "the last base offset of all": _at(0, struct.pack(">q", (1 << 63) - 1)),
    "a negative last offset": _at(23, struct.pack(">i", -1)),
    "offsets out of order": _swapped,
    "a batch twice": lambda batches: batches + batches,
    "half a batch": lambda batches: batches[:70],
    "half a header": lambda batches: batches[:11],
    "zeros": lambda batches: bytes(len(batches)),
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_in_place_of_batches(
    upstream: HostileUpstream, member: Member, books: Books, garbage: Callable[[bytes], bytes]
) -> None:
    upstream.append("t", 0, values(0, 10))
    upstream.append("t", 0, values(10, 5))
    upstream.faults.records = lambda _, records: garbage(records) if records else records
    member.join()
    for _ in range(2):
        assert not member.poll()
    assert 0 < len(upstream.requests("Fetch")) < FEW
    upstream.faults.clear()
    member.drain(15)
    assert settled(books, member.topic_id("t")) == there(upstream, "t")


@pytest.mark.parametrize("fault", [{"tail_bytes": 30}, {"earlier_batches": 2}], ids=["a cut tail", "earlier batches"])
def test_what_a_broker_may_do_is_no_fault(
    upstream: HostileUpstream, gateway: ShareGateway, member: Member, books: Books, fault: dict[str, int]
) -> None:
    vars(upstream.faults).update(fault)
    for first in range(0, 50, 10):
        upstream.append("t", 0, values(first, 10))
        member.join().drain(first + 10)
    assert settled(books, member.topic_id("t")) == there(upstream, "t")
    assert not gateway.counts.upstream_errors


def test_a_wrong_checksum_is_passed_on_as_a_broker_does(upstream: HostileUpstream, member: Member) -> None:
    upstream.faults.records = lambda _, records: _at(17, b"\0\0\0\0")(records) if records else records
    upstream.append("t", 0, values(0, 3))
    # Consumers compute it, and release or reject what does not match.
    member.join().drain(3)


def test_the_log_loses_its_beginning(upstream: HostileUpstream, member: Member, books: Books) -> None:
    for first in range(0, 50, 10):
        upstream.append("t", 0, values(first, 10))
    held = member.join().poll(most=5)
    assert [place.offset for place in held][:5] == [0, 1, 2, 3, 4]
    # What it holds is gone upstream, and what nobody has had yet too.
    upstream.change("t", 0, lambda log: log.delete_below(35))
    member.acknowledge(held)
    member.drain(len(held) + 15 if len(held) < 35 else 50)
    offsets = {place.offset for place in books.settled}
    assert offsets >= set(range(35, 50))
    upstream.change("t", 0, lambda log: log.delete_below(50))
    upstream.append("t", 0, values(50, 10))
    wait_until(lambda: all_settled(books, len(offsets) + 10, member), "what comes after it is there")


def test_holes_and_partitions_that_come(upstream: HostileUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("share_state.gateway.gateway._REFRESH", 0.1)
    upstream.create("t")
    books = Books()
    for first in range(0, 50, 10):
        upstream.append("t", 0, values(first, 10))
    with upstream.lock:
        for base in (0, 20, 40):
            upstream.topics["t"].partitions[0].log.remove(base)
    upstream.append("t", 0, [])
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
        member.join().drain(20)
        upstream.grow("t", 3)
        upstream.append("t", 2, values(0, 10))

        def grown() -> bool:
            with Member(gateway.bootstrap_servers, "a", ["t"], books) as late:
                late.join()
                return (late.topic_id("t"), 2) in late.places

        wait_until(grown, "the new partitions are known")
        with Member(gateway.bootstrap_servers, "a", ["t"], books) as late:
            late.join().drain(30)
            assert settled(books, late.topic_id("t")) == there(upstream, "t")


def test_an_error_comes_without_records(
    upstream: HostileUpstream, gateway: ShareGateway, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("share_state.gateway.gateway._UNAVAILABLE", 0.0)
    for first in range(0, 20, 5):
        upstream.append("t", 0, values(first, 5))
    held = member.join().poll(20_000, most=5)
    (reader,) = gateway._readers.all()
    wait_until(lambda: reader.tail == 20, "everything is read")
    upstream.faults.codes["t", 0] = -1
    wait_until(lambda: reader.failing_since is not None, "upstream fails")
    # A client drops the records of a partition that has an error: what is at hand comes without one.
    while len(held) < 20:
        held += member.poll(most=5)
        assert not member.errors
    wait_until(lambda: not member.poll() and member.errors == [-1], "a fetch that finds nothing is told so")
