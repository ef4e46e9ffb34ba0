"""Readings in the background: one at a time, kept for a while, given up when nobody wants them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import share_state as ss
from share_state.operate import analysis
from share_state.operate.reading.failures import ClusterReadError
from share_state.operate.web import background as module
from share_state.operate.web.background import Background, Progress, StoppedError
from share_state.operate.web.past import read_past
from share_state.operate.web.source import Key, Place, Source
from tests.operate.web.made_up import TOPIC_ID, WORKERS
from tests.recordings import ORDERS

KEY: Key = (WORKERS, TOPIC_ID, 1)


class Reader:
    """A reading that a test lets go on."""

    def __init__(self) -> None:
        self.began = 0
        self.go_on = threading.Semaphore(0)
        self.failure: Exception | None = None
        self.at_once = 0
        self.most_at_once = 0

    def __call__(self, progress: Progress) -> int:
        self.began += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            progress(1, 4)
            assert self.go_on.acquire(timeout=30)
            progress(2, 4)
            if self.failure is not None:
                raise self.failure
            return self.began
        finally:
            self.at_once -= 1


async def test_a_reading_that_takes_long_is_told_of_and_then_there() -> None:
    reader = Reader()
    background = Background(patience=0.05)
    told = await background.tell(KEY, reader)
    while told.progress == (0, 0):
        told = await background.tell(KEY, reader)
    assert (told.found, told.failure, told.progress) == (None, None, (1, 4))
    reader.go_on.release()
    while told.found is None:
        told = await background.tell(KEY, reader)
    assert (told.found, told.failure, told.progress) == (1, None, None)
    # It is kept: nothing is read again.
    assert (await background.tell(KEY, reader)).found is told.found
    assert reader.began == 1
    await background.close()


async def test_what_is_old_is_read_again_and_shown_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader()
    background = Background(patience=0.05)
    reader.go_on.release()
    while (told := await background.tell(KEY, reader)).progress is not None:
        assert told.found is None
    assert told.found == 1
    with monkeypatch.context() as patch:
        patch.setattr(module, "_KEPT_S", 0.0)
        patch.setattr(module, "_KEPT_TIMES", 0)
        again = await background.tell(KEY, reader)
    assert (again.found, again.failure, again.read_ms) == (1, None, told.read_ms)
    assert again.progress is not None
    reader.go_on.release()
    while (last := await background.tell(KEY, reader)).progress is not None:
        assert last.found == 1
    assert (last.found, reader.began) == (2, 2)
    await background.close()


async def test_a_page_sees_a_reading_before_its_end_or_after_and_no_mixture() -> None:
    reader = Reader()
    threads = set(threading.enumerate())
    background = Background(patience=0.05)
    while (told := await background.tell(KEY, reader)).progress == (0, 0):
        pass
    [thread] = set(threading.enumerate()) - threads
    reader.go_on.release()
    # The thread ends while the event loop stands.
    thread.join(30)
    background.patience = 0
    told = await background.tell(KEY, reader)
    assert (told.found is None) == (told.progress is not None)
    assert (told.found is None) == (told.read_ms is None)
    background.patience = 30
    told = await background.tell(KEY, reader)
    assert (told.found, told.progress) == (1, None)
    await background.close()


async def test_one_is_read_at_a_time_and_those_that_nobody_wants_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader()
    monkeypatch.setattr(module, "_MOST", 2)
    background = Background(patience=0.01)
    for partition in range(4):
        await background.tell((partition,), reader)
    for _ in range(4):
        reader.go_on.release()
    told = await background.tell((3,), reader)
    while told.found is None:
        told = await background.tell((3,), reader)
    assert reader.most_at_once == 1
    # Those that were given up have not begun.
    assert reader.began == 3
    await background.close()


@pytest.mark.parametrize("failure", [ClusterReadError("no broker answers"), PermissionError("not allowed")])
async def test_a_failure_is_told(failure: Exception) -> None:
    reader = Reader()
    reader.failure = failure
    reader.go_on.release()
    background = Background(patience=30)
    told = await background.tell(KEY, reader)
    assert (told.found, told.failure) == (None, str(failure))
    await background.close()


def test_only_the_state_partition_of_the_share_partition_is_read() -> None:
    past = read_past(Source(str(ORDERS)), Place(KEY, 1, (0, 1, 2)), lambda *_: None)
    rows = list(analysis.history(ORDERS, group=WORKERS, topic_id=TOPIC_ID, partition=1))
    assert past.changes_total == len(rows) == 772
    assert list(past.changes) == rows[-200:]
    assert past.starts[-1] == (rows[-1].at_timestamp, 1255)
    assert past.findings == ()
    assert read_past(Source(str(ORDERS)), Place(KEY, 0, (0, 1, 2)), lambda *_: None).changes_total == 0


def test_reading_ends_when_nobody_waits() -> None:
    def stop(_done: int, _total: int) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        read_past(Source(str(ORDERS)), Place(KEY, 1, (0, 1, 2)), stop)


def test_the_end_of_a_copy_that_is_being_written_is_no_damage(tmp_path: Path) -> None:
    with ss.open(tmp_path / "log", partitions=1) as store:
        store.reset_state(ss.SharePartitionKey(*KEY), 0, 0)
    [segment] = (tmp_path / "log" / "__share_group_state-0").glob("*.log")
    whole = segment.read_bytes()
    # A copy has the segments only: nothing says where they end.
    folder = tmp_path / "copy" / "__share_group_state-0"
    folder.mkdir(parents=True)
    (folder / segment.name).write_bytes(whole + whole[: len(whole) // 2])
    past = read_past(Source(str(folder.parent)), Place(KEY, 0, (0,)), lambda *_: None)
    assert (past.changes_total, past.findings) == (1, ())
    (folder / segment.name).write_bytes(whole[:70] + bytes([whole[70] ^ 1]) + whole[71:] + whole)
    assert read_past(Source(str(folder.parent)), Place(KEY, 0, (0,)), lambda *_: None).findings != ()
