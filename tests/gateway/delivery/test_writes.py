"""The gateway's writes: one round at a time, so that those of one share partition keep their order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

import pytest

import share_state as ss
from share_state.gateway.counts import Counts
from share_state.gateway.share_partitions import ServedPartition
from share_state.gateway.upstream.reader import PartitionReader
from share_state.gateway.writes import WritePump
from share_state.persister import NoOpStatePersister

TOPIC = "AAECAwQFBgcICQoLDA0ODw"


class CountingExecutor(ThreadPoolExecutor):
    """Counts calls that were handed to it and are not over."""

    def __init__(self) -> None:
        super().__init__(4)
        self.under_way = 0
        self.most = 0

    def submit(self, *work: Any, **named: Any) -> Future[Any]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future: Future[Any] = super().submit(*work, **named)
        future.add_done_callback(self._over)
        return future

    def _over(self, _future: object) -> None:
        self.under_way -= 1


class HeldStore:
    """Confirms everything; the second round waits until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.rounds = 0

    def write_states(self, requests: Iterable[tuple[ss.SharePartitionKey, ss.WriteState]]) -> list[None]:
        self.rounds += 1
        if self.rounds == 2:
            assert self.let_go.wait(60)
        return [None for _ in requests]


def served(number: int) -> ServedPartition:
    key = ss.SharePartitionKey("workers", TOPIC, number)
    engine = ss.SharePartition(*key)
    engine.initialize(ss.ReadStateResult(1, 0, []))
    engine.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    return ServedPartition(key, engine, cast("PartitionReader", NoOpStatePersister()))


def test_what_is_written_while_answers_are_told_waits_for_the_round_that_follows() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        store, executor = HeldStore(), CountingExecutor()
        one, two = served(0), served(1)
        told: list[tuple[int, int, int]] = []

        def acknowledge(where: ServedPartition, offset: int) -> None:
            where.engine.acknowledge("alice", offset, offset, now_ms=0)
            pump.add(where)

        def settled(where: ServedPartition, token: int, code: int) -> None:
            told.append((where.key.partition, token, where.engine.handle_write_result(token, code, now_ms=0)))
            if len(told) == 1:
                # A member acknowledges what it was just told of, and another does so in the next turn of the loop.
                acknowledge(one, 1)
                loop.call_soon(acknowledge, two, 0)
                loop.call_soon(lambda: loop.call_soon(loop.call_soon, loop.call_soon, store.let_go.set))

        with executor:
            pump = WritePump(cast("ss.StateStore", store), executor, settled, Counts())
            acknowledge(one, 0)
            await pump.close()
        assert told == [(0, 0, 0), (0, 1, 0), (1, 0, 0)]
        assert (store.rounds, executor.most) == (3, 1)

    asyncio.run(test())


@pytest.mark.parametrize(
    ("outcome", "is_failing"),
    [
        (None, False),
        (ss.FencedLeaderEpochError("overtaken"), False),
        (ss.InvalidRequestError("no state"), False),
        (ss.StoreError("the disk is full"), True),
        (RuntimeError("a bug"), True),
    ],
    ids=repr,
)
def test_a_write_that_is_refused_is_no_log_that_fails(outcome: Exception | None, is_failing: bool) -> None:
    class Store:
        def write_states(self, requests: Iterable[object]) -> list[Exception | None]:
            return [outcome for _ in requests]

    async def test() -> None:
        with ThreadPoolExecutor(1) as executor:
            pump = WritePump(cast("ss.StateStore", Store()), executor, lambda *_: None, Counts())
            one = served(0)
            one.engine.acknowledge("alice", 0, 0, now_ms=0)
            pump.add(one)
            await pump.close()
            assert pump.is_failing == is_failing

    asyncio.run(test())
