"""Parts of a persister, each with stand-ins for the others: what it is made of, how it ends, and the size of a record."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import pytest

from share_state.errors import ConfigError
from share_state.kafka import (
    AsyncKafkaPersister,
    BadAnswerError,
    BrokerTooOldError,
    BrokerUnreachableError,
    KafkaPersisterError,
    PersisterClosedError,
    Plain,
    RetryPolicy,
    SecurityOptions,
)
from share_state.kafka import persister as persister_module
from share_state.kafka.client.connection import ConnectionOptions
from share_state.kafka.client.peers import Address, LostError
from share_state.kafka.clock import LoopClock
from share_state.kafka.cluster import NEEDED
from share_state.kafka.message_bytes import MessageBytes
from share_state.kafka.persister_client import PersisterClient
from tests.kafka.lines import soon
from tests.kafka.scripted import TestClock

SECURITY = SecurityOptions(sasl=Plain("alice", "secret"))
RETRY = RetryPolicy(attempts=2)


def test_a_persister_hands_on_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr(persister_module, "PersisterClient", lambda bootstrap, **given: made.append((bootstrap, given)))
    clock = TestClock()
    own = AsyncKafkaPersister("a:1")
    given = {
        "security": SECURITY,
        "client_id": "me",
        "connect_timeout": 1.0,
        "request_timeout": 2.0,
        "retry": RETRY,
        "clock": clock,
        "max_message_bytes": 3,
    }
    AsyncKafkaPersister(["b:2"], **cast("Any", given))
    usual = {
        "security": None,
        "client_id": "share-state",
        "connect_timeout": 10.0,
        "request_timeout": 30.0,
        "retry": None,
        "clock": None,
        "max_message_bytes": None,
    }
    assert made == [("a:1", usual), (["b:2"], given)]
    assert own._home._name == "AsyncKafkaPersister"


def client(**changed: Any) -> PersisterClient:
    usual: dict[str, Any] = {
        "security": None,
        "client_id": "me",
        "connect_timeout": 1.0,
        "request_timeout": 2.0,
        "retry": None,
        "clock": None,
        "max_message_bytes": None,
    }
    return PersisterClient("a:1,b:2", **usual | changed)


def test_a_client_is_made_of_these_parts() -> None:
    clock = TestClock()
    made = client(security=SECURITY, retry=RETRY, clock=clock, max_message_bytes=3)
    connections = made._cluster._connections
    assert connections._options == ConnectionOptions(SECURITY, clock, "me", 1.0, 2.0, apis=NEEDED)
    assert (connections._options.max_frame, connections._options.apis) == (104_857_600, NEEDED)
    assert [node.address for node in connections._bootstrap] == [Address("a", 1), Address("b", 2)]
    calls, size = made.calls, made._message_bytes
    assert (calls._cluster, calls._retry, calls._clock, calls._message_bytes) == (made._cluster, RETRY, clock, size)
    assert (size._cluster, size._clock, size.limit, size.due) == (made._cluster, clock, 3, False)
    assert repr(made) == "'a:1, b:2', open, requests=0"


def test_a_client_has_parts_of_its_own_where_none_are_given() -> None:
    made = client()
    options = made._cluster._connections._options
    assert options.security == SecurityOptions()
    assert isinstance(options.clock, LoopClock)
    assert made.calls._clock is made._message_bytes._clock is options.clock
    assert made.calls._retry == RetryPolicy()
    assert (made._message_bytes.limit, made._message_bytes.due) == (1_048_588, True)


class Topics:
    """Stands for a cluster."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.requests = 7
        self.ends: list[str] = []

    async def topic_ids(self, names: list[str]) -> Any:
        self.asked.append(names)
        return self._answer()

    async def topic_config(self, topic: str, name: str) -> Any:
        self.asked.append((topic, name))
        try:
            await asyncio.sleep(0)
            if not self.answers:
                await asyncio.Event().wait()
        finally:
            # Its end takes a turn of the loop too.
            await asyncio.sleep(0)
            self.ends.append("asked")
        return self._answer()

    async def close(self) -> None:
        self.ends.append("cluster")

    def _answer(self) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(("retriable", "kind"), [(True, BrokerUnreachableError), (False, BadAnswerError)])
async def test_ids_of_topics_are_given_or_why_there_are_none(retriable: bool, kind: type[KafkaPersisterError]) -> None:
    lost = LostError("host:1", "hung up", code=7, sent=True, retriable=retriable)
    made = client()
    made._cluster = topics = cast("Any", Topics({"t": "id"}, lost))
    assert (made.requests, await made.topic_ids(["t", "u"])) == (7, {"t": "id"})
    with pytest.raises(KafkaPersisterError) as raised:
        await made.topic_ids(["t"])
    error = raised.value
    assert (type(error), str(error), error.kafka_code, error.node) == (kind, "host:1: hung up", 7, "host:1")
    assert error.__cause__ is lost
    assert topics.asked == [["t", "u"], ["t"]]
    await made.close()
    assert repr(made) == "'a:1, b:2', closed, requests=7"
    with pytest.raises(PersisterClosedError):
        await made.topic_ids(["t"])
    assert len(topics.asked) == 2


async def test_a_client_ends_its_calls_first_and_its_connections_last() -> None:
    made = client()
    made._cluster = topics = cast("Any", Topics())

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        async def close(self) -> None:
            topics.ends.append(f"{self.name}, {made!r}")

    made.calls, made._message_bytes = cast("Any", Part("calls")), cast("Any", Part("size"))
    await made.close()
    shown = "'a:1, b:2', closed, requests=7"
    assert topics.ends == [f"calls, {shown}", f"size, {shown}", "cluster"]


# The size of a record.


def test_the_size_of_a_record_is_one_byte_at_least() -> None:
    for given in (0, -1):
        with pytest.raises(ConfigError) as refused:
            MessageBytes(cast("Any", None), TestClock(), given)
        error = refused.value
        assert str(error) == f"max_message_bytes is {given}; expected at least 1"
        assert (error.field, error.value, error.minimum) == ("max_message_bytes", given, 1)
    one = MessageBytes(cast("Any", None), TestClock(), 1)
    assert (one.limit, one.due) == (1, False)


def asking(*answers: Any) -> tuple[MessageBytes, Topics, TestClock]:
    topics, clock = Topics(*answers), TestClock(hold_waits=True)
    size = MessageBytes(cast("Any", topics), clock, None)
    assert (size.limit, size.due) == (1_048_588, True)
    return size, topics, clock


async def test_the_size_of_a_record_is_asked_for_again_after_ten_minutes() -> None:
    size, topics, clock = asking("1000", "2000")
    await asyncio.gather(*(soon(size.ask()) for _ in range(3)))
    assert topics.asked == [("__share_group_state", "max.message.bytes")]
    assert (size.limit, size.due, [timer.delay for timer in clock.timers]) == (1000, False, [600.0])
    clock.expire(600.0)
    assert (size.limit, size.due) == (1000, True)
    await soon(size.ask())
    assert (size.limit, size.due, len(topics.asked)) == (2000, False, 2)
    await soon(size.close())
    assert [timer.cancelled for timer in clock.timers] == [True, True]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "the cluster says None"),
        ("", "the cluster says ''"),
        ("much", "the cluster says 'much'"),
        ("²", "the cluster says '²'"),
        ("-1", "the cluster says '-1'"),
        (LostError("host:1", "hung up", code=13, sent=True), "host:1: hung up"),
    ],
)
def test_where_nobody_says_it_is_taken_for_what_it_was(answer: Any, why: str, caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        size, _, clock = asking(answer, "1000", answer)
        with caplog.at_level(logging.WARNING, "share_state.kafka"):
            for _ in range(3):
                await soon(size.ask())
        assert (size.limit, size.due, [timer.delay for timer in clock.timers]) == (1000, False, [600.0] * 3)
        await soon(size.close())

    asyncio.run(test())
    text = f"max.message.bytes of __share_group_state is not known: {why}; taken for "
    assert [record.getMessage() for record in caplog.records] == [f"{text}1048588", f"{text}1000"]


def test_a_broker_that_cannot_say_it_has_no_limit(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        size, _, _ = asking(BrokerTooOldError("old", kafka_code=35))
        await soon(size.ask())
        assert (size.limit, size.due) == (None, False)

    asyncio.run(test())
    assert caplog.records == []


async def test_asking_ends_with_the_persister() -> None:
    size, topics, clock = asking()
    waiting = asyncio.create_task(size.ask())
    for _ in range(5):
        await asyncio.sleep(0)
    await size.close()
    # Its own end is waited for, and raises nothing.
    assert topics.ends == ["asked"]
    await asyncio.gather(waiting, return_exceptions=True)
    assert (waiting.cancelled(), clock.timers) == (True, [])
