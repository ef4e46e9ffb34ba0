"""The persister for threads, with a stand-in for its client: what it is made with, and how calls end that are interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest

from share_state.kafka import KafkaPersister, PersisterClosedError, RetryPolicy
from share_state.kafka import blocking as module
from share_state.kafka.blocking import _Answer
from share_state.kafka.call import Call
from tests.kafka.scripted import KEY, TestClock


class Client:
    """Stands for the client; it is its own `calls`."""

    def __init__(self, bootstrap: object, **options: object) -> None:
        self.made = (bootstrap, options)
        self.calls = self
        self.started: list[Call] = []
        self.abandoned: list[Call] = []
        self.ends: list[str] = []

    def start(self, call: Call) -> None:
        self.started.append(call)
        call.result.set_result({})

    def abandon(self, call: Call) -> None:
        self.abandoned.append(call)

    async def topic_ids(self, names: list[str]) -> dict[str, str]:
        if names == ["cancelled"]:
            raise asyncio.CancelledError
        try:
            await asyncio.Event().wait()
        finally:
            self.ends.append("topic_ids")
        return {}

    async def close(self) -> None:
        self.ends.append("close")


@pytest.fixture
def persister(monkeypatch: pytest.MonkeyPatch) -> Iterator[KafkaPersister]:
    monkeypatch.setattr(module, "PersisterClient", Client)
    with KafkaPersister("a:1") as made:
        yield made


def client_of(persister: KafkaPersister) -> Client:
    return cast("Client", persister._client)


def test_a_client_is_made_with_what_is_given(persister: KafkaPersister) -> None:
    nothing = {"security": None, "retry": None, "clock": None, "max_message_bytes": None}
    usual: dict[str, Any] = {**nothing, "client_id": "share-state", "connect_timeout": 10.0, "request_timeout": 30.0}
    assert client_of(persister).made == ("a:1", usual)
    assert (persister._thread.name, persister._thread.daemon) == ("share-state-kafka", True)
    given: dict[str, Any] = {
        "security": object(),
        "client_id": "me",
        "connect_timeout": 1.0,
        "request_timeout": 2.0,
        "retry": RetryPolicy(attempts=2),
        "clock": TestClock(),
        "max_message_bytes": 9,
    }
    with KafkaPersister(["b:2", "c:3"], **given) as other:
        assert client_of(other).made == (["b:2", "c:3"], given)


def test_each_call_is_handed_on(persister: KafkaPersister) -> None:
    for _ in range(3):
        persister.delete_state(KEY)
    assert [call.operation.name for call in client_of(persister).started] == ["delete"] * 3
    assert client_of(persister).abandoned == []


def test_a_call_that_is_cancelled_on_the_loop_was_closed(persister: KafkaPersister) -> None:
    with pytest.raises(PersisterClosedError) as closed:
        persister.topic_ids(["cancelled"])
    assert (str(closed.value), closed.value.kafka_code) == ("the persister was closed", 13)


@pytest.mark.parametrize("is_closed", [False, True])
def test_an_interrupted_call_is_given_up(persister: KafkaPersister, monkeypatch: pytest.MonkeyPatch, is_closed: bool) -> None:
    def interrupted(answer: _Answer) -> dict[str, Any]:
        answer._ready.release()
        answer._ready = cast("Any", Interrupted(persister if is_closed else None))
        return original(answer)

    original = _Answer.wait
    monkeypatch.setattr(_Answer, "wait", interrupted)
    # The answer comes in vain.
    monkeypatch.setattr(client_of(persister), "start", client_of(persister).started.append)
    with pytest.raises(KeyboardInterrupt):
        persister.delete_state(KEY)
    persister.close()
    (call,) = client_of(persister).started
    assert call.result.done()
    assert client_of(persister).abandoned == ([] if is_closed else [call])


class Interrupted:
    """A lock whose wait is interrupted, perhaps after the persister was closed."""

    def __init__(self, closes: KafkaPersister | None) -> None:
        self.closes = closes

    def acquire(self) -> None:
        if self.closes is not None:
            self.closes.close()
        raise KeyboardInterrupt


def test_a_call_that_nobody_waits_for_yet_is_not_given_up() -> None:
    answer = _Answer()
    assert not answer.done()
    answer.set_result({"a": 1})
    assert (answer.wait(), answer.done()) == ({"a": 1}, False)


def test_closing_waits_for_what_is_in_progress_and_takes_its_end(persister: KafkaPersister) -> None:
    ends = client_of(persister).ends

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            ends.append("stubborn")
            raise

    async def begin() -> asyncio.Task[None]:
        task = asyncio.ensure_future(stubborn())
        asyncio.get_running_loop().call_soon(lambda: asyncio.get_running_loop().call_soon(task.cancel))
        return task

    task = asyncio.run_coroutine_threadsafe(begin(), persister._loop).result()
    persister.close()
    assert sorted(ends) == ["close", "stubborn"]
    assert task.cancelled()
