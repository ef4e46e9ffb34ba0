"""Offsets shown to an administrator stay when a gateway is killed: nobody has to fetch before they are right again."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, cast

from tests.gateway.faults.books import RELEASE, Books
from tests.gateway.faults.member import Member
from tests.gateway.faults.test_disk_full import room
from tests.gateway.faults.upstreams import values
from tests.gateway.hostile import HostileUpstream
from tests.gateway.patience import wait_until
from tests.gateway.process import GatewayProcess
from tests.gateway.wire import Connection
from tests.gateway.wire.codec import Message


class Shown(NamedTuple):
    """An answer of DescribeShareGroupOffsets, but for the leader epoch, which may rise."""

    start_offset: int
    lag: int


def row_of(bootstrap: str) -> Message:
    with Connection(bootstrap) as connection:
        asked = {"groupId": "a", "topics": [{"topicName": "t", "partitions": [0]}]}
        (group,) = connection.ask("DescribeShareGroupOffsets", 1, {"groups": [asked]})["groups"]
    ((row,),) = ([*topic["partitions"]] for topic in group["topics"])
    return cast(Message, row)


def shown(bootstrap: str) -> Shown:
    row = row_of(bootstrap)
    assert row["errorCode"] == 0, row
    return Shown(row["startOffset"], row["lag"])


def test_the_start_offset_does_not_go_back(tmp_path: Path) -> None:
    """The start offset that is written with an acknowledgement is the one before it; what is shown must not be."""
    with HostileUpstream() as upstream:
        upstream.create("t")
        upstream.append("t", 0, values(0, 30))
        upstream.append("t", 0, values(30, 30))
        with (
            GatewayProcess(tmp_path, upstream.bootstrap, {"share.auto.offset.reset": "earliest"}) as gateway,
            Member(gateway.bootstrap, "a", ["t"], Books()) as member,
        ):
            held = member.join().poll(20_000, most=10)
            assert len(held) == 30
            # A hole is left: what is settled after it counts for the lag, and not for the start offset.
            member.acknowledge([place for place in held if place.offset != 20])
            member.poll(0, most=1)
            before = shown(gateway.bootstrap)
            assert before == Shown(20, 31)
            gateway.kill()
            gateway.start()
            assert shown(gateway.bootstrap) == before


def test_it_does_not_go_back_after_a_reset_either(tmp_path: Path) -> None:
    """The state that began again shows no leader epoch, though the store knows one."""
    with HostileUpstream() as upstream:
        upstream.create("t")
        upstream.append("t", 0, values(0, 30))
        upstream.append("t", 0, values(30, 30))
        with GatewayProcess(tmp_path, upstream.bootstrap, {"share.auto.offset.reset": "earliest"}) as gateway:
            with Member(gateway.bootstrap, "a", ["t"], Books()) as member:
                member.acknowledge(member.join().poll(20_000, most=10))
                member.poll(0, most=1)
                ask = member.connection.ask
                leave = {"groupId": "a", "memberId": member.name, "memberEpoch": -1, "rackId": None, "subscribedTopicNames": None}
                assert ask("ShareGroupHeartbeat", 1, leave)["errorCode"] == 0
                rows = [{"topicName": "t", "partitions": [{"partitionIndex": 0, "startOffset": 5}]}]
                assert ask("AlterShareGroupOffsets", 0, {"groupId": "a", "topics": rows})["errorCode"] == 0
            with Member(gateway.bootstrap, "a", ["t"], Books()) as member:
                held = member.join().poll(20_000, most=10)
                assert held[0].offset == 5
                member.acknowledge(held[:10])
                member.poll(0, most=1)
                before = shown(gateway.bootstrap)
                assert before == Shown(15, 45)
                gateway.kill()
                gateway.start()
                assert shown(gateway.bootstrap) == before


def test_what_runs_out_and_cannot_be_kept_is_not_shown(tmp_path: Path) -> None:
    """At the delivery limit a lock that runs out ends its records. The start offset passes them, and a crash takes that back."""
    settings = {
        "share.auto.offset.reset": "earliest",
        "group.share.record.lock.duration.ms": "1000",
        "group.share.min.record.lock.duration.ms": "1000",
        "group.share.delivery.count.limit": "2",
    }
    with HostileUpstream() as upstream:
        upstream.create("t")
        upstream.append("t", 0, values(0, 30))
        with (
            GatewayProcess(tmp_path, upstream.bootstrap, settings) as gateway,
            Member(gateway.bootstrap, "a", ["t"], Books()) as member,
        ):
            member.acknowledge(member.join().poll(20_000, most=30), RELEASE)
            # With the answer to its release it is given all of them for the last time.
            assert len(member.poll(20_000, most=30)) == 30
            assert shown(gateway.bootstrap) == Shown(0, 30)
            room(gateway, 1)
            wait_until(lambda: row_of(gateway.bootstrap)["errorCode"] != 0, "nobody knows what is kept")
            assert row_of(gateway.bootstrap)["startOffset"] == -1
            gateway.kill()
            gateway.start()
            assert shown(gateway.bootstrap) == Shown(0, 30)


def test_a_start_offset_that_moved_without_a_write_is_kept_once_it_is_shown(tmp_path: Path) -> None:
    """The log start moves: nothing was acknowledged that could have been written."""
    settings = {"share.auto.offset.reset": "earliest"}
    with HostileUpstream() as upstream, GatewayProcess(tmp_path, upstream.bootstrap, settings) as gateway:
        upstream.create("t")
        upstream.append("t", 0, values(0, 30))
        upstream.append("t", 0, values(30, 30))
        with Member(gateway.bootstrap, "a", ["t"], Books()) as member:
            assert len(member.join().poll(20_000, most=10)) == 30
            upstream.change("t", 0, lambda log: log.delete_below(40))
            wait_until(lambda: shown(gateway.bootstrap) == Shown(40, 20), "the log start is shown")
        gateway.kill()
        gateway.start()
        assert shown(gateway.bootstrap) == Shown(40, 20)
