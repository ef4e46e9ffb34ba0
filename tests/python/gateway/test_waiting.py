"""A fetch that waits: what it has acquired reaches its member, however often it is woken before it answers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from share_state.gateway.access import Access
from share_state.gateway.limits import AnswerBytes
from share_state.gateway.requests import Client
from share_state.gateway.share_fetch import WaitingFetch, wake
from share_state.kafka.peers import Address


class Served:
    """Stands in for a share partition that can be served."""

    is_ready = True
    error_code = 0

    def __init__(self, engine: object, reader: object) -> None:
        self.engine = engine
        self.reader = reader
        self.waiting: dict[object, None] = {}


def test_a_fetch_that_is_woken_again_before_it_answers() -> None:
    deliveries: list[Any] = [None]

    def deliver(*_: object, **__: object) -> Any:
        return deliveries.pop(0) if deliveries else None

    engine = SimpleNamespace(can_acquire=lambda: True, next_fetch_offset=lambda: 0)
    reader = SimpleNamespace(deliver=deliver, isolation=0, ring=SimpleNamespace(holds=lambda _: True))
    served: Any = Served(engine, reader)
    held: list[str] = []
    manager: Any = SimpleNamespace(holds=lambda _, member: held.append(member), writes=SimpleNamespace(is_closed=False))
    client = Client(1, "", Address("", 0), Access())

    async def test() -> None:
        fetch = WaitingFetch(
            [served], "member", max_records=10, batch_size=10, mode=0, max_bytes=1000, min_bytes=1, client=client,
            answers=AnswerBytes(1 << 20),
        )  # fmt: skip
        waiting = asyncio.create_task(fetch.wait(manager, 60_000))
        await asyncio.sleep(0)
        deliveries.extend(SimpleNamespace(record_count=5, nbytes=100, name=name) for name in ("first", "second"))
        wake(manager, served)
        # What comes in the same turn of the loop is for the next fetch.
        wake(manager, served)
        found: Any = (await waiting)[served]
        assert found.name == "first"
        assert [left.name for left in deliveries] == ["second"]
        assert held == ["member"]

    asyncio.run(test())
