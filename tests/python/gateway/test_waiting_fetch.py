"""A fetch that waits takes records once, and knows which share partitions could have given some."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway.requests import Client
from share_state.gateway.waiting_fetch import WaitingFetch


class _Served:
    """A share partition that always has one record more."""

    def __init__(self, *, can_acquire: bool = True) -> None:
        self.is_ready = True
        self.error_code = 0
        self.asked = 0
        self.engine = SimpleNamespace(can_acquire=lambda: can_acquire)
        self.reader = SimpleNamespace(isolation=0, deliver=self._deliver)

    def _deliver(self, *_: object, **__: object) -> Any:
        self.asked += 1
        return SimpleNamespace(record_count=1, nbytes=1)


_MANAGER = cast("Any", SimpleNamespace(holds=lambda *_: None, writes=SimpleNamespace(is_closed=False)))
_ANSWERS = cast("Any", SimpleNamespace(allowed=lambda: 1 << 20, hold=lambda *_: None))


def _fetch(*partitions: _Served, max_records: int = 1) -> WaitingFetch:
    return WaitingFetch(
        cast("Any", list(partitions)),
        "m",
        max_records=max_records,
        batch_size=1,
        mode=0,
        max_bytes=1000,
        min_bytes=1,
        client=cast("Client", None),
        answers=_ANSWERS,
    )


def test_a_fetch_that_is_woken_twice_takes_records_once() -> None:
    served = _Served()
    fetch = _fetch(served)
    assert fetch.attempt(_MANAGER)
    assert fetch.attempt(_MANAGER)
    assert served.asked == 1


@pytest.mark.parametrize("max_records", [1, 10])
def test_a_partition_that_could_give_records_is_listed_whether_or_not_it_did(max_records: int) -> None:
    first, second, full = _Served(), _Served(), _Served(can_acquire=False)
    fetch = _fetch(first, full, second, max_records=max_records)
    assert fetch.attempt(_MANAGER)
    assert [first, second] == cast("Any", fetch.acquirable)
