"""Answers of upstream about partitions: errors, garbage for batches, leaders that move, logs that lose their beginning."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import settled, there, values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.upstream import OFFERED, WITHOUT_IDS
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving
from tests.gateway.wire.batches import LENGTH_FROM, headers

pytestmark = pytest.mark.usefixtures("impatient")

#: Fetches of one broker while a member waits twice for 100 ms: one that asks again without a pause sends thousands.
FEW = 40
#: Codes that a broker may give for a partition, and codes that nobody has heard of.
CODES = (-1, 2, 3, 5, 6, 9, 29, 30, 56, 58, 74, 75, 76, 78, 100, 103, 109, 1, 999)


@pytest.fixture
def upstream() -> Iterator[HostileUpstream]:
    with HostileUpstream(brokers=2) as made:
        yield made


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


@pytest.mark.parametrize("code", [-1, 56, 70, 106])
def test_a_fetch_that_fails_as_a_whole_is_not_repeated_without_a_pause(
    upstream: HostileUpstream, tmp_path: Path, code: int
) -> None:
    upstream.create("t")
    books = Books()
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
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
def test_garbage_in_place_of_batches(upstream: HostileUpstream, tmp_path: Path, garbage: Callable[[bytes], bytes]) -> None:
    upstream.create("t")
    books = Books()
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
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


def test_a_wrong_checksum_is_passed_on_as_a_broker_does(upstream: HostileUpstream, tmp_path: Path) -> None:
    upstream.create("t")
    books = Books()
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
        upstream.faults.records = lambda _, records: _at(17, b"\0\0\0\0")(records) if records else records
        upstream.append("t", 0, values(0, 3))
        # Consumers compute it, and release or reject what does not match.
        member.join().drain(3)


@pytest.mark.parametrize("offered", [OFFERED, WITHOUT_IDS], ids=["by id", "by name"])
def test_leaders_move(tmp_path: Path, offered: Mapping[str, tuple[int, int]]) -> None:
    with HostileUpstream(2, offered=offered) as upstream:
        upstream.create("t", 2)
        first, second = Books(), Books()
        with (
            serving(upstream.bootstrap, tmp_path) as gateway,
            Member(gateway.bootstrap_servers, "a", ["t"], first) as one,
            Member(gateway.bootstrap_servers, "a", ["t"], first) as two,
            Member(gateway.bootstrap_servers, "b", ["t"], second) as other,
        ):
            for member in (one, two, other):
                member.join()
            for turn in range(6):
                for partition in (0, 1):
                    upstream.append("t", partition, values(10 * turn, 5))
                held = one.poll(most=3)
                # Its connection stays, and so do its records.
                for partition in (0, 1):
                    upstream.move_leader("t", partition, to=-1)
                    upstream.move_leader("t", partition, to=1 + (turn + partition) % 2)
                    upstream.append("t", partition, values(10 * turn + 5, 5))
                two.acknowledge(two.poll())
                one.acknowledge(held)
                other.acknowledge(other.poll())
            wait_until(lambda: _all_settled(first, 120, one, two), "every record is settled")
            other.drain(120)
            for books in (first, second):
                assert settled(books, one.topic_id("t")) == there(upstream, "t")


def _all_settled(books: Books, count: int, *members: Member) -> bool:
    for member in members:
        member.acknowledge(member.poll())
    return len(books.settled) >= count


def test_metadata_of_a_broker_that_is_behind_is_not_believed(upstream: HostileUpstream, tmp_path: Path) -> None:
    upstream.create("t")
    books = Books()
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
        upstream.append("t", 0, values(0, 5))
        member.join().drain(5)
        upstream.move_leader("t", 0, to=2)
        upstream.append("t", 0, values(5, 5))
        member.drain(10)
        # From now on Metadata tells of the leader before; the one that leads is known, and stays.
        upstream.faults.epochs_back = 1
        upstream.drop_connections(2)
        upstream.append("t", 0, values(10, 5))
        asked = len(upstream.requests("Fetch"))
        member.drain(15)
        assert {one.node for one in upstream.requests("Fetch")[asked:]} == {2}


def test_the_broker_that_no_longer_leads_says_who_does(upstream: HostileUpstream, tmp_path: Path) -> None:
    upstream.create("t")
    books = Books()
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
        upstream.append("t", 0, values(0, 5))
        member.join().drain(5)
        # Nobody else can tell: Metadata is behind.
        upstream.faults.epochs_back = 1
        upstream.move_leader("t", 0, to=2)
        upstream.append("t", 0, values(5, 5))
        member.drain(10)


def test_a_follower_is_read_when_the_leader_says_so(upstream: HostileUpstream, tmp_path: Path) -> None:
    upstream.create("t")
    books = Books()
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
        upstream.append("t", 0, values(0, 5))
        upstream.faults.preferred["t", 0] = 2
        member.join().drain(5)
        asked = upstream.requests("Fetch")
        assert [one.node for one in asked[:2]] == [1, 2]
        # It is gone: back to the leader, which reads for itself from now on.
        upstream.faults.preferred.clear()
        upstream.stop_broker(2)
        upstream.append("t", 0, values(5, 5))
        member.drain(10)
        # One that nobody knows is not looked for without a pause.
        upstream.faults.preferred["t", 0] = 77
        upstream.append("t", 0, values(10, 5))
        before = len(upstream.requests("Fetch"))
        for _ in range(2):
            member.acknowledge(member.poll())
        assert len(upstream.requests("Fetch")) < before + FEW
        upstream.faults.preferred.clear()
        member.drain(15)


def test_the_log_loses_its_beginning(upstream: HostileUpstream, tmp_path: Path) -> None:
    upstream.create("t")
    books = Books()
    for first in range(0, 50, 10):
        upstream.append("t", 0, values(first, 10))
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
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
        wait_until(lambda: _all_settled(books, len(offsets) + 10, member), "what comes after it is there")


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


def test_an_error_comes_without_records(upstream: HostileUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("share_state.gateway.share_fetch._UNAVAILABLE", 0.0)
    upstream.create("t")
    books = Books()
    for first in range(0, 20, 5):
        upstream.append("t", 0, values(first, 5))
    with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
        held = member.join().poll(20_000, most=5)
        (reader,) = gateway._readers.all()
        wait_until(lambda: reader.tail == 20, "everything is read")
        upstream.faults.codes["t", 0] = -1
        wait_until(lambda: reader.failing_since is not None, "upstream fails")
        # A client drops the records of a partition that has an error: what is at hand comes without one.
        while len(held) < 20:
            held += member.poll(most=5)
            assert not member.errors
        assert not member.poll()
        assert member.errors == [-1]
