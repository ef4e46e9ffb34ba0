"""Calls, step by step, without sockets: when each ends, and what its error says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest

import share_state as ss
from share_state.errors import LimitExceededError
from share_state.kafka import (
    BadAnswerError,
    BrokerUnreachableError,
    CoordinatorUnavailableError,
    KafkaPersisterError,
    NotAuthorizedError,
    OutcomeUnknownError,
    PersisterClosedError,
    RetryPolicy,
    operations,
)
from share_state.kafka.call import Call
from share_state.kafka.calls import Calls
from share_state.kafka.client.apis import API_VERSIONS
from share_state.kafka.client.peers import LostError
from share_state.kafka.cluster import UnavailableError
from share_state.kafka.operations import Operation
from share_state.kafka.shown_key import shown_key
from tests.kafka.asked_brokers import BROKER
from tests.kafka.scripted import KEY, TOPIC, TestClock, run

PLACE = "broker 1 (one:9092)"
LIMIT = 440
#: As many single records as a snapshot of that size may hold.
FULL = 10


def apart(count: int, first: int = 0) -> ss.WriteState:
    return ss.WriteState(1, 4, -1, -1, [ss.StateBatch(first + 2 * n, first + 2 * n, 2, 1) for n in range(count)])


class Desk:
    """A broker that a test answers for: every request that came, and the calls in it."""

    def __init__(self, *, limit: int | None = None) -> None:
        self.clock = TestClock(hold_waits=True)
        self.sent: list[tuple[int, Callable[[Any], None]]] = []
        self.forgotten: list[ss.SharePartitionKey] = []
        self.looks_up = False
        self.found: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.sizes = SimpleNamespace(due=False, limit=limit)
        cluster = SimpleNamespace(
            known=lambda _: None if self.looks_up else BROKER,
            coordinator=self._coordinator,
            opened=lambda _: SimpleNamespace(version_of=lambda api_key: API_VERSIONS[api_key][1], send=self._send),
            forget=self.forgotten.append,
        )
        policy = RetryPolicy(attempts=2)
        self.calls = Calls(cast("Any", cluster), policy, self.clock, cast("Any", self.sizes))

    async def _coordinator(self, _: object) -> Any:
        return await asyncio.shield(self.found)

    def _send(self, api_key: int, version: int, body: bytes, decode: object, done: Callable[[Any], None]) -> None:
        assert version == API_VERSIONS[api_key][1]
        assert callable(decode)
        assert isinstance(body, bytes)
        self.sent.append((api_key, done))

    async def start(self, operation: Operation) -> tuple[Call, asyncio.Future[Any]]:
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        call = Call(operation, result)
        self.calls.start(call)
        await asyncio.sleep(0.001)
        return call, result

    async def answer(self, code: int = 0, said: str | None = None, **fields: Any) -> None:
        """Answer the last request."""
        self.sent[-1][1]([(TOPIC, 0, code, said, fields)])
        await asyncio.sleep(0.001)

    async def lose(self, reason: str = "gone") -> None:
        """Lose the last request."""
        self.sent[-1][1](LostError(PLACE, reason, code=13, sent=True))
        await asyncio.sleep(0.001)

    @property
    def api_keys(self) -> list[int]:
        return [api_key for api_key, _ in self.sent]


def play(test: Callable[[Desk], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def whole() -> None:
        desk = Desk(**options)
        await test(desk)
        desk.found.cancel()

    run(whole)


def test_a_refusal_names_everything() -> None:
    async def test(desk: Desk) -> None:
        _, result = await desk.start(operations.delete(KEY))
        await desk.answer(42, "not so")
        refused = result.exception()
        assert isinstance(refused, KafkaPersisterError)
        assert str(refused) == f"cannot delete {KEY!r}: {PLACE} answers 42 (INVALID_REQUEST): not so"
        assert (refused.kafka_code, refused.node, refused.key, refused.attempts) == (42, PLACE, shown_key(KEY), 1)
        assert refused.outcome_unknown is False
        _, result = await desk.start(operations.delete(KEY))
        await desk.answer(42)
        assert str(result.exception()).endswith(f"{PLACE} answers 42 (INVALID_REQUEST): no reason given")
        # Nothing is tried again.
        assert (desk.api_keys, desk.clock.waits, desk.forgotten) == ([86, 86], [], [])

    play(test)


def test_another_attempt_begins_with_another_look_at_the_coordinator(caplog: pytest.LogCaptureFixture) -> None:
    async def test(desk: Desk) -> None:
        _, result = await desk.start(operations.read(KEY, 4))
        await desk.answer(16, "moved")
        text = f"cannot read {KEY!r}: {PLACE} answers 16 (NOT_COORDINATOR): moved"
        assert caplog.messages == [f"{text!r}: attempt 1 of 2, next in 1.0 s"]
        assert (desk.forgotten, desk.clock.waits, result.done()) == ([KEY], [1.0], False)
        desk.clock.timers[-1].callback()
        await asyncio.sleep(0.001)
        await desk.answer(16, "moved")
        failed = result.exception()
        assert isinstance(failed, KafkaPersisterError)
        assert (str(failed), failed.attempts, desk.api_keys) == (text, 2, [84, 84])
        assert desk.forgotten == [KEY]

    play(test)


def test_what_is_closed_before_it_is_sent() -> None:
    async def test(desk: Desk) -> None:
        _, sent = await desk.start(operations.delete(KEY))
        _, waits = await desk.start(operations.delete(KEY))
        other = KEY._replace(partition=1)
        desk.looks_up = True
        _, looks = await desk.start(operations.read(other, 4))
        closing = asyncio.ensure_future(desk.calls.close())
        await asyncio.sleep(0.001)
        for result, name, key in ((waits, "delete", KEY), (looks, "read", other)):
            closed = result.exception()
            assert type(closed) is PersisterClosedError
            assert str(closed) == f"cannot {name} {key!r}: closed before it was sent"
            assert (closed.kafka_code, closed.key, closed.attempts, closed.node) == (13, shown_key(key), 0, "")
        # The answer to what was sent is waited for.
        assert (sent.done(), closing.done()) == (False, False)
        await desk.answer(topic="t")
        await closing
        assert sent.result() == {"topic": "t"}
        with pytest.raises(PersisterClosedError, match=r"^the persister is closed$") as late:
            await desk.start(operations.delete(KEY))
        assert (late.value.kafka_code, late.value.attempts) == (13, 0)

    play(test)


def test_a_write_that_waits_for_its_state_is_closed_unsent() -> None:
    async def test(desk: Desk) -> None:
        # What is not known may be too much: the state is read first.
        _, result = await desk.start(operations.write(KEY, apart(FULL)))
        assert desk.api_keys == [84]
        closing = asyncio.ensure_future(desk.calls.close())
        await asyncio.sleep(0.001)
        assert not result.done()
        await desk.answer(stateEpoch=1, startOffset=0, stateBatches=[])
        await closing
        closed = result.exception()
        assert type(closed) is PersisterClosedError
        assert str(closed) == f"cannot write {KEY!r}: closed before it was sent"
        assert (closed.kafka_code, closed.attempts, desk.api_keys) == (13, 0, [84])

    play(test, limit=LIMIT)


def test_a_state_that_is_read_for_a_write_is_no_unknown_outcome() -> None:
    async def test(desk: Desk) -> None:
        _, result = await desk.start(operations.write(KEY, apart(FULL)))
        await desk.lose()
        desk.clock.timers[-1].callback()
        await asyncio.sleep(0.001)
        assert desk.api_keys == [84, 84]
        await desk.answer(stateEpoch=1, startOffset=0, stateBatches=[])
        # The attempts of the write begin with its own.
        assert desk.api_keys == [84, 84, 85]
        await desk.lose()
        desk.clock.timers[-1].callback()
        await asyncio.sleep(0.001)
        await desk.lose()
        lost = result.exception()
        assert type(lost) is OutcomeUnknownError
        assert (str(lost), lost.attempts) == (f"cannot write {KEY!r}: {PLACE}: gone", 2)
        assert lost.outcome_unknown is True

    play(test, limit=LIMIT)


def test_what_is_written_counts_for_the_next_write() -> None:
    async def test(desk: Desk) -> None:
        _, first = await desk.start(operations.write(KEY, apart(FULL)))
        await desk.answer(stateEpoch=1, startOffset=0, stateBatches=[])
        await desk.answer()
        assert (first.result(), desk.api_keys) == ({}, [84, 85])
        _, full = await desk.start(operations.write(KEY, apart(1, first=100)))
        refused = full.exception()
        assert isinstance(refused, LimitExceededError)
        assert refused.__notes__ == [f"max.message.bytes of __share_group_state is taken for {LIMIT}"]
        assert desk.api_keys == [84, 85]
        # One that is deleted is known to be empty no more, and is read again.
        _, deleted = await desk.start(operations.delete(KEY))
        await desk.answer()
        assert deleted.result() == {}
        await desk.start(operations.write(KEY, apart(FULL)))
        assert desk.api_keys[-2:] == [86, 84]
        await desk.answer(stateEpoch=1, startOffset=0, stateBatches=[])
        await desk.answer()

    play(test, limit=LIMIT)


def test_nobody_waits_for_a_call_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def test(desk: Desk) -> None:
        call, result = await desk.start(operations.delete(KEY))
        _, after = await desk.start(operations.delete(KEY))
        result.cancel()
        desk.calls.abandon(call)
        await desk.answer(16, "moved")
        # It is not tried again, and the next one begins.
        assert desk.api_keys == [86, 86]
        await desk.answer()
        assert after.result() == {}

    play(test)
    text = f"cannot delete {KEY!r}: {PLACE} answers 16 (NOT_COORDINATOR): moved"
    assert caplog.messages == [f"a cancelled call failed: {text!r}"]


def test_a_call_that_is_answered_cannot_be_taken_back() -> None:
    async def test(desk: Desk) -> None:
        call, _ = await desk.start(operations.delete(KEY))
        await desk.answer()
        _, following = await desk.start(operations.delete(KEY))
        _, third = await desk.start(operations.delete(KEY))
        # Its share partition is that of the next call by now.
        desk.calls.abandon(call)
        await desk.answer()
        assert (following.result(), desk.api_keys) == ({}, [86] * 3)
        await desk.answer()
        assert third.result() == {}

    play(test)


def test_a_write_that_nobody_waits_for_is_not_sent_once_its_state_is_read(caplog: pytest.LogCaptureFixture) -> None:
    async def test(desk: Desk) -> None:
        call, result = await desk.start(operations.write(KEY, apart(FULL)))
        result.cancel()
        desk.calls.abandon(call)
        closing = asyncio.ensure_future(desk.calls.close())
        await desk.answer(stateEpoch=1, startOffset=0, stateBatches=[])
        await closing
        assert desk.api_keys == [84]

    play(test, limit=LIMIT)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("failure", "kind", "text", "code", "attempts"),
    [
        (LostError("a:1, b:2", "deaf", code=13, sent=False), BrokerUnreachableError, "a:1, b:2: deaf", 13, 2),
        (LostError("a:1, b:2", "odd", code=-1, sent=False, retriable=False), BadAnswerError, "a:1, b:2: odd", -1, 1),
        (UnavailableError("wait", code=15, node=BROKER), CoordinatorUnavailableError, "wait", 15, 2),
        (NotAuthorizedError("no", kafka_code=31, node="b:2"), NotAuthorizedError, "no", 31, 1),
    ],
    ids=["nobody answers", "no Kafka", "there is none", "refused"],
)
def test_a_coordinator_that_is_not_found(
    failure: Exception, kind: type[KafkaPersisterError], text: str, code: int, attempts: int
) -> None:
    async def test(desk: Desk) -> None:
        desk.looks_up = True
        desk.found.set_exception(failure)
        desk.found.exception()
        _, result = await desk.start(operations.delete(KEY))
        for timer in desk.clock.timers:
            timer.callback()
        await asyncio.sleep(0.001)
        failed = result.exception()
        assert isinstance(failed, kind)
        assert (str(failed), failed.kafka_code, failed.attempts) == (f"cannot delete {KEY!r}: {text}", code, attempts)
        assert (failed.key, failed.outcome_unknown, desk.sent) == (shown_key(KEY), False, [])

    play(test)


@pytest.mark.parametrize("is_due", [False, True], ids=["its coordinator", "the limit"])
def test_a_bug_in_what_a_call_asks_for_is_the_end_of_the_call(is_due: bool) -> None:
    async def test(desk: Desk) -> None:
        desk.looks_up = True
        desk.sizes.due = is_due
        _, result = await desk.start(operations.write(KEY, apart(1)))
        _, after = await desk.start(operations.write(KEY, apart(1)))
        desk.found.set_exception(KeyError("coordinators"))
        await asyncio.sleep(0.001)
        assert [type(one.exception()) for one in (result, after)] == [KeyError, KeyError]
        assert desk.sent == []

    play(test)
