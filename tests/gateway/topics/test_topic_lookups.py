"""Topics that members name by ids which are not in memory: they are looked for before a request goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.errors import ShareStateError
from share_state.gateway.topic_lookups import TopicLookups
from share_state.kafka.client.peers import LostError


class Plane:
    """Stands for the data plane and for upstream, whose answers come when a test lets them."""

    def __init__(self, wrong: Exception | None = None) -> None:
        self.node = SimpleNamespace(looked_up="looked up")
        self.told: list[tuple[object, ...]] = []
        self.asked: list[Sequence[str]] = []
        self.may_answer = asyncio.Event()
        self._wrong = wrong
        self.lookups = TopicLookups(cast("Any", self), cast("Any", self))

    def tell(self, *what: object) -> None:
        self.told.append(what)

    async def topics_by_id(self, topic_ids: Sequence[str]) -> None:
        self.asked.append(topic_ids)
        await self.may_answer.wait()
        if self._wrong is not None:
            raise self._wrong


def test_a_request_goes_on_once_its_topics_were_looked_for() -> None:
    async def test() -> None:
        plane = Plane()
        plane.lookups.begin(7, ["one", "two"])
        plane.lookups.begin(8, ["three"])
        await asyncio.sleep(0)
        assert (plane.asked, plane.told) == ([["one", "two"], ["three"]], [])
        plane.may_answer.set()
        await _quiet()
        assert plane.told == [("looked up", 7), ("looked up", 8)]

    asyncio.run(test())


@pytest.mark.parametrize(
    "wrong", [LostError("broker 1", "gone", code=13, sent=False), ShareStateError("nonsense"), OSError("the disk is full")]
)
def test_a_request_goes_on_although_nobody_can_look(wrong: Exception) -> None:
    async def test() -> list[dict[str, Any]]:
        faults: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        plane = Plane(wrong)
        plane.lookups.begin(7, ["one"])
        plane.may_answer.set()
        await _quiet()
        assert plane.told == [("looked up", 7)]
        return faults

    # That upstream is gone is told elsewhere. What nobody has foreseen is not hidden.
    faults = asyncio.run(test())
    assert [fault["exception"] for fault in faults] == ([] if isinstance(wrong, LostError) else [wrong])


async def _quiet() -> None:
    async with asyncio.timeout(10):
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(tasks)
