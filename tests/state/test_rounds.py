"""Group commit on an event loop: one round at a time, whatever is asked while another is being settled."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from share_state.util.rounds import Rounds


class Gathering:
    """Rounds over numbers; keeps what happened."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self.waiting: list[int] = []
        self.settled: list[tuple[list[int], object]] = []
        #: Step that raises once: "settle" or "take".
        self.broken = ""
        #: Asked for while the round with this number is settled.
        self.answers: dict[int, list[int]] = {}
        self.rounds = Rounds(executor, self.take, self.carry_out, self.settle)

    def ask(self, number: int) -> None:
        self.waiting.append(number)
        self.rounds.ask()

    def take(self) -> list[int] | None:
        self.fail_once("take")
        taken, self.waiting = self.waiting, []
        return taken or None

    def carry_out(self, numbers: list[int]) -> int:
        if -1 in numbers:
            raise OSError("no disk")
        return sum(numbers)

    def settle(self, numbers: list[int], result: int | BaseException) -> None:
        self.settled.append((numbers, result))
        for number in numbers:
            for more in self.answers.pop(number, []):
                self.ask(more)
        self.fail_once("settle")

    def fail_once(self, where: str) -> None:
        if self.broken == where:
            self.broken = ""
            raise ValueError("a bug")


async def test_what_is_asked_in_one_turn_goes_together_and_the_rest_with_the_next() -> None:
    with ThreadPoolExecutor(4) as executor:
        gathering = Gathering(executor)
        await gathering.rounds.idle()
        gathering.answers = {2: [10, 20], 20: [30]}
        for number in (1, 2, 3):
            gathering.ask(number)
        await gathering.rounds.idle()
    assert gathering.settled == [([1, 2, 3], 6), ([10, 20], 30), ([30], 30)]


async def test_a_round_that_fails_is_settled_and_the_next_one_made() -> None:
    with ThreadPoolExecutor(1) as executor:
        gathering = Gathering(executor)
        gathering.answers = {-1: [7]}
        gathering.ask(-1)
        await gathering.rounds.idle()
    (numbers, failed), following = gathering.settled
    assert numbers == [-1]
    assert isinstance(failed, OSError)
    assert following == ([7], 7)


@pytest.mark.parametrize("broken", ["settle", "take"])
async def test_a_bug_of_the_caller_is_told_and_stops_nothing(broken: str) -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context["exception"]))
    with ThreadPoolExecutor(1) as executor:
        gathering = Gathering(executor)
        gathering.broken = broken
        gathering.ask(1)
        await gathering.rounds.idle()
        gathering.ask(2)
        await gathering.rounds.idle()
    assert [type(error) for error in told] == [ValueError]
    assert [number for numbers, _ in gathering.settled for number in numbers] == [1, 2]


async def test_a_round_that_no_thread_takes_is_settled() -> None:
    executor = ThreadPoolExecutor(1)
    gathering = Gathering(executor)
    executor.shutdown()
    gathering.answers = {1: [2]}
    gathering.ask(1)
    async with asyncio.timeout(60):
        await gathering.rounds.idle()
    assert [(numbers, type(result)) for numbers, result in gathering.settled] == [([1], RuntimeError), ([2], RuntimeError)]
