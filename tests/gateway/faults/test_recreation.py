"""A topic is deleted and created again: the state of its groups is another topic's, and every new record comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import settled, there, values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.upstream import OFFERED, WITHOUT_IDS
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving

pytestmark = pytest.mark.usefixtures("impatient")


def with_epochs(upstream: HostileUpstream) -> None:
    """Leaders have moved: a topic that is made again has lower epochs."""
    for node in (2, 1, 2):
        upstream.move_leader("t", 0, to=node)


def vanished(upstream: HostileUpstream) -> None:
    """Deleted for so long that both brokers have said so more than once."""
    asked = len(upstream.requests("Metadata"))
    upstream.delete("t")
    wait_until(lambda: len(upstream.requests("Metadata")) > asked + 4, "brokers are asked for it")


def again(upstream: HostileUpstream, count: int) -> None:
    """Created with so many records, as quickly as if it had never been gone."""
    with upstream.lock:
        upstream.create("t")
        upstream.append("t", 0, values(1000, count))


def fewer_partitions(upstream: HostileUpstream) -> None:
    again(upstream, 40)


def shorter_and_older(upstream: HostileUpstream) -> None:
    again(upstream, 10)


def vanished_and_older(upstream: HostileUpstream) -> None:
    vanished(upstream)
    again(upstream, 40)


def vanished_and_shorter(upstream: HostileUpstream) -> None:
    vanished(upstream)
    again(upstream, 10)


SIGNS: dict[str, tuple[int, Callable[[HostileUpstream], None] | None, Callable[[HostileUpstream], None]]] = {
    "(d)": (2, None, fewer_partitions),
    "(b) and (c)": (1, with_epochs, shorter_and_older),
    "(a) and (c)": (1, with_epochs, vanished_and_older),
    "(a) and (b)": (1, None, vanished_and_shorter),
}


def drain_again(member: Member, books: Books, count: int) -> None:
    """Take what the topic that is now has, as a client does: on an unknown id it asks for metadata."""

    def look() -> bool:
        member.acknowledge(member.poll())
        if 100 in member.errors or not member.places:
            member.errors.clear()
            member.close()
            member.join()
        return len(books.settled) >= count

    wait_until(look, "every record of the new topic is settled")


@pytest.mark.parametrize("sign", SIGNS)
def test_without_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    partitions, before, recreate = SIGNS[sign]
    monkeypatch.setattr("share_state.gateway.gateway._REFRESH", 0.1)
    with HostileUpstream(2, offered=WITHOUT_IDS) as upstream:
        books = Books()
        upstream.create("t", partitions)
        if before is not None:
            before(upstream)
        upstream.append("t", 0, values(0, 20))
        with (
            serving(upstream.bootstrap, tmp_path) as gateway,
            Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
        ):
            member.join().drain(20)
            old = member.topic_id("t")
            recreate(upstream)
            wanted = len(there(upstream, "t"))
            drain_again(member, books, 20 + wanted)
            new = member.topic_id("t")
            assert new != old
            assert settled(books, new) == there(upstream, "t")
            assert gateway._upstream.recreations == 1


def test_without_ids_while_the_gateway_was_down(tmp_path: Path) -> None:
    """The id that it made up and the epochs of leaders are kept over a restart."""
    with HostileUpstream(2, offered=WITHOUT_IDS) as upstream:
        books = Books()
        upstream.create("t")
        with_epochs(upstream)
        upstream.append("t", 0, values(0, 20))
        with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
            member.join().drain(20)
            old = member.topic_id("t")
        shorter_and_older(upstream)
        with serving(upstream.bootstrap, tmp_path) as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
            assert member.topic_id("t") == old
            member.join()
            drain_again(member, books, 30)
            new = member.topic_id("t")
            assert new != old
            assert settled(books, new) == there(upstream, "t")


def test_with_ids_another_id_is_another_topic(tmp_path: Path) -> None:
    with HostileUpstream(2) as upstream:
        books = Books()
        upstream.create("t")
        upstream.append("t", 0, values(0, 20))
        with (
            serving(upstream.bootstrap, tmp_path) as gateway,
            Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
        ):
            member.join().drain(20)
            old = member.topic_id("t")
            again(upstream, 30)
            drain_again(member, books, 50)
            assert settled(books, member.topic_id("t")) == there(upstream, "t")
            assert member.topic_id("t") != old


@pytest.mark.parametrize("offered", [OFFERED, WITHOUT_IDS], ids=["with ids", "without"])
def test_a_topic_that_brokers_have_forgotten_for_a_while_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: dict[str, tuple[int, int]]
) -> None:
    monkeypatch.setattr("share_state.gateway.gateway._REFRESH", 0.1)
    with HostileUpstream(2, offered=offered) as upstream:
        books = Books()
        upstream.create("t")
        upstream.append("t", 0, values(0, 20))
        with (
            serving(upstream.bootstrap, tmp_path) as gateway,
            Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
        ):
            member.join().drain(20)
            topic = member.topic_id("t")
            asked = len(upstream.requests("Metadata"))
            upstream.forget("t")
            wait_until(lambda: len(upstream.requests("Metadata")) > asked + 4, "brokers are asked for it")
            upstream.remember("t")
            upstream.append("t", 0, values(20, 10))
            drain_again(member, books, 30)
            assert settled(books, topic) == there(upstream, "t")
            assert member.topic_id("t") == topic
            assert set(books.deliveries.values()) == {1}
            assert gateway._upstream.recreations == 0


def test_one_broker_that_has_not_heard_of_a_topic_takes_it_from_nobody(tmp_path: Path) -> None:
    with HostileUpstream(2) as upstream:
        books = Books()
        upstream.create("t")
        upstream.move_leader("t", 0, to=2)
        upstream.append("t", 0, values(0, 20))
        with (
            serving(upstream.bootstrap, tmp_path) as gateway,
            Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
        ):
            member.join().drain(20)
            upstream.forget("t", 1)
            upstream.drop_connections(2)
            upstream.append("t", 0, values(20, 10))
            member.drain(30)
            assert not member.errors
