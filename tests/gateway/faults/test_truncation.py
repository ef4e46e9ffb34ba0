"""The log is cut upstream, and other records get the offsets: what is known of them is forgotten, or kept as in Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from share_state.gateway import ShareGateway
from tests.gateway.faults.books import Books, Place
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import settled, there, values
from tests.gateway.groups import configure_group
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.upstream import OFFERED, WITHOUT_IDS
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving

pytestmark = pytest.mark.usefixtures("impatient")

Offered = Mapping[str, tuple[int, int]]
#: Means by which the gateway can see the cut while the log is as long as before.
BY_EPOCH: dict[str, Offered] = {
    "the diverging epoch of Fetch": OFFERED,
    "the diverging epoch of Fetch by name": {**OFFERED, "Metadata": (0, 9), "Fetch": (4, 12)},
    "OffsetForLeaderEpoch": WITHOUT_IDS,
}
#: The same, and without any epoch: the log is shorter.
BY_END: dict[str, Offered] = {
    **BY_EPOCH,
    "the end": {name: offered for name, offered in {**WITHOUT_IDS, "Fetch": (4, 8)}.items() if name != "OffsetForLeaderEpoch"},
}


def _has_seen(gateway: ShareGateway, member: Member, before: int) -> bool:
    return member.poll() == [] and gateway.counts.truncations > before


def fill(upstream: HostileUpstream) -> None:
    """Thirty records in three batches."""
    upstream.create("t")
    for first in (0, 10, 20):
        upstream.append("t", 0, values(first, 10))


def cut(upstream: HostileUpstream, offset: int) -> None:
    """An unclean election: the new leader has less."""
    upstream.change("t", 0, lambda log: log.truncate(offset))
    upstream.move_leader("t", 0, to=2)


@pytest.mark.parametrize("offered", BY_EPOCH.values(), ids=BY_EPOCH.keys())
def test_a_log_that_is_as_long_as_before(tmp_path: Path, offered: Offered) -> None:
    with HostileUpstream(2, offered=offered) as upstream:
        books = Books()
        fill(upstream)
        with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
            member.join().drain(30)
            topic = member.topic_id("t")
            with upstream.lock:
                cut(upstream, 20)
                upstream.append("t", 0, values(1020, 10))
            books.cut(topic, 0, 20)
            member.drain(30)
            assert settled(books, topic) == there(upstream, "t")
            assert books.deliveries[Place(topic, 0, 19)] == 1
            assert gateway.counts.truncations == 1


@pytest.mark.parametrize("offered", BY_END.values(), ids=BY_END.keys())
def test_a_log_that_is_shorter(tmp_path: Path, offered: Offered) -> None:
    with HostileUpstream(2, offered=offered) as upstream:
        books = Books()
        fill(upstream)
        with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
            member.join().drain(30)
            topic = member.topic_id("t")
            # Twice, the second time at what is new.
            for turn in (1, 2):
                before = gateway.counts.truncations
                cut(upstream, 20)
                wait_until(partial(_has_seen, gateway, member, before), "the cut is seen")
                books.cut(topic, 0, 20)
                upstream.append("t", 0, values(1000 * turn + 20, 5))
                member.drain(25)
        # And what is stored is what was in memory.
        upstream.append("t", 0, values(3025, 5))
        with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
            member.join().drain(30)
            assert settled(books, topic) == there(upstream, "t")


def test_records_that_are_held_when_the_log_is_cut(tmp_path: Path) -> None:
    with HostileUpstream(2) as upstream:
        books = Books()
        fill(upstream)
        with serving(upstream.bootstrap, tmp_path) as gateway:
            with Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
                held = member.join().poll()
                while len(held) < 30:
                    held += member.poll()
                topic = member.topic_id("t")
                # Settled below the cut and beyond it; the rest is in its hands.
                member.acknowledge([place for place in held if place.offset in {3, 4, 12, 25}])
                member.poll(0)
                with upstream.lock:
                    cut(upstream, 20)
                    upstream.append("t", 0, values(1020, 10))
                wait_until(lambda: member.poll(0) == [] and gateway.counts.truncations > 0, "the cut is seen")
            books.cut(topic, 0, 20)
            with Member(gateway.bootstrap_servers, "a", ["t"], books) as other:
                other.join().drain(30)
                assert settled(books, topic) == there(upstream, "t")
                assert [books.deliveries[Place(topic, 0, offset)] for offset in (3, 4, 12, 5)] == [1, 1, 1, 2]


def test_every_group_is_cut_once_in_memory_or_not(tmp_path: Path) -> None:
    """A cut is seen by whoever reads first; it counts for the groups of the other isolation level, and for those at rest."""
    groups = {"uncommitted": {}, "committed": {"share.isolation.level": "read_committed"}, "at rest": {}}
    with HostileUpstream(2) as upstream:
        fill(upstream)
        books = {group: Books() for group in groups}
        topic = ""
        with serving(upstream.bootstrap, tmp_path) as gateway:
            for group, configs in groups.items():
                configure_group(gateway.bootstrap_servers, group, **configs)
                with Member(gateway.bootstrap_servers, group, ["t"], books[group]) as member:
                    member.join().drain(30)
                    topic = member.topic_id("t")
        with serving(upstream.bootstrap, tmp_path) as gateway:
            with (
                Member(gateway.bootstrap_servers, "uncommitted", ["t"], books["uncommitted"]) as first_member,
                Member(gateway.bootstrap_servers, "committed", ["t"], books["committed"]) as second_member,
            ):
                upstream.append("t", 0, values(30, 10))
                # Both readers have read from the log that is about to be cut.
                first_member.join().drain(40)
                second_member.join().drain(40)
                with upstream.lock:
                    cut(upstream, 20)
                    upstream.append("t", 0, values(1020, 20))
                for group in groups:
                    books[group].cut(topic, 0, 20)
                first_member.drain(40)
                second_member.drain(40)
            with Member(gateway.bootstrap_servers, "at rest", ["t"], books["at rest"]) as third_member:
                third_member.join().drain(40)
            assert gateway.counts.truncations == 1
        for group in groups:
            assert settled(books[group], topic) == there(upstream, "t"), group
            assert [books[group].deliveries[Place(topic, 0, offset)] for offset in (0, 19)] == [1, 1], group


def test_kafkas_way_keeps_the_state(tmp_path: Path) -> None:
    with HostileUpstream(2) as upstream:
        books = Books()
        fill(upstream)
        with (
            serving(upstream.bootstrap, tmp_path, on_truncation="keep") as gateway,
            Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
        ):
            member.join().drain(30)
            topic = member.topic_id("t")
            cut(upstream, 20)
            upstream.append("t", 0, values(1020, 5))
            wait_until(lambda: member.poll() == [] and gateway.counts.truncations > 0, "the cut is seen")
            upstream.append("t", 0, values(1025, 10))
            member.drain(35)
            assert [books.values[place] for place in sorted(books.settled)] == values(0, 30) + values(1030, 5)
            assert all(books.deliveries[Place(topic, 0, offset)] == 1 for offset in range(35))
            assert not member.errors


def altered(member: Member, group: str, offset: int) -> None:
    """Set the start offset of a group without members."""
    rows = [{"topicName": "t", "partitions": [{"partitionIndex": 0, "startOffset": offset}]}]
    answer = member.connection.ask("AlterShareGroupOffsets", 0, {"groupId": group, "topics": rows})
    codes = [answer["errorCode"], *(row["errorCode"] for one in answer["responses"] for row in one["partitions"])]
    assert set(codes) == {0}


def start_of(member: Member, group: str) -> int:
    """The start offset that a group shows."""
    asked = {"groups": [{"groupId": group, "topics": [{"topicName": "t", "partitions": [0]}]}]}
    (found,) = member.connection.ask("DescribeShareGroupOffsets", 1, asked)["groups"]
    return int(found["topics"][0]["partitions"][0]["startOffset"])


@pytest.mark.parametrize(("watched", "offset"), [(False, 12), (True, 12), (True, 500)])
@pytest.mark.parametrize("offered", BY_END.values(), ids=BY_END.keys())
def test_a_start_offset_beyond_the_end_is_no_cut(tmp_path: Path, offered: Offered, offset: int, watched: bool) -> None:
    """Kafka keeps it, and delivers the records from there on once there are some."""
    with HostileUpstream(2, offered=offered) as upstream:
        upstream.create("t")
        upstream.append("t", 0, values(0, 10))
        books, others = Books(), Books()
        for turn in range(2):
            with (
                serving(upstream.bootstrap, tmp_path) as gateway,
                Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
                Member(gateway.bootstrap_servers, "other", ["t"], others) as other,
            ):
                if turn == 0:
                    if watched:
                        other.join().drain(10)
                    altered(member, "a", offset)
                member.join()
                assert member.poll() == []
                assert member.poll() == []
                if turn:
                    upstream.move_leader("t", 0, to=2)
                assert start_of(member, "a") == offset
                # It holds up nobody else.
                upstream.append("t", 0, values(10 + turn, 1))
                other.join().drain(11 + turn)
                assert (gateway.counts.truncations, member.errors) == (0, [])
        with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
            member.join()
            assert member.poll() == []
            for first in range(12, 502, 70):
                upstream.append("t", 0, values(first, 70))
            member.drain(502 - offset)
            assert books.settled_values(member.topic) == values(offset, 502 - offset)
            assert gateway.counts.truncations == 0


def test_offsets_are_altered_after_a_cut(tmp_path: Path) -> None:
    with HostileUpstream(2) as upstream:
        books = Books()
        fill(upstream)
        with serving(upstream.bootstrap, tmp_path) as gateway:
            with Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
                member.join().drain(30)
                topic = member.topic_id("t")
                for _ in range(3):
                    before = gateway.counts.truncations
                    cut(upstream, 20)
                    wait_until(partial(_has_seen, gateway, member, before), "the cut is seen")
                    books.cut(topic, 0, 20)
                    upstream.append("t", 0, values(1020, 10))
                    member.drain(30)
                member.leave()
                altered(member, "a", 5)
            again = Books()
            with Member(gateway.bootstrap_servers, "a", ["t"], again) as member:
                member.join().drain(25)
                assert sorted(place.offset for place in again.settled) == list(range(5, 30))
