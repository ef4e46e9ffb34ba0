"""The round of a server with a store."""

from __future__ import annotations

from pathlib import Path

import pytest

import share_state as ss
from share_state import _core
from share_state.util.tidying import tidy

KEY = ss.SharePartitionKey("group", "AAAAAAAAAAAAAAAAAAAAAQ", 0)


class Scripted:
    """A store whose snapshots end as told."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error
        self.pruned = 0

    def cold_snapshots(self) -> int:
        if self.error is not None:
            raise self.error
        return 1

    def prune(self) -> int:
        self.pruned += 1
        return 0


@pytest.mark.parametrize(
    ("error", "warnings"),
    [(None, []), (ss.LimitExceededError("72 bytes"), ["a snapshot was not written: 72 bytes"])],
)
def test_a_state_that_is_too_large_does_not_end_the_round(error: Exception | None, warnings: list[str]) -> None:
    store, told = Scripted(error), list[str]()
    tidy(store, told.append)
    assert (told, store.pruned) == (warnings, 1)


def test_a_store_that_has_failed_ends_it() -> None:
    store, told = Scripted(ss.StoreError("failed")), list[str]()
    with pytest.raises(ss.StoreError, match="failed"):
        tidy(store, told.append)
    assert (told, store.pruned) == ([], 0)


def test_a_round_of_a_store_that_is_open(tmp_path: Path) -> None:
    with _core.StateStore(tmp_path / "store") as store:
        store.reset_state(KEY, 0, 0)
        tidy(store, pytest.fail)
