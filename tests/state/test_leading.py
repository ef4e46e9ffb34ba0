"""Begin of share partitions: many at once with one wait for the disk, and in the leader epoch after the last one."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

import share_state as ss
from share_state.async_persister import AsyncStateStore
from share_state.errors import (
    ArgumentValueError,
    FencedLeaderEpochError,
    FencedStateEpochError,
    InvalidRequestError,
    ShareStateError,
    StoreError,
)
from share_state.persister import (
    MemoryPersister,
    NoOpStatePersister,
    Persister,
    initialize_if_absent,
    initialize_many_if_absent,
    lead,
    lead_many,
)

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
KEYS = [ss.SharePartitionKey("workers", TOPIC, number) for number in range(1_000)]
NOBODY = ss.SharePartitionKey("nobody", TOPIC, 0)


def test_a_thousand_share_partitions_begin_with_four_syncs(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state") as store:
        assert initialize_many_if_absent(store, KEYS, 1, 0) == [True] * 1_000
        led = lead_many(store, KEYS, leader_epoch=1, inline=True)
        assert store.counters()["fsyncs"] <= 4
        assert all(isinstance(one, ss.SharePartition) and one.persister is store for one in led)
        assert [one.key.partition for one in led if isinstance(one, ss.SharePartition)] == list(range(1_000))
    # And so they do at the next start, where the states are there.
    with ss.open(tmp_path / "state") as store:
        before = store.counters()["fsyncs"]
        assert initialize_many_if_absent(store, KEYS, 1, 0) == [False] * 1_000
        led = lead_many(store, KEYS)
        assert {one.leader_epoch for one in led if isinstance(one, ss.SharePartition)} == {2}
        assert store.counters()["fsyncs"] - before <= 2


@pytest.mark.parametrize("home", ["store", "memory"])
def test_each_has_its_own_answer(home: str, tmp_path: Path) -> None:
    persister: Persister = MemoryPersister() if home == "memory" else ss.open(tmp_path / "state")
    persister.reset_state(KEYS[1], 3, 17)
    bad = KEYS[0]._replace(partition=-1)
    asked = [KEYS[0], KEYS[1], bad, KEYS[0], KEYS[2]._replace(topic_id="00010203-0405-0607-0809-0a0b0c0d0e0f"), KEYS[2]]
    given = initialize_many_if_absent(persister, asked, 1, -1)
    assert given[:2] + given[3:] == [True, False, False, True, False]
    assert isinstance(given[2], InvalidRequestError)
    assert given[2].field == "partition"
    assert persister.read_summary(KEYS[1]).start_offset == 17

    persister.read_state(KEYS[1], 9)
    led = lead_many(persister, [*KEYS[:3], NOBODY], leader_epoch=5, latest={KEYS[0]: 100})
    assert isinstance(led[0], ss.SharePartition)
    assert led[0].start_offset == 100
    assert isinstance(led[1], FencedLeaderEpochError)
    # The state has no start offset, and the mapping none for it.
    assert isinstance(led[2], ArgumentValueError)
    assert led[2].field == "latest"
    assert isinstance(led[3], InvalidRequestError)
    config = ss.GroupConfig(auto_offset_reset="earliest")
    (earliest,) = lead_many(persister, KEYS[2:3], leader_epoch=6, config=config, earliest={KEYS[2]: 40})
    assert isinstance(earliest, ss.SharePartition)
    assert earliest.start_offset == 40


def test_a_state_epoch_that_is_refused_is_an_answer_too() -> None:
    class Deleted(MemoryPersister):
        """Share partition whose state begins between the two requests."""

        def read_summary(self, _key: ss.SharePartitionKey) -> ss.StateSummary:
            return ss.StateSummary(0, 0, -1, -1)

    persister = Deleted()
    persister.reset_state(KEYS[0], 7, 0)
    first, second = initialize_many_if_absent(persister, [KEYS[0], KEYS[1]], 1, 0)
    assert isinstance(first, FencedStateEpochError)
    assert second is True


def test_a_store_gives_the_leader_epoch_after_the_last_one(tmp_path: Path) -> None:
    key = KEYS[0]
    with ss.open(tmp_path / "state") as store:
        with pytest.raises(InvalidRequestError):
            store.lead(key)
        initialize_if_absent(store, key, 1, -1)
        with pytest.raises(ArgumentValueError, match="latest is None"):
            store.lead(key)
        first = store.lead(key, latest=10, inline=True)
        assert (first.leader_epoch, first.start_offset, first.persister) == (2, 10, store)
        store.read_state(key, 7)
        second = store.lead(key, config=ss.GroupConfig(auto_offset_reset="earliest"), earliest=3)
        assert (second.leader_epoch, second.start_offset) == (8, 3)
        with pytest.raises(FencedLeaderEpochError):
            store.read_state(key, 7)
        # The epoch of a leader of the state before counts too.
        store.reset_state(key, 2, 0)
        assert store.lead(key).leader_epoch == 9
        assert [one.leader_epoch for one in lead_many(store, [key, key]) if isinstance(one, ss.SharePartition)] == [10, 11]
    with ss.open(tmp_path / "state") as store:
        assert store.lead(key).leader_epoch == 12
        store.read_state(key, 2**31 - 1)
        with pytest.raises(FencedLeaderEpochError):
            store.lead(key)
    with pytest.raises(StoreError):
        store.lead(key)


def test_no_two_threads_get_the_same_leader_epoch(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state", sync="never") as store, ThreadPoolExecutor(8) as threads:
        store.reset_state(KEYS[0], 1, 0)
        led = list(threads.map(lambda _: store.lead(KEYS[0]).leader_epoch, range(200)))
    assert sorted(led) == list(range(1, 201))


def test_an_argument_that_cannot_be_fences_nobody(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state") as store:
        store.reset_state(KEYS[0], 1, 0)
        for persister, key, more in (
            (store, ("workers", TOPIC, -1), {}),
            (store, KEYS[0], {"config": "none"}),
            (store, KEYS[0], {"inlin": True}),
        ):
            with pytest.raises((ShareStateError, TypeError)):
                persister.lead(key, **more)
        with pytest.raises(ShareStateError):
            lead_many(store, [KEYS[0], KEYS[1]._replace(topic_id="?")])
        with pytest.raises(TypeError, match="leader_epoch is None; expected a number"):
            lead(MemoryPersister(), KEYS[0])
        with pytest.raises(TypeError, match="leader_epoch is None"):
            lead_many(cast("Persister", NoOpStatePersister()), KEYS[:1])
        with pytest.raises(TypeError, match="persister is a MemoryPersister"):
            lead_many(MemoryPersister(), KEYS[:1], leader_epoch=1, inline=True)
        assert store.read_summary(KEYS[0]).leader_epoch == 0


async def test_an_awaited_store_gives_the_leader_epoch_after_the_last_one(tmp_path: Path) -> None:
    async with AsyncStateStore(ss.open(tmp_path / "state")) as store:
        with pytest.raises(InvalidRequestError):
            await store.lead(KEYS[0])
        for key in KEYS[:2]:
            await store.reset_state(key, 1, -1)
        with pytest.raises(ArgumentValueError, match="latest is None"):
            await store.lead(KEYS[0])
        first = await store.lead(KEYS[0], latest=10)
        assert (first.leader_epoch, first.start_offset, first.status) == (2, 10, "ACTIVE")
        await store.read_state(KEYS[0], 7)
        config = ss.GroupConfig(auto_offset_reset="earliest")
        second = await store.lead(KEYS[0], config=config, earliest=3)
        assert (second.leader_epoch, second.start_offset) == (8, 3)
        with pytest.raises(FencedLeaderEpochError):
            await store.read_state(KEYS[0], 7)
        # At once: nobody gets the epoch of another, and one that fails leaves the others.
        asked = [*[KEYS[0]] * 5, NOBODY, KEYS[1]]
        given = await asyncio.gather(*(store.lead(key, latest=5) for key in asked), return_exceptions=True)
        epochs = [one.leader_epoch for one in given if isinstance(one, ss.SharePartition)]
        assert (sorted(epochs[:5]), epochs[5:]) == ([9, 10, 11, 12, 13], [1])
        assert isinstance(given[5], InvalidRequestError)
    with pytest.raises(StoreError):
        await store.lead(KEYS[0])
