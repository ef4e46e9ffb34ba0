"""The example of an asyncio broker: it serves, ends in order, and goes on; and the page shows what runs here."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio import CancelledError
from collections.abc import Callable
from pathlib import Path

import pytest

import share_state as ss
from examples.asyncio_broker import broker as example
from share_state.async_persister import AsyncStateStore
from share_state.errors import FencedLeaderEpochError
from share_state.kafka import AsyncKafkaPersister, ShareCoordinatorServer
from share_state.persister import MemoryPersister
from tests.pages.blocks import PythonBlock, blocks
from tests.pages.runner import REPOSITORY

PARTITIONS, RECORDS = 40, 200


def cancel() -> None:
    """End everything at once, as Ctrl-C does."""
    for task in asyncio.all_tasks():
        task.cancel()


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


class Journal:
    """Acceptances that members were told; something happens after some of them."""

    def __init__(self) -> None:
        self.accepted: list[tuple[str, int, int]] = []
        self.after = 0
        self.happens: Callable[[], None] = terminate

    def told(self, name: str, accepted: ss.AcquiredRange) -> None:
        offsets = range(accepted.first_offset, accepted.last_offset + 1)
        self.accepted += [(name, offset, accepted.delivery_count) for offset in offsets]
        if 0 < self.after <= len(self.accepted):
            self.after = 0
            self.happens()

    def run(self, path: Path, leader_epoch: int) -> dict[str, int]:
        served = example.run(path, leader_epoch=leader_epoch, partitions=PARTITIONS, records=RECORDS, told=self.told)
        return asyncio.run(served)


def expected() -> set[tuple[str, int]]:
    return {(f"workers-{number}", offset) for number in range(PARTITIONS) for offset in range(RECORDS)}


def test_every_record_is_accepted_once_and_syncs_are_shared(tmp_path: Path) -> None:
    journal = Journal()
    counters = journal.run(tmp_path / "state", 1)
    assert sorted((name, offset) for name, offset, _ in journal.accepted) == sorted(expected())
    # What bob took came again when his locks had run out: the timers work.
    again = {(name, offset) for name, offset, count in journal.accepted if count == 2}
    assert again == {(name, offset) for name, offset in expected() if offset < example.BATCH}
    assert counters["writes"] >= PARTITIONS * RECORDS / example.BATCH
    assert counters["fsyncs"] < counters["writes"] / 10


@pytest.mark.parametrize(("happens", "ends"), [(terminate, contextlib.nullcontext()), (cancel, pytest.raises(CancelledError))])
def test_it_ends_half_way_and_the_next_start_goes_on(
    happens: Callable[[], None], ends: contextlib.AbstractContextManager[object], tmp_path: Path
) -> None:
    first, second = Journal(), Journal()
    first.after, first.happens = PARTITIONS * RECORDS // 4, happens
    with ends:
        first.run(tmp_path / "state", 1)
    second.run(tmp_path / "state", 2)
    before, after = ({(name, offset) for name, offset, _ in journal.accepted} for journal in (first, second))
    assert PARTITIONS * RECORDS // 4 <= len(before) < PARTITIONS * RECORDS
    # Nothing that a member was told is delivered again.
    assert before & after == set()
    assert (len(before), len(after)) == (len(first.accepted), len(second.accepted))
    # Where all was cancelled, one batch at most of each share partition was written and not told.
    missing = expected() - before - after
    assert len(missing) <= (PARTITIONS * example.BATCH if happens is cancel else 0)


async def test_a_share_partition_that_cannot_be_led_is_told_to_all_and_tried_again(tmp_path: Path) -> None:
    key = ss.SharePartitionKey("workers", example.TOPIC, 0)
    async with (
        AsyncStateStore(ss.open(tmp_path / "state")) as states,
        example.Broker(states, leader_epoch=1, config=ss.GroupConfig(), log_end=10) as broker,
    ):
        await states.reset_state(key, 1, 0)
        await states.read_state(key, 5)
        told = await asyncio.gather(broker.serve(key), broker.serve(key), return_exceptions=True)
        assert [type(error) for error in told] == [FencedLeaderEpochError] * 2
        await states.delete_state(key)
        served = await asyncio.gather(broker.serve(key), broker.serve(key))
        assert served[0] is served[1]
        assert served[0].engine.start_offset == 0
        waiting = asyncio.create_task(served[0].fetch("alice", 10))
        assert await waiting == [(0, 9, 1)]
        waiting = asyncio.create_task(served[0].fetch("bob", 10))
        await asyncio.sleep(0)
        broker.stop()
        assert await waiting == []


def aborted_batch(first: int, last: int) -> ss.FetchedBatch:
    return ss.FetchedBatch(first, last, 7, is_transactional=True)


MARKER = ss.FetchedBatch(5, 5, 7, is_transactional=True, control=ss.ControlType.ABORT)


@pytest.mark.parametrize(
    ("log", "delivered"),
    [
        pytest.param([(3, 9), (10, 19)], {*range(3, 20)}, id="a hole at the start"),
        pytest.param([(0, 4), (15, 19)], {*range(5), *range(15, 20)}, id="a hole in the middle"),
        pytest.param([(0, 9)], {*range(10)}, id="a hole at the end"),
        pytest.param([], set(), id="nothing but a hole"),
        pytest.param([aborted_batch(0, 4), MARKER, (6, 19)], {*range(5, 20)}, id="aborted at the start"),
        pytest.param(
            [(0, 9), aborted_batch(10, 18), MARKER._replace(base_offset=19, last_offset=19)],
            {*range(10), 19},
            id="aborted at the end",
        ),
        pytest.param([(0, 9), aborted_batch(10, 19)], {*range(10)}, id="aborted to the end"),
        pytest.param([aborted_batch(0, 9), aborted_batch(10, 19)], set(), id="nothing but aborted"),
    ],
)
def test_it_ends_whatever_stands_at_the_head(
    log: list[tuple[int, int] | ss.FetchedBatch], delivered: set[int], tmp_path: Path
) -> None:
    key = ss.SharePartitionKey("workers", example.TOPIC, 0)

    async def test(first: int) -> None:
        config = ss.GroupConfig(record_lock_duration_ms=200)
        journal = Journal()
        async with (
            AsyncStateStore(ss.open(tmp_path / str(first))) as states,
            example.Broker(states, leader_epoch=1, config=config, log_end=20) as broker,
            asyncio.timeout(60),
        ):
            served = await broker.serve(key)
            compacted = {"log": log}

            def read(offset: int) -> list[tuple[int, int] | ss.FetchedBatch]:
                return [batch for batch in compacted["log"] if batch[1] >= offset]

            served.read = read  # type: ignore[method-assign] # of this object alone
            served.aborted = [(7, batch[0]) for batch in log if batch[2:] == (7, True, None)][:1]
            async with asyncio.TaskGroup() as members:
                # Each of them may be the one that waits while another finds the end.
                for member in ("bob", "alice", "carol")[first:]:
                    members.create_task(example.work(broker, key, member, journal.told))
            assert served.engine.is_settled
        accepted = {offset for _, offset, _ in journal.accepted}
        assert delivered <= accepted
        # Of a hole between two batches a member may hold the offsets, as in Kafka; of what was aborted none.
        gone = {offset for batch in log if batch[2:] == (7, True, None) for offset in range(batch[0], batch[1] + 1)}
        assert accepted & gone == set()

    for first in (0, 1):
        asyncio.run(test(first))


async def test_it_ends_when_the_topic_is_compacted_under_what_was_released(tmp_path: Path) -> None:
    key = ss.SharePartitionKey("workers", example.TOPIC, 0)
    async with (
        AsyncStateStore(ss.open(tmp_path / "state")) as states,
        example.Broker(states, leader_epoch=1, config=ss.GroupConfig(), log_end=20) as broker,
        asyncio.timeout(60),
    ):
        served = await broker.serve(key)
        first = await served.fetch("bob", 10)
        assert await served.acknowledge("alice", await served.fetch("alice", 10)) == 0
        served.engine.release("bob", now_ms=ss.LockTime.now())
        await served.acknowledge("alice", [])
        served.read = lambda offset: [(10, 19)] if offset < 20 else []  # type: ignore[method-assign] # of this object alone
        assert first == [(0, 9, 1)]
        assert await served.fetch("alice", 10) == []
        # Nothing was written for what is gone, so the start offset has not moved.
        assert (served.engine.start_offset, served.engine.settled_to(20)) == (0, True)


async def test_a_member_of_a_fenced_leader_ends(tmp_path: Path) -> None:
    key = ss.SharePartitionKey("workers", example.TOPIC, 0)
    async with (
        AsyncStateStore(ss.open(tmp_path / "state")) as states,
        example.Broker(states, leader_epoch=1, config=ss.GroupConfig(), log_end=20) as broker,
        asyncio.timeout(60),
    ):
        served = await broker.serve(key)
        taken = [await served.fetch(member, 10) for member in ("alice", "bob")]
        waiting = asyncio.create_task(served.fetch("carol", 10))
        await asyncio.sleep(0)
        await states.read_state(key, 2)
        assert await served.acknowledge("alice", taken[0]) == 6
        assert await waiting == []


async def test_it_stands_on_a_cluster_as_well() -> None:
    key = ss.SharePartitionKey("workers", example.TOPIC, 0)
    async with ShareCoordinatorServer(MemoryPersister()) as coordinator:
        host, port = await coordinator.start()
        config, journal = ss.GroupConfig(record_lock_duration_ms=200), Journal()
        async with (
            AsyncKafkaPersister(f"{host}:{port}") as kafka,
            example.Broker(kafka, leader_epoch=1, config=config, log_end=30) as broker,
            asyncio.TaskGroup() as members,
        ):
            for member in ("bob", "alice"):
                members.create_task(example.work(broker, key, member, journal.told))
        assert {offset for _, offset, _ in journal.accepted} == set(range(30))


def test_the_page_shows_the_example() -> None:
    page = (REPOSITORY / "docs/in-an-asyncio-broker.md").read_text(encoding="utf-8")
    shown = [block.code for block in blocks(page) if isinstance(block, PythonBlock)]
    assert (REPOSITORY / "examples/asyncio_broker/broker.py").read_text(encoding="utf-8") in shown
