"""Many requests in one call of the store, and one request of many share partitions at the server: one sync each."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import share_state as ss
from share_state.errors import InvalidRequestError, StoreError
from share_state.kafka import AsyncKafkaPersister, RetryPolicy, ShareCoordinatorServer
from share_state.persister import ManyAtOnce, MemoryPersister

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
KEYS = [ss.SharePartitionKey("workers", TOPIC, number) for number in range(40)]


def write(start_offset: int) -> ss.WriteState:
    return ss.WriteState(1, 1, start_offset, -1, [ss.StateBatch(start_offset, start_offset + 9, 2, 1)])


class Syncs:
    """The syncs of a store since this was made, without those of opening it and of its first segment."""

    def __init__(self, store: ss.StateStore) -> None:
        store.reset_state(KEYS[0]._replace(group="first"), 1, 0)
        self._store = store
        self._before = store.counters()["fsyncs"]

    def __call__(self) -> int:
        return self._store.counters()["fsyncs"] - self._before


def test_they_answer_one_by_one_and_wait_once(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state") as store:
        syncs = Syncs(store)
        assert isinstance(store, ManyAtOnce)
        assert not isinstance(MemoryPersister(), ManyAtOnce)
        assert store.reset_states((key, 1, 0) for key in KEYS) == [None] * 40
        assert syncs() == 1
        unknown = KEYS[0]._replace(group="nobody")
        asked = [(key, write(10)) for key in KEYS] + [(unknown, write(10)), (KEYS[3], write(-7)), (KEYS[3], write(20))]
        answers = store.write_states(asked)
        assert answers[:40] == [None] * 40
        assert answers[42:] == [None]
        for refused, field in zip(answers[40:42], (None, "start_offset"), strict=True):
            assert isinstance(refused, InvalidRequestError)
            assert refused.field == field
        assert (syncs(), store.counters()["writes"]) == (2, 82)
        read = store.read_states([(KEYS[3], 5), (unknown, 5)])
        assert read[0] == ss.ReadStateResult(1, 20, [ss.StateBatch(20, 29, 2, 1)])
        assert isinstance(read[1], InvalidRequestError)
        assert store.delete_states([KEYS[3], unknown]) == [None, None]
        assert store.read_summary(KEYS[3]).start_offset == -1
        assert syncs() == 4
        assert store.write_states([]) == []
        states = store.states()
    with ss.open(tmp_path / "state") as store:
        assert store.states() == states


def test_what_cannot_be_taken_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    store = ss.open(tmp_path / "state")
    for wrong in ([(KEYS[0], 1)], [KEYS[0]], [(KEYS[0], "1", 0)], [(KEYS[0], 1, 0), None], 7):
        with pytest.raises((TypeError, ValueError)):
            store.reset_states(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="topic_id"):
        store.write_states([(KEYS[0], write(0)), (("g", "no topic", 0), write(0))])
    assert store.states() == []
    store.close()
    with pytest.raises(StoreError):
        store.reset_states([(KEYS[0], 1, 0)])


async def test_a_request_of_many_share_partitions_is_one_sync(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state") as store:
        syncs = Syncs(store)
        async with ShareCoordinatorServer(store) as coordinator:
            host, port = await coordinator.start()
            async with AsyncKafkaPersister(f"{host}:{port}") as kafka:
                await asyncio.gather(*(kafka.reset_state(key, 1, 0) for key in KEYS))
                assert syncs() == 1
                await asyncio.gather(*(kafka.write_state(key, write(10)) for key in KEYS))
                assert syncs() == 2
                await asyncio.gather(*(kafka.read_state(key, 2) for key in KEYS))
                assert syncs() == 3
                await asyncio.gather(*(kafka.delete_state(key) for key in KEYS))
                assert syncs() == 4
        assert store.counters()["records"] == 161


async def test_a_store_that_fails_is_told_for_each(tmp_path: Path) -> None:
    store = ss.open(tmp_path / "state")
    async with ShareCoordinatorServer(store) as coordinator:
        host, port = await coordinator.start()
        async with AsyncKafkaPersister(f"{host}:{port}", retry=RetryPolicy(attempts=1)) as kafka:
            store.close()
            told = await asyncio.gather(*(kafka.reset_state(key, 1, 0) for key in KEYS), return_exceptions=True)
    # The code that a closed store has.
    assert {getattr(error, "kafka_code", None) for error in told} == {16}
    assert len(told) == 40
