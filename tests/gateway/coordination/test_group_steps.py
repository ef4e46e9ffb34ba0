"""The steps of heartbeats and deletions between the groups, their states and the disk; each store is a stand-in."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from share_state.errors import InvalidRequestError, StoreError
from share_state.gateway import Access
from share_state.gateway import groups as module
from share_state.gateway.groups import Groups
from share_state.gateway.requests import Client
from share_state.gateway.slices import Slices
from share_state.gateway.upstream.topics import Topic
from share_state.kafka.client.peers import Address
from share_state.types import SharePartitionKey
from tests.gateway.coordination.group_stores import Stores

NOW, WALL = 5_000, 1_700_000_000_000
CLIENT = Client(1, "10.0.0.9", Address("h", 1), Access(), client_id="c", software="s 1")
NO_BEAT = {
    "errorCode": 15,
    "errorMessage": None,
    "memberId": None,
    "memberEpoch": 0,
    "heartbeatIntervalMs": 0,
    "assignment": None,
}


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> Stores:
    monkeypatch.setattr(module, "lock_ms", lambda: NOW)
    monkeypatch.setattr(module, "wall_ms", lambda: WALL)
    return Stores()


def run(stores: Stores, test: Callable[[Groups], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        await test(stores.groups())

    with stores.executor:
        asyncio.run(whole())
    # Nothing waits for a disk on the loop's thread, nor where the loop's own work is done.
    assert all(name.startswith("disk") for name in stores.threads)


def beat(epoch: int, topics: list[str] | None = None) -> dict[str, Any]:
    return {"groupId": "g", "memberId": "m", "memberEpoch": epoch, "rackId": "r", "subscribedTopicNames": topics}


def failing(groups: Groups) -> bool:
    return groups.is_failing


def tasks(groups: Groups) -> int:
    return len(groups._tasks)


def has_timer(groups: Groups) -> bool:
    return groups._timer is not None


def texts(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "share_state.gateway"]


def test_what_is_decided_is_waited_for_once(stores: Stores) -> None:
    async def test(groups: Groups) -> None:
        assert not failing(groups)
        stores.durable.add(2)
        for ticket in (0, 2):
            await groups.durable(ticket)
        assert stores.calls == []
        await groups.durable(3)
        assert (stores.calls, failing(groups)) == ([("wait", 3)], False)
        stores.lost.add(4)
        with pytest.raises(StoreError):
            await groups.durable(4)
        assert failing(groups)
        # Nothing was tried.
        await groups.durable(0)
        assert failing(groups)
        await groups.durable(5)
        assert not failing(groups)

    run(stores, test)


def test_a_group_has_one_turn_at_a_time_as_long_as_somebody_waits(stores: Stores) -> None:
    async def test(groups: Groups) -> None:
        turn = groups.turn("a")
        assert groups.turn("a") is turn
        assert groups.turn("b") is not turn
        del turn
        gc.collect()
        assert dict(groups._turns) == {}

    run(stores, test)


def test_a_heartbeat_initialises_what_it_assigns(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    async def test(groups: Groups) -> None:
        stores.topics["known"] = Topic("known", "t", is_internal=False, partitions=())
        stores.wanted = [("t", 0, 4, -1), ("t", 1, 5, 9), ("u", 2, 6, -1), ("u", 3, 6, -1)]
        stores.outcomes = [InvalidRequestError("no", kafka_code=87), None, StoreError("no"), None]
        answer = await groups.heartbeat(CLIENT, 1, beat(2, ["known", "new"]))
        assert answer == {
            "errorCode": 0,
            "errorMessage": None,
            "memberId": "m",
            "memberEpoch": 3,
            "heartbeatIntervalMs": 500,
            "assignment": {"topicPartitions": [{"topicId": "t", "partitions": [1]}]},
        }

    run(stores, test)
    asked = {"group": "g", "member": "m", "member_epoch": 2, "topics": ["known", "new"]}
    requests = [
        (SharePartitionKey("g", "t", 0), 4, -1),
        (SharePartitionKey("g", "t", 1), 5, 9),
        (SharePartitionKey("g", "u", 2), 6, -1),
        (SharePartitionKey("g", "u", 3), 6, -1),
    ]
    heard = {
        **asked,
        "rack": "r",
        "client_id": "c",
        "client_host": "/10.0.0.9",
        "now_ms": NOW,
        "wall_ms": WALL,
        "initialized": [("t", 1), ("u", 3)],
    }
    assert stores.calls == [
        ("upstream", ["new"]),
        ("to_initialize", asked),
        ("initialize", requests),
        ("heartbeat", heard),
        ("wait", 9),
    ]
    assert texts(caplog) == [
        "topics ['new'] are unknown, and upstream cannot be reached: broker 1: gone",
        "share partitions were not initialised: codes=[-1, 87] group='g'",
    ]


def test_who_leaves_initialises_nothing(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    async def test(groups: Groups) -> None:
        stores.wanted = [("t", 0, 4, -1)]
        await groups.heartbeat(CLIENT, 1, beat(-1))
        assert [name for name, _ in stores.calls] == ["heartbeat", "wait"]
        assert stores.calls[0][1]["initialized"] == []
        stores.outcomes = [None]
        await groups.heartbeat(CLIENT, 1, beat(1))
        assert stores.calls[4][1]["initialized"] == [("t", 0)]

    run(stores, test)
    assert texts(caplog) == []


def test_a_heartbeat_that_is_not_durable_was_none(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    async def test(groups: Groups) -> None:
        stores.lost.add(9)
        assert await groups.heartbeat(CLIENT, 1, beat(1)) == NO_BEAT
        assert failing(groups)

    run(stores, test)
    assert texts(caplog) == [
        f"a heartbeat is not durable: the disk is full: group='g' member='m' {CLIENT}",
    ]
    assert str(CLIENT) == "client='c' host=10.0.0.9 principal='User:ANONYMOUS' software='s 1'"


def test_groups_are_deleted_step_by_step(stores: Stores) -> None:
    async def test(groups: Groups) -> None:
        stores.outcomes = [None, None, None] * 2
        row = {"errorMessage": None, "errorCode": 0}
        answer = await groups.delete(CLIENT, 2, {"groupsNames": ["h", "g", "h"]})
        assert answer == {"results": [{"groupId": "h", **row}, {"groupId": "g", **row}]}

    run(stores, test)
    places = [("t", 0), ("t", 1), ("u", 0)]
    assert stores.calls == [
        ("begin", ("h", WALL)),
        ("begin", ("g", WALL)),
        ("wait", 7),
        ("drop", {(group, topic_id) for group in "hg" for topic_id in "tu"}),
        ("delete", [SharePartitionKey(group, *place) for group in "hg" for place in places]),
        ("finish", ("h", WALL)),
        ("finish", ("g", WALL)),
        ("wait", 8),
    ]


def test_deletions_of_the_same_groups_do_not_wait_for_each_other(stores: Stores) -> None:
    async def test(groups: Groups) -> None:
        stores.outcomes = [None, None, None] * 2
        # Each takes the turn of one group, then lets the other go on.
        groups._net.slices = Slices(-1)
        asked = (groups.delete(CLIENT, 2, {"groupsNames": names}) for names in (["g", "h"], ["h", "g"]))
        assert [[row["errorCode"] for row in answer["results"]] for answer in await asyncio.gather(*asked)] == [[0, 0]] * 2
        # One after the other, as far as they name the same.
        assert [name for name, _ in stores.calls] == ["begin", "begin", "wait", "drop", "delete", "finish", "finish", "wait"] * 2

    run(stores, test)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([None, InvalidRequestError("no", kafka_code=42), StoreError("no")], 42),
        ([StoreError("no"), None, InvalidRequestError("no", kafka_code=42)], -1),
        ([None, None, StoreError("no")], -1),
    ],
)
def test_a_group_with_states_that_cannot_be_deleted_stays(stores: Stores, outcomes: list[Any], code: int) -> None:
    async def test(groups: Groups) -> None:
        stores.outcomes = outcomes
        row = {"groupId": "g", "errorMessage": None, "errorCode": code}
        assert await groups.delete(CLIENT, 2, {"groupsNames": ["g"]}) == {"results": [row]}
        assert [name for name, _ in stores.calls] == ["begin", "wait", "drop", "delete"]

    run(stores, test)


@pytest.mark.parametrize("ticket", [7, 8])
def test_a_deletion_that_is_not_durable_is_none(stores: Stores, caplog: pytest.LogCaptureFixture, ticket: int) -> None:
    async def test(groups: Groups) -> None:
        stores.lost.add(ticket)
        answer = await groups.delete(CLIENT, 2, {"groupsNames": ["g"]})
        assert answer == {"results": [{"groupId": "g", "errorMessage": None, "errorCode": 15}]}
        assert stores.calls[-1] == ("wait", ticket)

    run(stores, test)
    assert texts(caplog) == ["groups were not deleted: the disk is full: group='g' groups=1"]


def test_topics_that_are_gone_are_forgotten_everywhere(stores: Stores) -> None:
    async def test(groups: Groups) -> None:
        await groups.topics_deleted(["t", "u"])

    run(stores, test)
    assert stores.calls == [
        ("drop topic", "t"),
        ("drop topic", "u"),
        ("topics", (["t", "u"], WALL)),
        ("wait", 6),
        ("forget", ["t", "u"]),
    ]


def test_time_is_counted_until_the_next_session_ends(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(groups: Groups) -> None:
        delays: list[float] = []
        loop = asyncio.get_running_loop()
        later = loop.call_later

        def call_later(delay: float, work: Callable[[], None]) -> asyncio.TimerHandle:
            delays.append(delay)
            return later(3600, work)

        monkeypatch.setattr(loop, "call_later", call_later)
        groups.start()
        assert (delays, has_timer(groups)) == ([], False)
        timers = []
        for deadline in (NOW + 2500, NOW, NOW - 1):
            stores.deadline = deadline
            groups.start()
            timers.append(groups._timer)
        assert delays == [2.5, 0, 0]
        assert [timer is not None and timer.cancelled() for timer in timers] == [True, True, False]
        stores.deadline = None
        groups.start()
        assert not has_timer(groups)
        stores.deadline = NOW
        groups.start()
        timer = groups._timer
        await groups.close()
        assert timer is not None
        assert timer.cancelled()

    run(stores, test)


def test_members_whose_time_is_over_are_taken_out_on_the_disk_too(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "share_state.gateway")

    async def test(groups: Groups) -> None:
        stores.expired = ([("g", "m"), ("h", "n")], 0)
        groups._expire()
        assert tasks(groups) == 0
        stores.expired = ([], 4)
        stores.lost.add(4)
        groups._expire()
        assert tasks(groups) == 1
        # That this fails is known by now; it keeps nobody from closing.
        await groups.close()
        assert failing(groups)
        await asyncio.sleep(0)
        assert tasks(groups) == 0

    run(stores, test)
    assert stores.calls == [("timeout", (NOW, WALL)), ("timeout", (NOW, WALL)), ("wait", 4)]
    assert texts(caplog) == [
        "no heartbeat in time: group='g' member='m'",
        "no heartbeat in time: group='h' member='n'",
    ]
