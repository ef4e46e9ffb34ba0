"""Codes and times of ShareFetch, without a cluster: what clients are told of what goes wrong, and how long they wait."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state._core import ShareSessions
from share_state.gateway import share_fetch as module
from share_state.gateway.access import Access, Operation, Resource, Rule
from share_state.gateway.answers import acknowledge_code, acknowledge_text, fetch_code, text_of
from share_state.gateway.counts import Counts
from share_state.gateway.net import Net
from share_state.gateway.requests import Client, check_member
from share_state.gateway.share_fetch import ShareFetch
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.peers import Address
from tests.gateway.wire.codec import Message, decode

A = "AAAAAAAAQACAAAAAAAAAAQ"
TOPIC = Topic("apples", A, is_internal=False, partitions=(Partition(1, 5),) * 6)
NOW = 1_000.0


def client(*rules: Rule) -> Client:
    return Client(3, "host", Address("here", 1), Access(rules) if rules else Access(), client_id="me", software="lab 1")


class Served:
    """A share partition in memory."""

    def __init__(self, number: int, reader: SimpleNamespace, error_code: int) -> None:
        self.key = SimpleNamespace(topic_id=A, partition=number)
        self.reader = reader
        self.error_code = error_code


class World:
    """ShareFetch over share partitions that give nothing; codes by their number."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, sessions: int = 10) -> None:
        self.counts = Counts()
        self.codes: dict[int, int] = {}
        self.failing: dict[int, float | None] = {}
        self.served: dict[int, Served] = {}
        self.slept: list[float] = []
        self.waits: list[tuple[Any, int]] = []
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: NOW))
        monkeypatch.setattr(asyncio, "sleep", self._sleep)
        monkeypatch.setattr(module, "WaitingFetch", self._waiting_fetch)
        manager = SimpleNamespace(serve=self._serve, freshen=self._freshen, release=None, counts=self.counts)
        names = SimpleNamespace(of=self._names, error=lambda _client, _names, _topic, number: 29 if number == 5 else 0)
        config = SimpleNamespace(record_lock_duration_ms=15_000)
        self.fetch = ShareFetch(
            ShareSessions(sessions),
            cast("Any", manager),
            cast("Any", names),
            cast("Any", SimpleNamespace(resolved=lambda group: config if group == "g" else None)),
            max_bytes=500,
            answers=cast("Any", "room"),
            counts=self.counts,
            net=Net(self.counts),
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def _names(self, topic_ids: set[str]) -> dict[str, Topic]:
        return {topic_id: TOPIC for topic_id in topic_ids if topic_id == A}

    async def _freshen(self, served: Any) -> None:
        assert list(served)

    def _serve(self, group: str, topic: Topic, number: int) -> Served:
        assert (group, topic) == ("g", TOPIC)
        if number not in self.served:
            reader = SimpleNamespace(failing_since=self.failing.get(number))
            self.served[number] = Served(number, reader, self.codes.get(number, 0))
        return self.served[number]

    def _waiting_fetch(self, partitions: list[Any], member: str, **limits: Any) -> Any:
        async def wait(_manager: Any, max_wait_ms: int) -> dict[Any, Any]:
            self.waits.append(({"member": member, **limits}, max_wait_ms))
            return {}

        return SimpleNamespace(wait=wait, partitions=len(partitions), acquirable=[], give_up=None, failed={})

    def ask(self, version: int = 2, partitions: list[int] | None = None, **change: Any) -> Message:
        rows = [{"partitionIndex": number, "acknowledgementBatches": []} for number in partitions or []]
        asked: dict[str, Any] = {
            "groupId": "g",
            "memberId": "m",
            "shareSessionEpoch": 0,
            "maxWaitMs": 0,
            "minBytes": 1,
            "maxBytes": 0,
            "maxRecords": 9,
            "batchSize": 8,
            "topics": [{"topicId": A, "partitions": rows}],
            "forgottenTopicsData": [],
            **change,
        }
        frame = asyncio.run(self.fetch.answer(client(), version, 11, asked))
        assert (int.from_bytes(frame[:4]), int.from_bytes(frame[4:8])) == (len(frame) - 4, 11)
        return decode(78, version, frame[9:], response=True)


def codes_of(answer: Message) -> dict[int, int]:
    """The codes of the rows by partition."""
    return {row["partitionIndex"]: row["errorCode"] for one in answer["responses"] for row in one["partitions"]}


@pytest.mark.parametrize(("max_wait_ms", "seconds"), [(1_500, 1.5), (0, 0), (-1, 0), (1, 0.001), (25_000, 25), (60_000, 25)])
def test_a_session_too_many_is_refused_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, max_wait_ms: int, seconds: float
) -> None:
    world = World(monkeypatch, sessions=0)
    assert world.ask(maxWaitMs=max_wait_ms) == {
        "throttleTimeMs": 0,
        "errorCode": 133,
        "errorMessage": None,
        "acquisitionLockTimeoutMs": 0,
        "responses": [],
        "nodeEndpoints": [],
    }
    assert world.slept == [seconds]
    # Other refusals do not wait.
    assert world.ask(maxWaitMs=max_wait_ms, shareSessionEpoch=4)["errorCode"] == 122
    assert world.ask(maxWaitMs=max_wait_ms)["errorCode"] == 133
    assert (len(world.slept), world.counts.request_errors) == (2, {(78, 133): 2, (78, 122): 1})


@pytest.mark.parametrize(("version", "mode"), [(1, 0), (2, 1)])
def test_what_is_asked_of_share_partitions(monkeypatch: pytest.MonkeyPatch, version: int, mode: int) -> None:
    world = World(monkeypatch)
    changed = {"shareAcquireMode": 1} if version == 2 else {}
    assert world.ask(version, [0, 1], maxBytes=400, maxWaitMs=30_000, **changed)["errorCode"] == 0
    world.ask(version, [0], maxBytes=900, batchSize=0, minBytes=0, **changed)
    world.ask(version, [5], maxBytes=900, **changed)
    limits = {"member": "m", "max_records": 9, "mode": mode, "answers": "room"}
    first, second = ({name: value for name, value in asked.items() if name != "client"} for asked, _ in world.waits)
    assert first == {**limits, "batch_size": 8, "max_bytes": 400, "min_bytes": 1}
    assert second == {**limits, "batch_size": 1, "max_bytes": 500, "min_bytes": 0}
    assert [asked["client"].connection_id for asked, _ in world.waits] == [3, 3]
    assert [max_wait_ms for _, max_wait_ms in world.waits] == [25_000, 0]
    assert (world.counts.expired_fetches, world.counts.asked_partitions, world.fetch.waiting) == (1, {"g": 3}, 0)


def test_what_clients_are_told_of_share_partitions_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    world.codes = {0: 3, 1: 56, 2: 6, 4: 56}
    assert world.ask(partitions=[0, 1, 2, 3, 4, 5])["acquisitionLockTimeoutMs"] == 15_000
    again = world.ask(partitions=[0, 1, 2, 3, 4, 5])
    assert codes_of(again) == {0: 3, 1: -1, 4: -1, 5: 29}
    # Twice each.
    assert world.counts.hidden == {"KAFKA_STORAGE_ERROR": 4}
    assert (world.counts.fetched, world.counts.fetch_failed) == ({A: 10}, {A: 8})


def test_upstream_is_told_to_be_unavailable_after_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    # One that waits for a log that is shorter than it was is well.
    world.failing = {0: None, 1: NOW - 10, 2: NOW - 10.5, 3: None, 4: 0.0}
    assert codes_of(world.ask(partitions=[0, 1, 2, 3, 4])) == {2: -1, 4: -1}
    assert world.counts.hidden == {"upstream_unavailable": 2}


@pytest.mark.parametrize(
    ("code", "fetched", "acknowledged"),
    [(0, 0, 0), (-1, -1, -1), (3, 3, 3), (29, 29, 29), (78, 78, 78), (100, 100, 100),
     # It is loaded anew.
     (6, 0, 6), (74, 0, 74), (124, 0, 124),
     # Clients do not survive these.
     (2, -1, 2), (5, -1, 5), (14, -1, 14), (15, -1, 15), (16, -1, 16), (42, -1, 42), (56, -1, -1), (69, -1, 69), (121, -1, 121)],
)  # fmt: skip
def test_only_codes_that_clients_survive(code: int, fetched: int, acknowledged: int) -> None:
    assert (fetch_code(code), acknowledge_code(code)) == (fetched, acknowledged)


def test_texts_beside_codes() -> None:
    unexpected = "The server experienced an unexpected error when processing the request."
    assert {code: text_of(code) for code in (0, -1, 3, 15, 24, 29, 30, 42, 68, 121, 56)} == {
        0: None,
        -1: unexpected,
        3: "This server does not host this topic-partition.",
        15: "The coordinator is not available.",
        24: "The group id is invalid.",
        29: "Topic authorization failed.",
        30: "Group authorization failed.",
        42: "The request is malformed, or was sent to a server of another kind.",
        68: "The group is not empty.",
        121: "The record state is invalid. The acknowledgement of delivery could not be completed.",
        56: unexpected,
    }
    # What was refused before a share partition has seen it has no text.
    assert [acknowledge_text(code) for code in (0, 3, 29, 100)] == [None] * 4
    assert [acknowledge_text(code) for code in (-1, 42, 6)] == [unexpected, text_of(42), unexpected]


def test_clients_have_names_for_the_log_and_are_let_in_until_their_login_fails() -> None:
    one = client()
    assert str(one) == "client='me' host=host principal='User:ANONYMOUS' software='lab 1'"
    assert not one.is_refused
    for failed in (False, True):
        one.login = cast("Any", SimpleNamespace(failed=failed))
        assert one.is_refused == failed


@pytest.mark.parametrize(
    ("group", "member", "code"),
    [(None, "m", 42), ("", "m", 42), ("h", "m", 30), ("h", None, 30), ("g", None, 42), ("g", "", 42), ("g", "m" * 37, 42),
     ("g", "m" * 36, 0), ("g", "m", 0)],
)  # fmt: skip
def test_the_group_is_checked_before_the_member(group: str | None, member: str | None, code: int) -> None:
    reader = client(Rule("User:ANONYMOUS", Operation.READ, Resource.GROUP, "g", False, True))
    assert check_member(reader, group, member) == code
