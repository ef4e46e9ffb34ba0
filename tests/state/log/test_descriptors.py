"""Files of a store are closed again: with `close`, on errors, and where a directory is refused."""

from __future__ import annotations

import contextlib
import gc
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import share_state as ss
from share_state._core import ShareGroupStore
from share_state.errors import CorruptLogError, ShareStateError, StoreError
from share_state.operate.analysis import fold_path, history, scan_path, states

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
KEY = ss.SharePartitionKey("workers", TOPIC, 0)


def opened(path: Path) -> set[str]:
    """The files below a directory that this process holds open."""
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        # The descriptor by which this loop reads is closed after it.
        with contextlib.suppress(FileNotFoundError):
            found.add(str(number.readlink()))
    return {link for link in found if link.startswith(str(path))}


def filled(path: Path, **settings: object) -> ss.StateStore:
    store = ss.open(path, partitions=3, segment_bytes=16_384, **settings)  # type: ignore[arg-type] # of a test
    for number in range(400):
        store.reset_state(KEY._replace(partition=number % 50), 1, number)
    return store


@pytest.mark.parametrize("sync", ["always", "interval", "never"])
def test_a_closed_store_holds_nothing_open(sync: str, tmp_path: Path) -> None:
    store = filled(tmp_path / "state", sync=sync)
    share_partition = store.lead(KEY, inline=True)
    assert len(opened(tmp_path)) == 4
    store.close()
    assert opened(tmp_path) == set()
    store.close()
    # It is still there, and only closed.
    assert share_partition.persister is store
    for call in (store.states, lambda: store.lead(KEY), store.flush, store.prune):
        with pytest.raises(StoreError, match="closed"):
            call()
    with ss.open(tmp_path / "state") as again:
        assert len(again.states()) == 50


@pytest.mark.parametrize("fault", ["file", "directory"])
def test_a_store_that_fails_as_it_is_closed_holds_nothing_open(fault: str, tmp_path: Path) -> None:
    store = filled(tmp_path / "state", sync="never")
    gone = tmp_path / "state"
    if fault == "file":
        # What is written over the note of the end cannot be made.
        (gone / "share-state.meta.new").mkdir()
    else:
        shutil.rmtree(gone)
    with pytest.raises(StoreError):
        store.close()
    assert opened(tmp_path) == set()


def test_a_dropped_store_holds_nothing_open(tmp_path: Path) -> None:
    filled(tmp_path / "state")
    gc.collect()
    assert opened(tmp_path) == set()


def damage(path: Path) -> None:
    segment = min(path.glob("__share_group_state-1/*.log"))
    bytes_ = bytearray(segment.read_bytes())
    bytes_[len(bytes_) // 2] ^= 0xFF
    segment.write_bytes(bytes_)


def test_a_refused_directory_is_not_held_open(tmp_path: Path) -> None:
    path = tmp_path / "state"
    filled(path).close()
    with pytest.raises(ShareStateError):
        ss.open(path, partitions=7)
    assert opened(tmp_path) == set()
    damage(path)
    for _ in range(3):
        with pytest.raises(CorruptLogError) as refused:
            ss.open(path)
        # The exception itself may be kept.
        assert (type(refused.value), opened(tmp_path)) == (CorruptLogError, set())

    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ss.open(path, progress=stop)
    assert opened(tmp_path) == set()
    ss.open(path, repair=True).close()
    assert opened(tmp_path) == set()


def test_readers_hold_nothing_open_once_they_are_through(tmp_path: Path) -> None:
    path = tmp_path / "state"
    filled(path).close()
    reads: list[Callable[[Path], object]] = [
        lambda path: list(states(path)),
        lambda path: list(history(path)),
        lambda path: list(scan_path(path)),
        fold_path,
    ]
    for damaged in (False, True):
        for read in reads:
            try:
                read(path)
            except ShareStateError:
                assert damaged
            assert opened(tmp_path) == set()
        if not damaged:
            damage(path)


def test_share_groups_hold_nothing_open_once_they_are_closed(tmp_path: Path) -> None:
    groups = ShareGroupStore(tmp_path / "groups")
    assert opened(tmp_path)
    groups.close()
    assert opened(tmp_path) == set()
