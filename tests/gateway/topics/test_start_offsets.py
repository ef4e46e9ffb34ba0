"""Beginnings of share partitions, and what each leader upstream is asked for offsets of its log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway import start_offsets as module
from share_state.gateway.start_offsets import StartOffsets
from share_state.gateway.upstream.offsets import list_offsets
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.offsets import EARLIEST, LATEST, Found
from share_state.kafka.client.peers import Address, LostError, Node

FIRST, SECOND = (Node(number, Address("127.0.0.1", number)) for number in (1, 2))
#: Partition 2 is led by nobody who is known.
T = Topic("t", "id-of-t", is_internal=False, partitions=(Partition(1, 5), Partition(2, 6), Partition(-1, 7)))
U = Topic("u", "id-of-u", is_internal=False, partitions=(Partition(1, 8),))
NOW = 1_700_000_000_000
Message = dict[str, Any]
Answering = Callable[[Node, Message], Message]


def row(number: int, offset: int = -1, timestamp: int = -1, code: int = 0) -> Message:
    return {"partitionIndex": number, "errorCode": code, "timestamp": timestamp, "offset": offset}


def told(*topics: tuple[str, list[Message]]) -> Message:
    return {"topics": [{"name": name, "partitions": rows} for name, rows in topics]}


class Upstream:
    """Two brokers; what each was asked, and how it answers."""

    def __init__(self, answering: Answering) -> None:
        self.asked: list[tuple[int, Message]] = []
        self.refreshed: list[list[str]] = []
        self.topic = T
        #: Errors that the next looks at topics raise.
        self.lost: list[LostError] = []
        self._answering = answering
        self.node = {1: FIRST, 2: SECOND}.get

    @property
    def control(self) -> Upstream:
        return self

    def lane(self, name: str) -> Upstream:
        assert name == "control"
        return self

    async def connection(self, node: Node) -> Connection:
        return Connection(self, node)

    async def topics(self, names: list[str]) -> dict[str, Topic]:
        self.refreshed.append(names)
        if self.lost:
            raise self.lost.pop()
        return {self.topic.name: self.topic}

    async def answer(self, node: Node, message: Message) -> Message:
        self.asked.append((node.id, message))
        return self._answering(node, message)


class Connection:
    """To one of them."""

    def __init__(self, upstream: Upstream, node: Node) -> None:
        self._upstream = upstream
        self._node = node

    async def request(self, api_key: int, message: Message) -> Message:
        assert api_key == 2
        return await self._upstream.answer(self._node, message)


def listed(upstream: Upstream, asked: list[tuple[Topic, int, int]], **options: Any) -> dict[tuple[str, int], Found]:
    return asyncio.run(list_offsets(cast("Any", upstream), asked, **options))


def question(isolation: int, *topics: tuple[str, list[tuple[int, int, int]]]) -> Message:
    """Question to a broker: partition, epoch and timestamp of each row."""
    names = ("partitionIndex", "currentLeaderEpoch", "timestamp")
    rows = [{"name": name, "partitions": [dict(zip(names, one, strict=True)) for one in some]} for name, some in topics]
    return {"replicaId": -1, "isolationLevel": isolation, "topics": rows, "timeoutMs": 30_000}


def test_each_leader_is_asked_once_for_what_it_leads() -> None:
    def answering(node: Node, _message: Message) -> Message:
        if node is SECOND:
            return told(("t", [row(1, 21, 22)]))
        # Newer brokers tell the epoch; what was not asked for is passed over.
        return told(("strange", [row(0, 1)]), ("u", [row(0, 31, 32)]), ("t", [{**row(0, 11, 12), "leaderEpoch": 4}]))

    upstream = Upstream(answering)
    asked = [(T, -1, 0), (T, 3, 0), (T, 2, 0), (T, 0, LATEST), (T, 1, EARLIEST), (U, 1, 5), (U, 0, 1000)]
    assert listed(upstream, asked) == {
        ("id-of-t", -1): Found(3, -1, -1, -1),
        ("id-of-t", 3): Found(3, -1, -1, -1),
        ("id-of-t", 2): Found(5, -1, -1, -1),
        ("id-of-t", 0): Found(0, 11, 12, 4),
        ("id-of-t", 1): Found(0, 21, 22, -1),
        ("id-of-u", 1): Found(3, -1, -1, -1),
        ("id-of-u", 0): Found(0, 31, 32, -1),
    }
    assert upstream.asked == [
        (1, question(0, ("t", [(0, -1, -1)]), ("u", [(0, -1, 1000)]))),
        (2, question(0, ("t", [(1, -1, -2)]))),
    ]


def test_leaders_are_asked_in_their_epoch_and_for_what_is_committed_if_that_is_wanted() -> None:
    upstream = Upstream(lambda node, _: told(("t", [row(node.id - 1, -1, -1, 74)])))
    found = listed(upstream, [(T, 0, -1), (T, 1, -1)], isolation=1, in_epoch=True)
    assert found == {("id-of-t", 0): Found(74, -1, -1, -1), ("id-of-t", 1): Found(74, -1, -1, -1)}
    assert upstream.asked == [(1, question(1, ("t", [(0, 5, -1)]))), (2, question(1, ("t", [(1, 6, -1)])))]


def test_a_leader_that_is_lost_takes_only_its_own_partitions_with_it() -> None:
    def answering(node: Node, _message: Message) -> Message:
        if node is FIRST:
            raise LostError("broker 1", "gone", code=13, sent=True)
        return told(("t", [row(1, 21)]))

    found = listed(Upstream(answering), [(T, 0, -1), (U, 0, -1), (T, 1, -1)])
    lost = Found(13, -1, -1, -1)
    assert found == {("id-of-t", 0): lost, ("id-of-u", 0): lost, ("id-of-t", 1): Found(0, 21, -1, -1)}


class Clock:
    """Time that passes only while it is slept."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 100.0
        self.sleeps: list[float] = []
        monkeypatch.setattr(module, "wall_ms", lambda: NOW)
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.seconds))
        monkeypatch.setattr(module, "asyncio", SimpleNamespace(sleep=self.sleep))

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


def found_by(upstream: Upstream, strategy: str, partition: int = 0, isolation: int = 0) -> int | None:
    return asyncio.run(StartOffsets(cast("Any", upstream)).find(T, partition, strategy, isolation))


def timestamps(upstream: Upstream) -> list[int]:
    return [one["timestamp"] for _, message in upstream.asked for topic in message["topics"] for one in topic["partitions"]]


@pytest.mark.parametrize(
    ("strategy", "timestamp"),
    [
        ("latest", -1),
        ("earliest", -2),
        ("by_duration:PT1H", NOW - 3_600_000),
        ("by_duration:P1D", NOW - 86_400_000),
        ("by_duration:PT0S", NOW),
        # Before 1970 there are no records.
        ("by_duration:P30000D", 0),
    ],
)
@pytest.mark.parametrize("offset", [0, 1, 42])
def test_a_strategy_asks_for_a_moment(monkeypatch: pytest.MonkeyPatch, strategy: str, timestamp: int, offset: int) -> None:
    Clock(monkeypatch)
    upstream = Upstream(lambda *_: told(("t", [row(1, offset, 7)])))
    assert found_by(upstream, strategy, partition=1, isolation=1) == offset
    assert upstream.asked == [(2, question(1, ("t", [(1, -1, timestamp)])))]


def test_where_no_record_is_as_young_it_begins_with_those_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    answers = [row(0, -1), row(0, 9)]
    upstream = Upstream(lambda *_: told(("t", [answers.pop(0)])))
    assert found_by(upstream, "by_duration:PT1H", isolation=1) == 9
    assert timestamps(upstream) == [NOW - 3_600_000, -1]
    assert [message["isolationLevel"] for _, message in upstream.asked] == [1, 1]


def test_a_leader_that_has_moved_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    answers = [row(0, code=6), row(0, code=6), row(0, -1), row(0, code=3), row(0, 8)]
    upstream = Upstream(lambda *_: told(("t", [answers.pop(0)])))
    upstream.topic = Topic("t", "id-of-t", is_internal=False, partitions=(Partition(2, 9),))
    upstream.lost = [LostError("broker 1", "gone", code=13, sent=False)]
    assert found_by(upstream, "by_duration:PT1H") == 8
    # Nobody told of the new leader at first. The end of the log is an answer of its own, which may fail too.
    assert [node for node, _ in upstream.asked] == [1, 1, 2, 2, 2]
    hour_ago = NOW - 3_600_000
    assert timestamps(upstream) == [hour_ago, hour_ago, hour_ago, -1, hour_ago]
    assert upstream.refreshed == [["t"]] * 3
    assert clock.sleeps == [0.1] * 3


def test_nothing_is_found_after_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    upstream = Upstream(lambda *_: told(("t", [row(0, code=6)])))
    # A topic that upstream does not tell of any more is asked for as it was.
    upstream.topic = U
    assert found_by(upstream, "earliest") is None
    assert set(timestamps(upstream)) == {-2}
    assert {node for node, _ in upstream.asked} == {1}
    assert 10 < clock.seconds - 100 < 10.3


def test_ten_seconds_are_waited_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    answers = [row(0, code=6), row(0, code=6), row(0, 5)]

    def answering(*_: object) -> Message:
        if len(answers) == 2:
            clock.seconds = 110.0
        return told(("t", [answers.pop(0)]))

    assert found_by(Upstream(answering), "earliest") == 5
