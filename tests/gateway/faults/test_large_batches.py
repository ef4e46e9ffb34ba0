"""Batches that are larger than every limit of the gateway: each is delivered, by itself if need be (KIP-74)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import Limits
from tests.gateway.faults.books import Books, Place
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import fetches_of, settled, there, values
from tests.gateway.groups import configure_group
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.faults import of
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving

#: More than a ring keeps of a partition.
LARGE = 8_500_000
BUDGET: dict[str, dict[str, Any]] = {
    "default": {},
    "answers of little": {"limits": Limits(answers=100_000)},
    "no room for any": {"limits": Limits(answers=1)},
}


def large(number: int, size: int = LARGE) -> list[bytes | None]:
    """A record of its own kind."""
    return [b"%d" % number + bytes(size)]


def take(member: Member) -> None:
    """Have the next records."""
    found: list[Place] = []
    while not found:
        found = member.poll(1000)
    member.acknowledge(found)


@pytest.mark.parametrize("options", BUDGET.values(), ids=BUDGET.keys())
def test_a_batch_of_any_size_is_delivered(tmp_path: Path, options: dict[str, Any]) -> None:
    with HostileUpstream() as upstream:
        upstream.create("t")
        for number, size in enumerate((10, LARGE, 100, 30_000_000, LARGE, LARGE, 10)):
            upstream.append("t", 0, large(number, size))
        books = Books()
        with serving(upstream.bootstrap, tmp_path, **options) as gateway:
            with Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
                member.join().drain(7)
                assert settled(books, member.topic) == there(upstream, "t")
                assert not member.errors
            # Each was read once, not again and again.
            assert gateway.counts.upstream_bytes < 100_000_000


def test_memory_of_what_was_read_is_bounded(tmp_path: Path) -> None:
    budget = 1_000_000
    with HostileUpstream() as upstream:
        upstream.create("t", 8)
        for number in range(8):
            for _ in range(3):
                upstream.append("t", number, large(number, 100_000))
        books = Books()
        served = serving(upstream.bootstrap, tmp_path, limits=Limits(rings=budget))
        with served as gateway, Member(gateway.bootstrap_servers, "a", ["t"], books) as member:
            member.join().drain(24)
            assert settled(books, member.topic) == there(upstream, "t")

            def is_bounded() -> bool:
                upstream.append("t", 0, large(0, 100_000))
                member.acknowledge(member.poll())
                return sum(held for *_, held in gateway.plane.node.rings()) <= budget

            # It is looked at whenever a sixteenth of the budget has arrived.
            wait_until(is_bounded, "what was read is forgotten")


def test_groups_at_different_places_have_large_batches(tmp_path: Path) -> None:
    groups: dict[str, dict[str, str]] = {"ahead": {}, "behind": {}, "committed": {"share.isolation.level": "read_committed"}}
    with HostileUpstream() as upstream:
        upstream.create("t")
        for number in range(4):
            upstream.append("t", 0, large(number))
        books = {group: Books() for group in groups}
        with serving(upstream.bootstrap, tmp_path) as gateway:
            address = gateway.bootstrap_servers
            for group, configs in groups.items():
                configure_group(address, group, **configs)
            with (
                Member(address, "ahead", ["t"], books["ahead"]) as ahead,
                Member(address, "behind", ["t"], books["behind"]) as behind,
                Member(address, "committed", ["t"], books["committed"]) as committed,
            ):
                take(ahead.join())
                take(ahead)
                # It wants what is no longer there; who is ahead asks in between.
                take(behind.join())
                take(ahead)
                behind.drain(4)
                ahead.drain(4)
                committed.join().drain(4)
                for group in groups:
                    assert settled(books[group], ahead.topic) == there(upstream, "t"), group
            # What nobody takes is not read on.
            assert gateway.counts.upstream_bytes < 20 * LARGE


def test_an_answer_has_one_batch_that_is_too_large_and_no_second(tmp_path: Path) -> None:
    """Clients have a limit too: librdkafka takes no answer of more than 100 MB."""
    with HostileUpstream() as upstream:
        upstream.create("t", 3)
        for partition in range(3):
            for number in range(4):
                upstream.append("t", partition, large(number, 3_000_000))
        books = Books()
        with (
            serving(upstream.bootstrap, tmp_path) as gateway,
            Member(gateway.bootstrap_servers, "a", ["t"], books) as member,
        ):
            member.join()
            taken: list[Place] = []
            while len(taken) < 12:
                found = member.poll(1000)
                assert len(found) <= 1
                taken += found
                member.acknowledge(found)
            # Everybody has a turn: no partition waits until another one is empty.
            assert {place.partition for place in taken[:8]} == {0, 1, 2}


def test_partitions_that_find_no_room_beside_large_batches_have_their_turn(tmp_path: Path) -> None:
    with HostileUpstream() as upstream:
        upstream.create("large")
        upstream.create("small")
        for number in range(6):
            upstream.append("large", 0, large(number, 17_000_000))
        upstream.append("small", 0, values(0, 10))
        large_books, small_books = Books(), Books()
        with serving(upstream.bootstrap, tmp_path) as gateway:
            address = gateway.bootstrap_servers
            with Member(address, "a", ["large"], large_books) as one, Member(address, "b", ["small"], small_books) as other:
                one.join()
                other.join()
                one.ask(5000)
                other.ask(5000)
                one.acknowledge(one.answered())
                other.acknowledge(other.answered())
                # The small ones are drained while large ones still wait.
                other.drain(10)
                assert len(large_books.settled) < 6
                one.drain(6)


def test_what_cannot_pass_is_told_and_stops_nobody_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with HostileUpstream() as upstream:
        for name in ("spoilt", "sound"):
            upstream.create(name)
            upstream.append(name, 0, values(0, 5))
        spoilt, sound = Books(), Books()
        with serving(upstream.bootstrap, tmp_path) as gateway:
            address = gateway.bootstrap_servers
            with Member(address, "a", ["spoilt"], spoilt) as one, Member(address, "b", ["sound"], sound) as other:
                one.join().drain(5)
                other.join().drain(5)
                # The frame says that it is longer than any that the gateway takes; both are read in one Fetch.
                upstream.faults.endless = fetches_of(upstream, "spoilt")
                upstream.append("spoilt", 0, values(5, 5))
                one.poll(0)
                for first in range(5, 50, 5):
                    upstream.append("sound", 0, values(first, 5))
                    one.poll(0)
                    other.drain(first + 5)
                wait_until(lambda: one.poll(0) == [] and gateway.counts.upstream_errors[2] > 0, "it is counted")
                assert "topic='spoilt'" in next(text for text in caplog.messages if "unusable batches at offset 5" in text)
                assert not [text for text in caplog.messages if "unusable" in text and "topic='sound'" in text]
                upstream.faults.endless = of()
                one.drain(10)
                assert settled(spoilt, one.topic) == there(upstream, "spoilt")
