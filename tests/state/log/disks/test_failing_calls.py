"""Each system call of a real process fails once: nothing that it confirmed is lost."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from tests.state.log.disks.life import GROUPS
from tests.state.log.disks.shim import compiled, lives


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("shim"))


def groups(path: Path) -> list[str]:
    """Groups with a state, without the shim; a directory in which nothing was made yet has none."""
    with ss.open(path, segment_bytes=1024) as store:
        return sorted((state["group"] for state in store.states()), key=GROUPS.index)


@pytest.mark.parametrize("kind", [errno.EIO, errno.ENOSPC])
def test_a_call_that_fails_loses_nothing_that_was_confirmed(library: Path, tmp_path: Path, kind: int) -> None:
    *failed, whole = lives(library, tmp_path, kind)
    assert len(failed) > 100
    assert whole["failure"] is None
    assert whole["confirmed"] == GROUPS
    for life in failed:
        check(life, tmp_path, kind)
    assert sum(life["failure"] is not None for life in failed) > 90


def check(life: dict[str, Any], root: Path, kind: int) -> None:
    confirmed, failure = life["confirmed"], life["failure"]
    found = groups(root / str(life["at"]))
    assert found[: len(confirmed)] == confirmed, life
    # Perhaps the one in flight as well.
    assert found in (GROUPS[: len(confirmed)], GROUPS[: len(confirmed) + 1]), life
    if failure is None:
        # Not every call has a consequence: the process id in the lock file only tells a reader.
        assert confirmed == GROUPS, life
        return
    assert failure["type"] == "StoreError", life
    assert failure["errno"] == kind, life
    assert str(root / str(life["at"])) in failure["text"], life


def test_a_write_or_read_that_does_half_is_gone_on_with(library: Path, tmp_path: Path) -> None:
    *halves, whole = lives(library, tmp_path, 0)
    assert len(halves) > 100
    for life in [*halves, whole]:
        assert (life["confirmed"], life["failure"]) == (GROUPS, None)
        assert groups(tmp_path / str(life["at"])) == GROUPS
