"""A file system without room, and a process whose files may not grow: typed errors, and nothing confirmed is lost."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import share_state as ss
from share_state.errors import StoreError

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
ROOM = 128 << 10


def key(number: int) -> ss.SharePartitionKey:
    return ss.SharePartitionKey("orders-workers", TOPIC, number)


def until_full(store: ss.StateStore) -> tuple[int, StoreError]:
    """Number of states that were confirmed, and the error that ended it."""
    for number in range(100_000):
        try:
            store.reset_state(key(number), 0, number, wall_ms=1)
        except StoreError as error:
            return number, error
    raise AssertionError("there is room for everything")


def states(path: Path) -> dict[int, int]:
    with ss.open(path) as store:
        return {state["partition"]: state["start_offset"] for state in store.states()}


@contextmanager
def small_file_system(folder: Path) -> Iterator[None]:
    """A tmpfs at `folder`, where root may mount one."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False, timeout=60)
    if mounted.returncode != 0:
        if os.environ.get("CI") == "true":
            pytest.fail(f"a file system cannot be mounted: {mounted.stderr}")
        pytest.skip(f"a file system cannot be mounted: {mounted.stderr}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=60)


def test_a_full_file_system_loses_nothing_and_goes_on_with_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_file_system(disk):
        path = disk / "store"
        ballast = disk / "ballast"
        ballast.write_bytes(b"\0" * (ROOM // 2))
        store = ss.open(path)
        confirmed, failure = until_full(store)
        assert confirmed > 100
        assert failure.errno == errno.ENOSPC
        assert str(path) in str(failure)
        with pytest.raises(StoreError) as again:
            store.states()
        assert again.value.errno == errno.ENOSPC
        with pytest.raises(StoreError):
            store.close()
        # Opening writes a file of its own, for which there is no room either.
        ballast.unlink()
        found = states(path)
        assert len(found) in (confirmed, confirmed + 1)
        assert found == {number: number for number in range(len(found))}
        with ss.open(path) as store:
            store.reset_state(key(50_000), 0, 50_000, wall_ms=1)
        assert len(states(path)) == len(found) + 1


LIMITED = """
import json, resource, signal, sys
from pathlib import Path
import share_state as ss
from tests.state.log.disks.test_full_disk import until_full
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = ss.open(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
confirmed, failure = until_full(store)
print(json.dumps([confirmed, failure.errno, str(failure)]))
"""


@pytest.mark.parametrize("size", [1_000, 5_001, 20_003, 20_137])
def test_a_file_that_may_not_grow_loses_nothing(tmp_path: Path, size: int) -> None:
    path = tmp_path / "store"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    program = [sys.executable, "-c", LIMITED, str(path), str(size)]
    ran = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120)
    confirmed, number, text = json.loads(ran.stdout)
    assert confirmed > 5
    assert number == errno.EFBIG
    assert str(path) in text
    found = states(path)
    assert len(found) in (confirmed, confirmed + 1)
    assert found == {number: number for number in range(len(found))}
