"""State of a share partition as it is shown: what is stored, or what is in memory once a crash cannot take it back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state._core import StateStore, WriteState
from share_state.errors import InvalidRequestError, StoreError
from share_state.gateway.shown import Shown, ShownStates
from share_state.types import SharePartitionKey, StateBatch

KEY = SharePartitionKey("g", "AAAAAAAAQACAAAAAAAAAAg", 3)
OTHER = SharePartitionKey("h", "AAAAAAAAQACAAAAAAAAAAg", 3)
ACKNOWLEDGED = 2


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore(tmp_path / "state") as made:
        assert made.reset_states([(KEY, 1, 5), (OTHER, 1, 50)]) == [None, None]
        yield made


def in_memory(start: int, complete: int = 1, *, ready: bool = True, writes: int = 0) -> SimpleNamespace:
    engine = SimpleNamespace(start_offset=start, delivery_complete_count=complete, leader_epoch=9, writes_under_way=writes)
    return SimpleNamespace(engine=engine, is_ready=ready)


def shown(
    store: Any, served: SimpleNamespace | None = None, kept: WriteState | None = None, key: SharePartitionKey = KEY
) -> tuple[Shown, int]:
    """State that is shown, and the number of times that a start was kept for it."""
    asked = []

    async def keep_start(one: Any) -> WriteState | None:
        asked.append(one)
        return kept

    def get(*place: Any) -> SimpleNamespace | None:
        return served if place == KEY else None

    manager = cast("Any", SimpleNamespace(generation=8, get=get, writes=SimpleNamespace(keep_start=keep_start)))
    with ThreadPoolExecutor(1, thread_name_prefix="disk") as executor:
        found = asyncio.run(ShownStates(store, executor, manager).of(key))
    assert asked in ([], [served])
    return found, len(asked)


def acknowledge(store: StateStore, start: int, *batches: tuple[int, int]) -> None:
    """As the leader of epoch 4 does it, with the start offset that it had before."""
    store.read_state(KEY, 4)
    rows = [StateBatch(first, last, ACKNOWLEDGED, 1) for first, last in batches]
    assert store.write_states([(KEY, WriteState(1, 4, start, 0, rows))]) == [None]


def test_what_is_not_in_memory_is_shown_as_it_is_stored(store: StateStore) -> None:
    assert shown(store) == ((5, 0, 0), 0)
    assert shown(store, key=OTHER) == ((50, 0, 0), 0)
    assert shown(store, key=OTHER._replace(partition=0)) == ((-1, -1, 0), 0)


def test_the_start_is_after_what_was_acknowledged_last(store: StateStore) -> None:
    assert store.reset_states([(KEY, 1, 0)]) == [None]
    acknowledge(store, 0, (0, 2), (5, 6))
    assert shown(store) == ((3, 2, 4), 0)


def test_what_is_in_memory_is_shown_where_it_starts_at_the_same_offset(store: StateStore) -> None:
    assert shown(store, in_memory(5, 3)) == ((5, 3, 9), 0)
    assert shown(store, in_memory(5, 3), key=OTHER) == ((50, 0, 0), 0)
    # What is stored is newer.
    assert shown(store, in_memory(4, 3)) == ((5, 0, 0), 0)


@pytest.mark.parametrize("start", [4, 5, 7])
def test_what_is_being_loaded_or_written_is_shown_as_it_is_stored(store: StateStore, start: int) -> None:
    for served in (in_memory(start, ready=False), in_memory(start, writes=1), in_memory(start, ready=False, writes=1)):
        assert shown(store, served, WriteState(1, 9, start, 1, [])) == ((5, 0, 0), 0)


def test_a_start_that_has_moved_is_kept_first(store: StateStore) -> None:
    # It may have moved on until then.
    assert shown(store, in_memory(7), WriteState(1, 11, 8, 2, [])) == ((8, 2, 11), 1)
    assert shown(store, in_memory(7)) == ((5, 0, 0), 1)


def test_a_store_that_cannot_be_used_is_not_one_without_a_state() -> None:
    threads = []

    def failing(error: Exception) -> Any:
        def read_summary(_key: SharePartitionKey) -> Any:
            threads.append(threading.current_thread().name)
            raise error

        return SimpleNamespace(read_summary=read_summary)

    with pytest.raises(StoreError, match="full"):
        shown(failing(StoreError("the disk is full")), in_memory(5))
    assert shown(failing(InvalidRequestError("no"))) == ((-1, -1, 0), 0)
    assert all(name.startswith("disk") for name in threads)
