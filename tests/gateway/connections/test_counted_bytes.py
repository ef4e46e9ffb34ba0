"""Bytes that are counted: of requests that wait, of requests that are answered, of answers that are not taken; at the edges."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from share_state.gateway.access import Access
from share_state.gateway.limits import AnswerBytes, Limits, WorkBytes
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address
from share_state.kafka.queued_bytes import QueuedBytes

KIB, MIB = 1 << 10, 1 << 20


def client(number: int = 1) -> Client:
    return Client(number, "", Address("", 0), Access())


class Holder:
    """A connection whose bytes are counted, and why it was cut off."""

    def __init__(self) -> None:
        self.why: list[str] = []

    def cut_off(self, why: str) -> None:
        self.why.append(why)


def test_limits_that_nobody_sets() -> None:
    assert Limits() == Limits(
        frame=8_388_608,
        other_frame=1_048_576,
        elements=25_000,
        relayed_frame=104_857_600,
        queued=67_108_864,
        work=8_388_608,
        answers=268_435_456,
        answer=16_777_216,
        subscription=65_536,
        slice=0.005,
        connections=4000,
        address_connections=2000,
        principal_connections=2000,
        idle=600.0,
        frame_time=30.0,
        answer_time=60.0,
        login_time=20.0,
    )


def test_who_has_sent_most_goes_until_the_rest_fits() -> None:
    queued = QueuedBytes(100)
    a, b, c = Holder(), Holder(), Holder()
    queued.add(a, 20)
    queued.add(a, 30)
    queued.add(b, 40)
    queued.add(c, 200)
    assert (a.why, b.why) == ([], [])
    assert c.why == ["200 bytes of its requests wait, and those of all clients are more than 100"]
    assert queued.total == 90
    queued.remove(a, 30)
    # What of it is left counts on.
    queued.add(b, 41)
    assert (a.why, b.why, queued.total) == ([], ["81 bytes of its requests wait, and those of all clients are more than 100"], 20)
    queued.add(b, 80)
    assert (queued.total, len(b.why)) == (100, 1)
    # Nothing of nobody.
    queued.remove(c, 5)
    queued.forget(c)
    queued.remove(a, 20)
    queued.forget(a)
    queued.forget(b)
    assert queued.total == 0


def test_several_go_where_one_is_not_enough() -> None:
    queued = QueuedBytes(10)
    a, b = Holder(), Holder()
    queued._held, queued.total = {a: 30, b: 20}, 50
    queued.add(b, 1)
    assert (len(a.why), len(b.why), queued.total) == (1, 1, 0)


@pytest.mark.parametrize(("count", "total"), [(0, 0), (2048, 0), (2049, 2049), (50_000, 50_000)])
def test_small_requests_do_not_count_as_work(count: int, total: int) -> None:
    async def test() -> None:
        work = WorkBytes(10_000)
        async with work.of(count):
            assert work.total == total
        assert work.total == 0
        with contextlib.suppress(ValueError):
            async with work.of(count):
                raise ValueError
        assert work.total == 0

    asyncio.run(test())


class Line:
    """Pieces of work that last until all may end."""

    def __init__(self) -> None:
        self.work = WorkBytes(10_000)
        self.order: list[str] = []
        self.end = asyncio.Event()

    async def one(self, name: str, count: int) -> None:
        async with self.work.of(count):
            self.order.append(name)
            await self.end.wait()


@pytest.mark.parametrize(("second", "begins"), [(4000, True), (4001, False)])
def test_work_fits_up_to_its_limit(second: int, begins: bool) -> None:
    async def test() -> None:
        line = Line()
        work, order, one, end = line.work, line.order, line.one, line.end
        tasks = [asyncio.create_task(one("a", 6000)), asyncio.create_task(one("b", second))]
        # In the line also one that would fit.
        tasks.append(asyncio.create_task(one("c", 3000)))
        await asyncio.sleep(0.001)
        assert order == (["a", "b"] if begins else ["a"])
        assert work.total == (10_000 if begins else 6000)
        end.set()
        await asyncio.gather(*tasks)
        assert order == ["a", "b", "c"]
        assert work.total == 0

    asyncio.run(test())


def test_work_that_is_given_up_in_the_line_leaves_no_trace() -> None:
    async def test() -> None:
        line = Line()
        work, order, one, end = line.work, line.order, line.one, line.end
        first = asyncio.create_task(one("a", 9000))
        await asyncio.sleep(0)
        waits = [asyncio.create_task(one(name, 9000)) for name in "bcd"]
        await asyncio.sleep(0)
        waits[0].cancel()
        waits[1].cancel()
        await asyncio.gather(*waits[:2], return_exceptions=True)
        assert (order, work.total) == (["a"], 9000)
        end.set()
        await asyncio.gather(first, waits[2])
        assert (order, work.total) == (["a", "d"], 0)

    asyncio.run(test())


@pytest.mark.parametrize(("free", "allowed"), [(MIB, 256 * KIB), (256 * KIB, 64 * KIB), (256 * KIB - 1, 0), (0, 0), (-5, 0)])
def test_an_answer_may_have_a_quarter_of_what_is_left(free: int, allowed: int) -> None:
    answers = AnswerBytes(free + 1)
    answers.hold(client(), 1)
    assert answers.allowed() == allowed
    # While nobody holds any, one goes out.
    assert AnswerBytes(free).allowed() == max(allowed, 64 * KIB)


def test_those_who_wait_are_called_while_there_is_room() -> None:
    answers, called = AnswerBytes(MIB), list[str]()
    reader, other = client(1), client(2)

    def first() -> None:
        called.append("first")
        # It takes the room, so the next goes on waiting.
        answers.hold(other, MIB)

    def second() -> None:
        called.append("second")

    answers.hold(reader, MIB)
    answers.wait(first)
    answers.wait(second)
    answers.wait(first)
    assert (answers.waiting, answers.free, answers.allowed()) == (2, 0, 0)
    answers.give_back(client(3))
    assert called == []
    answers.give_back(reader)
    assert (called, answers.free) == (["first"], 0)
    answers.leave(first)
    answers.give_back(other)
    assert (called, answers.free, answers.waiting) == (["first", "second"], MIB, 1)
    # What was given back is not given back again.
    answers.give_back(other)
    assert (called, answers.free) == (["first", "second"], MIB)


def test_who_leaves_the_line_while_it_is_called_is_not_called() -> None:
    answers, called = AnswerBytes(MIB), list[str]()
    reader = client()

    def second() -> None:
        called.append("second")

    def third() -> None:
        called.append("third")

    def first() -> None:
        called.append("first")
        answers.leave(second)

    for one in (first, second, third):
        answers.wait(one)
    answers.hold(reader, 5)
    answers.give_back(reader)
    assert called == ["first", "third"]


def test_an_answer_counts_once_however_often_it_is_held() -> None:
    answers = AnswerBytes(100)
    one, two = client(1), client(2)
    answers.hold(one, 60)
    answers.hold(one, 70)
    answers.hold(two, 10)
    assert answers.free == 20
    answers.give_back(one)
    assert answers.free == 90
