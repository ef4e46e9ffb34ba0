"""Share partitions whose log was cut upstream: no request sees an old state while theirs is changed."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

import share_state as ss
from share_state.gateway.truncation import Truncation


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("rewinds", [False, True])
def test_states_are_changed_while_nobody_reads_them(caplog: pytest.LogCaptureFixture, fails: bool, rewinds: bool) -> None:
    caplog.set_level(logging.WARNING, "share_state.gateway")
    did: list[Any] = []
    # One may be all that there is: the place is that of the first.
    readers = [SimpleNamespace(topic="t", topic_id="id", partition=3), SimpleNamespace()]

    def truncated(*place: Any) -> int:
        # In the threads that wait for the disk.
        assert threading.current_thread().name.startswith("own")
        did.append(place)
        if fails:
            raise ss.StoreError("it is full")
        return 2

    plane = SimpleNamespace(
        tell=lambda method, *place: did.append((method, *place)), node=SimpleNamespace(truncated="held", let_go="let go")
    )

    async def test() -> None:
        with ThreadPoolExecutor(1, thread_name_prefix="own") as executor:
            store = SimpleNamespace(log_truncated=truncated)
            truncation = Truncation(cast("Any", store), executor, cast("Any", plane), rewinds=rewinds)
            truncation.begin(cast("Any", readers), 10)
            # They are held at once, whenever the store is done.
            assert did == ([("held", "id", 3, 10)] if rewinds else [])
            assert len(truncation._tasks) == rewinds
            await asyncio.gather(*truncation._tasks)
            await asyncio.sleep(0)
            assert truncation._tasks == set()

    asyncio.run(test())
    if not rewinds:
        assert (did, caplog.messages) == ([], [])
        return
    assert did[1:] == [("id", 3, 10), ("let go", "id", 3)]
    said = "states were not truncated at offset 10: it is full" if fails else "the states of 2 groups were truncated at offset 10"
    assert caplog.messages == [f"{said}: topic='t' topic_id='id' partition=3"]
