"""``ShareGroupStore``: members, tickets, restarts, administration, and what it refuses."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from share_state import LockTime, StateStore, WallTime
from share_state.errors import ConfigError, InvalidRequestError, ShareGroupError, StoreError, UnknownPartitionError
from share_state.gateway import HeartbeatAnswer, ShareGroupStore, simple_assignment

ORDERS = "AAAAAAAAAAAAAAAAAAAAAQ"
JOBS = "00000000-0000-0000-0000-000000000002"
JOBS_BASE64 = "AAAAAAAAAAAAAAAAAAAAAg"
WALL = 1_700_000_000_000
AT_ONCE = {"group.share.assignment.interval.ms": "0"}


class Gateway:
    """A caller of the store: it initialises what is missing, lets the heartbeat in, and waits."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.store = ShareGroupStore(path, **options)
        self.store.set_topics([("orders", ORDERS, 3), ("jobs", JOBS, 1)])
        self.initialized: list[tuple[str, int, int, int]] = []

    def heartbeat(
        self,
        member: str,
        epoch: int,
        topics: list[str] | None = None,
        *,
        now: int = 0,
        wall: int = WALL,
        group: str = "g",
    ) -> HeartbeatAnswer:
        new = self.store.to_initialize(group=group, member=member, member_epoch=epoch, topics=topics)
        self.initialized += new
        answer = self.store.heartbeat(
            group=group,
            member=member,
            member_epoch=epoch,
            rack=None,
            topics=topics,
            client_id="client",
            client_host="/127.0.0.1",
            now_ms=now,
            wall_ms=wall,
            initialized=[(topic, partition) for topic, partition, _, _ in new],
        )
        self.store.wait(answer.ticket)
        return answer


def test_members_come_share_and_go_through_a_restart(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, broker_config=AT_ONCE)
    first = gateway.heartbeat("a", 0, ["orders"])
    assert (first.error_code, first.error_message, first.member_epoch) == (0, None, 1)
    assert (first.heartbeat_interval_ms, first.assignment) == (5_000, [(ORDERS, [0, 1, 2])])
    assert gateway.initialized == [(ORDERS, partition, 1, -1) for partition in range(3)]
    assert gateway.heartbeat("a", 1).assignment is None
    second = gateway.heartbeat("b", 0, ["orders", "jobs"])
    # What both could have and what only one can have is spread topic by topic.
    assert second.assignment == [(ORDERS, [2]), (JOBS_BASE64, [0])]
    assert gateway.heartbeat("a", 1).assignment == [(ORDERS, [0, 1])]
    described = gateway.store.describe("g")
    gateway.store.close()

    gateway = Gateway(tmp_path, broker_config=AT_ONCE)
    assert gateway.store.recovery()["records"] > 10
    assert gateway.store.describe("g") == described
    assert described is not None
    assert described["members"][1] == {
        "memberId": "b",
        "rackId": None,
        "memberEpoch": 2,
        "clientId": "client",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": ["jobs", "orders"],
        "assignment": [(ORDERS, [2]), (JOBS_BASE64, [0])],
    }
    assert (described["groupState"], described["groupEpoch"], described["assignmentEpoch"]) == ("Stable", 2, 2)
    # Nobody notices the restart.
    for member in ("a", "b"):
        answer = gateway.heartbeat(member, 2)
        assert (answer.error_code, answer.member_epoch, answer.assignment, answer.ticket) == (0, 2, None, 0)
    assert gateway.initialized == []
    assert gateway.heartbeat("a", -1).member_epoch == -1
    assert gateway.heartbeat("b", 2).assignment == [(ORDERS, [0, 1, 2]), (JOBS_BASE64, [0])]


def test_what_kafka_refuses_is_refused_in_its_words(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, broker_config={**AT_ONCE, "group.share.max.size": "1"})
    lost = gateway.heartbeat("a", 3)
    assert (lost.error_code, lost.error_message) == (25, "Member a is not a member of group g.")
    assert gateway.heartbeat("a", -1).error_code == 69
    assert gateway.heartbeat("a", 0).error_message == "SubscribedTopicNames must be set in first request."
    gateway.heartbeat("a", 0, ["orders"])
    fenced = gateway.heartbeat("a", 7)
    assert fenced.error_code == 110
    assert "greater member epoch (7)" in (fenced.error_message or "")
    assert (fenced.member_epoch, fenced.heartbeat_interval_ms, fenced.assignment) == (0, 0, None)
    full = gateway.heartbeat("b", 0, ["orders"])
    assert (full.error_code, full.error_message) == (81, "The share group has reached its maximum capacity of 1 members.")
    assert gateway.heartbeat("", 0, ["orders"]).error_code == 42
    assert gateway.store.to_initialize(group="g", member="b", member_epoch=0, topics=["orders"]) == []
    assert repr(fenced).startswith("HeartbeatAnswer(error_code=110, error_message='The share group member")
    assert "assignment=[('AAAA" in repr(gateway.heartbeat("a", 0, ["orders"]))


def test_sessions_end_by_the_callers_clock(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path)
    assert gateway.store.poll_timeout() is None
    gateway.heartbeat("a", 0, ["orders"], now=10)
    assert gateway.store.poll_timeout() == 45_010
    assert gateway.store.handle_timeout(now_ms=45_009, wall_ms=WALL) == ([], 0)
    gateway.store.close()

    # After a restart everybody has a full session, from the first time that the store is told the time.
    gateway = Gateway(tmp_path)
    due = gateway.store.poll_timeout()
    assert due is not None
    assert due <= 100_000
    assert gateway.store.handle_timeout(now_ms=LockTime(100_000), wall_ms=WallTime(WALL)) == ([], 0)
    assert gateway.store.poll_timeout() == 145_000
    expired, ticket = gateway.store.handle_timeout(now_ms=145_000, wall_ms=WALL)
    assert expired == [("g", "a")]
    gateway.store.wait(ticket)
    assert gateway.store.groups() == [("g", "Empty")]
    assert gateway.store.poll_timeout() is None


def test_a_group_configures_itself(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, broker_config={"group.share.min.heartbeat.interval.ms": "500"})
    own = {"share.heartbeat.interval.ms": "700", "share.auto.offset.reset": "earliest"}
    gateway.store.set_group_config("g", own)
    assert gateway.heartbeat("a", 0, ["orders"]).heartbeat_interval_ms == 700
    gateway.store.set_group_config("g", {})
    assert gateway.heartbeat("a", 1).heartbeat_interval_ms == 5_000
    with pytest.raises(ConfigError) as refused:
        gateway.store.set_group_config("g", {"share.session.timeout.ms": "0"})
    assert (refused.value.field, refused.value.value, refused.value.minimum) == ("share.session.timeout.ms", 0, 1)
    with pytest.raises(ConfigError, match=r"share\.session\.timeout\.ms is \"long\"; expected a whole number, 1 to 2147483647"):
        gateway.store.set_group_config("g", {"share.session.timeout.ms": "long"})


def test_offsets_and_groups_are_altered_and_deleted_in_two_steps(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path)
    store = gateway.store
    altered = [(ORDERS, "orders", 1)]
    assert store.begin_alter_offsets("h", altered, wall_ms=WALL) == (0, 1, 3)
    store.wait(store.finish_alter_offsets("h", altered, wall_ms=WALL))
    assert store.share_partitions("h") == [(ORDERS, "orders", [1])]
    assert store.share_partitions("nothing") is None
    gateway.heartbeat("a", 0, ["jobs"])
    assert store.begin_alter_offsets("g", altered, wall_ms=WALL)[:2] == (68, 0)
    assert store.begin_delete_group("g", wall_ms=WALL)[:2] == (68, [])
    assert store.begin_delete_offsets("g", [JOBS], wall_ms=WALL)[:2] == (68, {})
    assert store.begin_delete_offsets("nothing", [JOBS], wall_ms=WALL)[:2] == (69, {})
    assert store.begin_delete_offsets("", [JOBS], wall_ms=WALL)[0] == 24
    for group, code in (("g", 68), ("x", 69)):
        with pytest.raises(ShareGroupError) as refused:
            store.finish_delete_group(group, wall_ms=WALL)
        assert refused.value.kafka_code == code

    gateway.heartbeat("a", -1)
    code, topics, ticket = store.begin_delete_offsets("g", [ORDERS, JOBS], wall_ms=WALL)
    assert (code, topics) == (0, {ORDERS: None, JOBS_BASE64: [0]})
    store.wait(ticket)
    store.wait(store.finish_delete_offsets("g", [JOBS], wall_ms=WALL))
    assert store.share_partitions("g") == []
    code, states, _ = store.begin_delete_group("h", wall_ms=WALL)
    assert (code, states) == (0, [(ORDERS, 1)])
    store.wait(store.finish_delete_group("h", wall_ms=WALL))
    assert store.groups() == [("g", "Empty")]


def test_topics_that_are_gone_leave_their_groups(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, broker_config=AT_ONCE)
    gateway.heartbeat("a", 0, ["orders", "jobs"])
    gateway.store.set_topics([("orders", ORDERS, 3)])
    gateway.store.wait(gateway.store.topics_deleted([JOBS], wall_ms=WALL))
    assert gateway.store.share_partitions("g") == [(ORDERS, "orders", [0, 1, 2])]
    assert gateway.heartbeat("a", 1).assignment == [(ORDERS, [0, 1, 2])]
    with pytest.raises(InvalidRequestError) as refused:
        gateway.store.set_topics([("orders", ORDERS, 3), ("orders", JOBS, 1)])
    assert (refused.value.field, refused.value.value) == ("topics", "orders")
    assert gateway.heartbeat("a", 2).error_code == 0


def test_one_sync_serves_all_who_wait(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path)
    gateway.heartbeat("a", 0, ["orders"])
    before = gateway.store.counters()
    tickets = []
    for member in ("b", "c", "d"):
        answer = gateway.store.heartbeat(
            group="g", member=member, member_epoch=0, rack=None, topics=["orders"], client_id="", client_host="",
            now_ms=0, wall_ms=WALL,
        )  # fmt: skip
        tickets.append(answer.ticket)
    assert tickets == sorted(set(tickets))
    assert not gateway.store.is_durable(tickets[0])
    assert gateway.store.ticket() == tickets[-1]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(gateway.store.wait, tickets))
    assert all(gateway.store.is_durable(ticket) for ticket in tickets)
    assert gateway.store.ticket() == 0
    after = gateway.store.counters()
    assert (after["fsyncs"] - before["fsyncs"], after["batches"] - before["batches"]) == (1, 1)
    assert after["writes"] - before["writes"] == 3


def test_threads_at_one_store(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, broker_config=AT_ONCE, rewrite_bytes=4096)
    barrier = threading.Barrier(4)

    def live(number: int) -> None:
        barrier.wait()
        for turn in range(25):
            answer = gateway.heartbeat(f"m{number}", 0, ["orders"], group=f"g{turn % 2}", wall=WALL + turn)
            assert answer.error_code == 0
            assert gateway.store.is_durable(answer.ticket)
            if turn % 5 == 4:
                assert gateway.heartbeat(f"m{number}", -1, group=f"g{turn % 2}").member_epoch == -1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(live, range(4)))
    described = [gateway.store.describe(group) for group, _ in gateway.store.groups()]
    assert gateway.store.counters()["pruned_segments"] > 0
    gateway.store.close()
    with ShareGroupStore(tmp_path) as again:
        assert [again.describe(group) for group, _ in again.groups()] == described


KILLED = """
import os, sys
from share_state.gateway import ShareGroupStore
store = ShareGroupStore(sys.argv[1], rewrite_bytes=2000)
store.set_topics([("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)])
for number in range(1_000_000):
    answer = store.heartbeat(
        group="g", member=f"m{number % 7}", member_epoch=-1 if number % 14 > 6 else 0, rack=None, topics=["orders"],
        client_id="", client_host="", now_ms=0, wall_ms=number,
        initialized=[("AAAAAAAAAAAAAAAAAAAAAQ", 0)],
    )
    assert answer.error_code == 0, answer
    store.wait(answer.ticket)
    print(number, store.describe("g")["groupEpoch"], flush=True)
"""


def test_what_was_waited_for_survives_a_kill(tmp_path: Path) -> None:
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", KILLED, tmp_path], stdout=subprocess.PIPE, encoding="utf-8") as process:
            assert process.stdout is not None
            for _line in range(40):
                acknowledged = process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            acknowledged = (process.stdout.readlines() or [acknowledged])[-1]
        number, epoch = (int(word) for word in acknowledged.split())
        with ShareGroupStore(tmp_path) as store:
            described = store.describe("g")
            assert described is not None
            # What was printed is there; one verb more may be.
            assert described["groupEpoch"] in (epoch, epoch + 1), number
            for member in described["members"]:
                store.set_topics([("orders", ORDERS, 3)])
                left = store.heartbeat(
                    group="g", member=member["memberId"], member_epoch=-1, rack=None, topics=None, client_id="",
                    client_host="", now_ms=0, wall_ms=0,
                )  # fmt: skip
                assert left.error_code == 0


def test_it_stands_beside_the_state_store_and_has_one_writer(tmp_path: Path) -> None:
    with ShareGroupStore(tmp_path) as groups, StateStore(tmp_path) as states:
        assert groups.path == tmp_path / "__consumer_offsets-0"
        assert states.path == tmp_path
        with pytest.raises(StoreError):
            ShareGroupStore(tmp_path)
        with pytest.raises(TypeError):
            pickle.dumps(groups)
        assert repr(groups) == f"ShareGroupStore({str(groups.path)!r}, open, groups=0)"
    with pytest.raises(StoreError):
        groups.groups()
    groups.close()


def test_bad_arguments_are_named_and_change_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='sync is "sometimes"'):
        ShareGroupStore(tmp_path, sync="sometimes")  # type: ignore[arg-type]
    with pytest.raises(ConfigError) as refused:
        ShareGroupStore(tmp_path, broker_config={"group.share.max.size": "0"})
    assert (refused.value.field, refused.value.maximum) == ("group.share.max.size", 1_000)
    with pytest.raises(ConfigError):
        ShareGroupStore(tmp_path, sync="interval", sync_interval_ms=0)
    with pytest.raises(ConfigError, match=r"group\.share\.max\.size is \"many\"; expected a whole number, 1 to 1000"):
        ShareGroupStore(tmp_path, broker_config={"group.share.max.size": "many"})
    assert not any(tmp_path.iterdir())

    gateway = Gateway(tmp_path, broker_config={"log.dirs": "/tmp", "group.share.max.size": " 7 "})  # noqa: S108  passed over
    store = gateway.store
    good: dict[str, Any] = {
        "group": "g",
        "member": "a",
        "member_epoch": 0,
        "rack": None,
        "topics": ["orders"],
        "client_id": "",
        "client_host": "",
        "now_ms": 0,
        "wall_ms": WALL,
    }
    for wrong, kind in (
        ({"wall_ms": -1}, InvalidRequestError),
        ({"wall_ms": LockTime(1)}, TypeError),
        ({"now_ms": WallTime(1)}, TypeError),
        ({"member_epoch": True}, TypeError),
        ({"member_epoch": 2**31}, OverflowError),
        ({"topics": "orders"}, TypeError),
        ({"topics": [1]}, TypeError),
        ({"initialized": [("orders", 0)]}, ValueError),
        ({"initialized": [(ORDERS, 2**40)]}, OverflowError),
        ({"group": None}, TypeError),
    ):
        with pytest.raises(kind):
            store.heartbeat(**{**good, **wrong})
    for topics in ([("orders", "no id", 1)], [("orders", ORDERS, -1)], [("orders", ORDERS, 2**31)], [("orders", ORDERS)]):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            store.set_topics(topics)  # type: ignore[arg-type]
    assert store.groups() == []
    assert store.heartbeat(**good).member_epoch == 1


def test_an_assignment_keeps_what_members_have_and_knows_no_other_topic() -> None:
    topics = [(ORDERS, [0, 1, 2, 3])]
    members = {"a": ([ORDERS], [(ORDERS, [3, 1])]), "b": ([ORDERS], [(ORDERS, [0, 2])])}
    assert simple_assignment(members, topics) == {"a": [(ORDERS, [1, 3])], "b": [(ORDERS, [0, 2])]}
    with pytest.raises(UnknownPartitionError):
        simple_assignment({"a": ([JOBS], [])}, topics)
