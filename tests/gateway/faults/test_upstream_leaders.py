"""Answers of upstream about leaders: they move, Metadata is behind, a follower is to be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.gateway.faults.books import Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.upstreams import FEW, all_settled, settled, there, values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.hostile.upstream import OFFERED, WITHOUT_IDS
from tests.gateway.patience import wait_until
from tests.gateway.serving import serving

pytestmark = pytest.mark.usefixtures("impatient")


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
            wait_until(lambda: all_settled(first, 120, one, two), "every record is settled")
            other.drain(120)
            for books in (first, second):
                assert settled(books, one.topic_id("t")) == there(upstream, "t")


def test_metadata_of_a_broker_that_is_behind_is_not_believed(upstream: HostileUpstream, member: Member) -> None:
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


def test_the_broker_that_no_longer_leads_says_who_does(upstream: HostileUpstream, member: Member) -> None:
    upstream.append("t", 0, values(0, 5))
    member.join().drain(5)
    # Nobody else can tell: Metadata is behind.
    upstream.faults.epochs_back = 1
    upstream.move_leader("t", 0, to=2)
    upstream.append("t", 0, values(5, 5))
    member.drain(10)


def test_a_follower_is_read_when_the_leader_says_so(upstream: HostileUpstream, member: Member) -> None:
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


def test_a_follower_is_read_for_a_while(upstream: HostileUpstream, member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("share_state.gateway.upstream.readers._PREFERENCE", 0.2)
    upstream.faults.preferred["t", 0] = 2
    upstream.append("t", 0, values(0, 5))
    member.join().drain(5)

    def is_back() -> bool:
        member.poll(50)
        nodes = [one.node for one in upstream.requests("Fetch")]
        return 1 in nodes[nodes.index(2) :]

    # The leader is asked again where to read.
    wait_until(is_back, "the leader is asked again")
