"""A data plane over a node with one topic, a disk that does what a test says, and clients that ask by payloads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

import pytest

import share_state as ss
from share_state._core import WriteRound
from share_state.gateway import data_plane
from share_state.gateway.access import Access
from share_state.gateway.counts import Counts
from share_state.gateway.data_plane import DataPlane, Needs
from share_state.gateway.requests import Client
from share_state.gateway.upstream.reader import Read, Source
from share_state.kafka.client.peers import Address
from tests.gateway.delivery.one_node import BASE64, FETCH, fetch, node
from tests.gateway.wire.batches import record_batch
from tests.gateway.wire.codec import Message, decode

SOURCE = Source(BASE64, 0, 0)
RECORDS = 10
Written = tuple[list[int], list[ss.ShareStateError]]


class Executor(ThreadPoolExecutor):
    """Counts calls that were handed to it and are not over."""

    def __init__(self) -> None:
        super().__init__(4, thread_name_prefix="own")
        self.under_way = self.most = 0

    def submit(self, *work: Any, **named: Any) -> Future[Any]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future: Future[Any] = super().submit(*work, **named)
        future.add_done_callback(self._over)
        return future

    def _over(self, _future: object) -> None:
        self.under_way -= 1


class Bench:
    """The data plane, and all that it depends on. Of the first partition there are ten records, in batches of one."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.counts = Counts()
        #: Answers to a round, in the thread that waits for it.
        self.write: Callable[[WriteRound], Written] = lambda taken: ([0] * len(taken), [])
        self.plane = DataPlane(node(), cast("Any", None), executor, self.counts)
        self.needs: Needs = {
            "state": self._state,
            "records": self._records,
            "log_start": lambda *source: self._later(self.plane.log_starts_told, [(Source(*source), None)]),
            "loaded": lambda *_about: None,
        }
        self.plane.begin(self.needs)

    def written(self, taken: WriteRound, _store: object) -> Written:
        assert threading.current_thread().name.startswith("own")
        return self.write(taken)

    def _state(self, served: int, _key: ss.SharePartitionKey, _leader_epoch: int) -> None:
        asyncio.get_running_loop().call_soon(self.plane.tell, self.plane.node.state_read, served, ss.ReadStateResult(0, 0, []))

    def _records(self, topic_id: str, partition: int, isolation: int, life: int, offset: int) -> None:
        data = b"".join(record_batch(at, 1) for at in range(offset, RECORDS))
        if data and partition == 0:
            read = Read(offset, data, 0, len(data), None)
            self._later(self.plane.records_read, Source(topic_id, partition, isolation), life, read)

    def _later(self, call: Callable[..., object], *about: object) -> None:
        def now() -> None:
            call(*about)
            self.plane.run()

        asyncio.get_running_loop().call_soon(now)

    async def fetch(self, client: Client, epoch: int, **more: Any) -> Message:
        """The one row of the answer to a ShareFetch, which the client takes."""
        answer = await self.plane.respond(client, fetch(epoch, **more)[4:])
        self.plane.taken(client, len(answer))
        rows = [row for topic in decode(FETCH, 2, answer[9:], response=True)["responses"] for row in topic["partitions"]]
        return rows[0] if rows else {}

    async def holding(self, client: Client) -> None:
        """Have the member hold the first five records; its session is at epoch 1."""
        row = await self.fetch(client, 0, wait_ms=5_000, records=5)
        assert given(row) == [(0, 4)]


def given(row: Message) -> list[tuple[int, int]]:
    """The ranges in a row of an answer."""
    return [(one["firstOffset"], one["lastOffset"]) for one in row.get("acquiredRecords", ())]


def client(number: int) -> Client:
    # The node of this file has the first connection already.
    return Client(number + 1, "host", Address("here", 1), Access(), "User:alice")


def run(monkeypatch: pytest.MonkeyPatch, test: Callable[[Bench], Coroutine[Any, Any, None]]) -> None:
    async def all_of_it() -> None:
        with Executor() as executor:
            bench = Bench(executor)
            monkeypatch.setattr(data_plane, "write", bench.written)
            await asyncio.wait_for(test(bench), 15)
            await asyncio.wait_for(bench.plane.close(), 15)
            assert bench.plane._timer is None

    asyncio.run(all_of_it())


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
