"""The data plane: rounds of writes, what becomes of a log that fails, timers, connections that go, and a fault of ours."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest

import share_state as ss
from share_state._core import WriteRound
from share_state.errors import EnginePoisonedError, WireDecodeError
from tests.gateway.delivery.one_node import KEY, fetch, framed
from tests.gateway.delivery.one_plane import SOURCE, Bench, Written, client, given, run, turns
from tests.gateway.serving import Instead


@pytest.mark.parametrize(
    ("wrong", "code", "is_failing", "is_closed"),
    [
        (None, 0, False, False),
        (ss.FencedLeaderEpochError("overtaken"), 6, False, False),
        (ss.InvalidRequestError("no state"), -1, False, False),
        (ss.StoreError("the disk is full"), -1, True, True),
        (ss.EnginePoisonedError("a bug"), -1, True, False),
        (RuntimeError("shut down"), -1, True, False),
    ],
    ids=repr,
)
def test_a_write_that_is_refused_is_no_log_that_fails(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    wrong: Exception | None,
    code: int,
    is_failing: bool,
    is_closed: bool,
) -> None:
    def write(taken: WriteRound) -> Written:
        if isinstance(wrong, ss.ShareStateError):
            return [wrong.kafka_code or -1] * len(taken), [wrong] * len(taken)
        if wrong is not None:
            raise wrong
        return [0] * len(taken), []

    async def test(bench: Bench) -> None:
        one, plane = client(1), bench.plane
        await bench.holding(one)
        assert not plane.is_failing
        real, bench.write = bench.write, write
        row = await bench.fetch(one, 1, acknowledged=(0, 1), records=0)
        assert (row["acknowledgeErrorCode"], plane.is_failing) == (code, is_failing)
        # The next round counts. What was given out after a write that failed could never be settled.
        bench.write = real
        await bench.fetch(one, 2, acknowledged=(2, 2), records=0)
        assert not plane.is_failing
        assert bool(given(await bench.fetch(one, 3, wait_ms=100 if is_closed else 5_000))) != is_closed

    run(monkeypatch, test)
    assert caplog.messages == ([f"the store refuses writes: {wrong!r}"] if is_failing else [])


def test_what_comes_while_a_round_is_written_goes_with_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    has_begun, goes_on = threading.Event(), threading.Event()

    def write(taken: WriteRound) -> Written:
        rounds.append(len(taken))
        has_begun.set()
        assert goes_on.wait(10)
        return [0] * len(taken), []

    async def test(bench: Bench) -> None:
        bench.write = write
        clients = [client(number) for number in range(4)]
        for number, one in enumerate(clients):
            row = await bench.fetch(one, 0, wait_ms=5_000, records=2, member=f"m{number}")
            assert given(row) == [(2 * number, 2 * number + 1)]
        assert rounds == []

        def ask(number: int) -> asyncio.Task[Any]:
            acknowledged = (2 * number, 2 * number)
            asked = bench.fetch(clients[number], 1, acknowledged=acknowledged, records=0, member=f"m{number}")
            return asyncio.create_task(asked)

        # Two in one turn of the loop, and two when that round has begun.
        asked = [ask(0), ask(1)]
        await asyncio.to_thread(has_begun.wait, 10)
        asked += [ask(2), ask(3)]
        await turns()
        assert (rounds, [one.done() for one in asked]) == ([2], [False] * 4)
        # The end waits for all of them.
        closing = asyncio.create_task(bench.plane.close())
        await turns()
        assert not closing.done()
        goes_on.set()
        await closing
        assert rounds == [2, 2]
        assert [row["acknowledgeErrorCode"] for row in await asyncio.gather(*asked)] == [0] * 4
        assert (bench.executor.most, bench.executor.under_way) == (1, 0)

    run(monkeypatch, test)


@pytest.mark.parametrize("refused", [False, True])
def test_starts_that_are_to_be_shown_are_kept(monkeypatch: pytest.MonkeyPatch, refused: bool) -> None:
    async def test(bench: Bench) -> None:
        plane = bench.plane
        assert await plane.keep_start(KEY) is None
        await bench.holding(client(1))
        plane.log_start_moved(SOURCE, 3)
        plane.run()
        if refused:
            bench.write = lambda taken: ([3] * len(taken), [ss.UnknownPartitionError("gone")])
        given_up = asyncio.create_task(plane.keep_start(KEY))
        await turns(1)
        given_up.cancel()
        kept = await plane.keep_start(KEY)
        assert kept == (None if refused else ss.WriteState(0, 3, 3, 0, []))
        assert not plane.is_failing

    run(monkeypatch, test)


def test_times_are_counted_from_the_first_that_gathers(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=100.0)

    async def test(bench: Bench) -> None:
        one, plane, node = client(1), bench.plane, bench.plane.node
        counts = bench.counts
        await bench.holding(one)
        monkeypatch.setattr("share_state.gateway.data_plane.time", SimpleNamespace(monotonic=lambda: clock.now))

        def write(taken: WriteRound) -> Written:
            clock.now += 16.0
            return [0] * len(taken), []

        def settle(*about: Any, **named: Any) -> None:
            clock.now += 32.0
            node.settle(*about, **named)

        def times() -> list[float]:
            return [one.total for one in (counts.queue_times, counts.write_times, counts.settle_times)]

        bench.write = write
        plane.node = Instead(node, settle=settle)  # type: ignore[assignment]
        # An offset that is to be kept is the first; a change comes later.
        kept = asyncio.create_task(plane.keep_start(KEY))
        await turns(1)
        clock.now = 104.0
        await bench.fetch(one, 1, acknowledged=(0, 0), records=0)
        await kept
        assert times() == [4.0, 16.0, 32.0]
        # A round without a write has no times, and the next one does not begin with it.
        plane.node = Instead(node, settle=settle, has_writes=cast("Any", True))  # type: ignore[assignment]
        plane.run()
        plane.node = Instead(node, settle=settle)  # type: ignore[assignment]
        await turns()
        clock.now = 1000.0
        await bench.fetch(one, 2, acknowledged=(1, 1), records=0)
        assert times() == [4.0, 32.0, 64.0]
        assert [sum(one.buckets) for one in (counts.queue_times, counts.write_times, counts.settle_times)] == [2, 2, 2]

    run(monkeypatch, test)


def test_what_is_due_earlier_is_done_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(bench: Bench) -> None:
        await bench.holding(client(1))
        late = asyncio.create_task(bench.fetch(client(2), 0, wait_ms=20_000, member="n", partition=1))
        await turns()
        began = time.monotonic()
        # The second partition has nothing for them.
        for wait_ms in (100, 50):
            await bench.fetch(client(wait_ms), 0, wait_ms=wait_ms, member=f"n{wait_ms}", partition=1)
        assert 0.14 < time.monotonic() - began < 5
        assert not late.done()
        late.cancel()

    run(monkeypatch, test)


def test_a_request_that_is_malformed_is_raised_where_its_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(bench: Bench) -> None:
        plane = bench.plane
        with pytest.raises(WireDecodeError):
            await plane.respond(client(1), framed(78, 2, b"\0")[4:])
        # One whose answer cannot be written, at once or later.
        node, two = plane.node, client(2)
        unwritten = Instead(node, poll=lambda: ([("close", two.connection_id, None)], [], None))
        plane.node = unwritten  # type: ignore[assignment]
        with pytest.raises(RuntimeError, match="an answer cannot be written"):
            await plane.respond(two, fetch(member="n")[4:])
        plane.node = node
        plane.gone(two)
        asked = asyncio.create_task(plane.respond(two, fetch(member="n", wait_ms=5_000, partition=1)[4:]))
        await turns()
        plane.node = unwritten  # type: ignore[assignment]
        plane.run()
        with pytest.raises(RuntimeError, match="an answer cannot be written"):
            await asked
        plane.node = node

    run(monkeypatch, test)


def test_nothing_is_left_of_a_connection_that_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(bench: Bench) -> None:
        plane, node = bench.plane, bench.plane.node
        holder, waits, silent = client(1), client(2), client(3)
        await bench.holding(holder)
        # Another waits for records, and is cut off.
        asked = asyncio.create_task(plane.respond(waits, fetch(wait_ms=20_000, partition=1, member="n")[4:]))
        await turns()
        assert (node.figures()["waiting_fetches"], node.figures()["sessions"]) == (1, 2)
        asked.cancel()
        # Its answer comes before its task has noticed.
        plane._happen("send", waits.connection_id, b"too late")
        plane.gone(waits)
        await turns()
        assert (node.figures()["waiting_fetches"], node.figures()["sessions"]) == (0, 1)
        # The next one does not take its answer.
        await plane.respond(silent, fetch(member="o")[4:])
        held = node.figures()["answer_bytes"]
        assert held > 0
        # Who has asked the node for nothing has nothing of its to take, or to leave.
        plane.taken(client(4), held)
        plane.gone(client(4))
        assert node.figures()["answer_bytes"] == held
        plane._happen("send", silent.connection_id, b"for nothing")
        plane.gone(silent)
        assert node.figures()["answer_bytes"] == 0
        plane.gone(holder)
        # Its records are free, for somebody else.
        assert given(await bench.fetch(client(5), 0, wait_ms=5_000, member="p"))[0][0] == 0
        plane.gone(client(5))
        assert node.figures()["sessions"] == 0
        assert (plane._clients, plane._asked, plane._answers) == ({}, {}, {})
        # What comes late is nobody's.
        plane._happen("send", waits.connection_id, b"late")
        assert plane._answers == {}

    run(monkeypatch, test)


def fail(*_: object, **__: object) -> NoReturn:
    raise EnginePoisonedError("a bug")


@pytest.mark.parametrize(
    "method",
    [
        "opened", "feed", "poll", "poll_round", "settle", "tick", "sent", "closed", "records_read", "ring", "keep_start",
        "log_start_moved", "log_starts_told", "history_changed", "topic_deleted", "store_closed",
    ],
)  # fmt: skip
def test_a_fault_of_ours_ends_all_that_waits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    async def test(bench: Bench) -> None:
        plane, node = bench.plane, bench.plane.node
        holder, others = client(1), [client(2), client(3)]
        await bench.holding(holder)
        waiting = [
            asyncio.create_task(plane.respond(one, fetch(wait_ms=20_000, partition=1, member=f"n{one.connection_id}")[4:]))
            for one in others
        ]
        await turns()
        kept = asyncio.create_task(plane.keep_start(KEY))
        await turns(1)
        bench.write = lambda taken: ([-1] * len(taken), [ss.StoreError("full")] * len(taken))
        plane.node = Instead(node, **{method: fail})  # type: ignore[assignment]
        assert plane.wrong is None
        calls: dict[str, Callable[[], object]] = {
            "opened": lambda: asyncio.create_task(plane.respond(client(4), fetch()[4:])),
            "feed": lambda: asyncio.create_task(plane.respond(holder, fetch(1, acknowledged=(0, 0))[4:])),
            "tick": plane._fire,
            "sent": lambda: plane.taken(holder, 1),
            "closed": lambda: plane.gone(holder),
            "records_read": lambda: plane.records_read(SOURCE, 1, (0, b"", 0, 0, None)),  # type: ignore[arg-type]
            "ring": lambda: plane.ring(SOURCE),
            "keep_start": lambda: asyncio.create_task(plane.keep_start(KEY)),
            "log_start_moved": lambda: plane.log_start_moved(SOURCE, 1),
            "log_starts_told": lambda: plane.log_starts_told([(SOURCE, None)]),
            "history_changed": lambda: plane.history_changed(SOURCE),
            "topic_deleted": lambda: plane.topic_deleted(SOURCE.topic_id),
        }
        # The others come by themselves, with the round that is about to begin.
        asked = calls.get(method, plane.run)()
        for one in waiting:
            with pytest.raises(EnginePoisonedError, match="a bug"):
                await asyncio.wait_for(one, 10)
        assert await asyncio.wait_for(kept, 10) is None
        if isinstance(asked, asyncio.Task):
            found = (await asyncio.gather(asked, return_exceptions=True))[0]
            assert found is None if method == "keep_start" else isinstance(found, EnginePoisonedError)
        assert str(plane.wrong) == "a bug"
        # Nobody waits in vain from now on.
        with pytest.raises(EnginePoisonedError):
            await asyncio.wait_for(plane.respond(client(5), fetch()[4:]), 10)

    run(monkeypatch, test)
    told = [one for one in caplog.records if one.levelname == "CRITICAL"]
    assert [one.getMessage() for one in told] == ["the data plane has failed, and nothing is served any more: a bug"]
