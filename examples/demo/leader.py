"""The engine and its log as the workers see them: what was confirmed is durable.

The engine decides at once and hands out what is to be written. One thread carries the writes to the log, in order, and
the answers back; only then does a worker hear that its acknowledgement was taken.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import TypeAlias

from share_state import AcknowledgeType, AcquiredRange, AcquireMode, SharePartition
from share_state.errors import PersisterError
from share_state.persister import Persister, drain_writes

#: First offset, last offset, and a type for each record between them.
Acknowledgement: TypeAlias = tuple[int, int, Sequence[AcknowledgeType]]

#: Records a log batch of the topic: the topic itself was not recorded, so its batches are made up.
_LOG_BATCH = 25
#: Number of log batches that a fetch reads.
_FETCHED_BATCHES = 4
#: Seconds to wait before looking again for a record that became available or a lock that ran out.
_LOOK_AGAIN_SECONDS = 0.02


class Leader:
    """Leads one share partition. Any thread may call it; one thread must run `write`."""

    def __init__(self, share_partition: SharePartition, persister: Persister, *, log_end: int) -> None:
        self._engine = share_partition
        self._persister = persister
        self._log_end = log_end
        #: Guards `_waiting`; notified when records may have become available.
        self._changed = threading.Condition()
        self._waiting: dict[int, Future[int]] = {}
        self._to_write = threading.Event()

    @property
    def finished(self) -> bool:
        """True if every record up to the end of the topic's log is settled."""
        return self._engine.start_offset >= self._log_end

    def acquire(self, member: str, max_records: int) -> list[AcquiredRange]:
        """Wait for records and lock them for `member`; none means that there is nothing left to do."""
        with self._changed:
            while not self.finished:
                fetch_offset = self._engine.next_fetch_offset()
                acquired = self._engine.acquire(
                    member,
                    self._fetch(fetch_offset),
                    now_ms=_now_ms(),
                    max_records=max_records,
                    mode=AcquireMode.RECORD_LIMIT,
                    fetch_offset=fetch_offset,
                )
                if acquired:
                    return acquired
                self._changed.wait(_LOOK_AGAIN_SECONDS)
        return []

    def acknowledge(self, member: str, batches: Sequence[Acknowledgement]) -> bool:
        """Acknowledge records; return once that is durable.

        False when there was nothing to write: all of the records were settled by others long ago.

        Raises:
            InvalidRecordStateError: `member` does not hold the records; nothing has changed.
            PersisterError: the log refused the write; the records are as before.
        """
        with self._changed:
            # The token is known to `write` before it can look for it: both hold the lock.
            token = self._engine.acknowledge_batches(member, batches, now_ms=_now_ms())
            if token is None:
                return False
            answer = self._waiting[token] = Future[int]()
        self._to_write.set()
        if code := answer.result():
            raise PersisterError("the log refused the write", kafka_code=code)
        return True

    def renew(self, member: str, held: Sequence[AcquiredRange]) -> None:
        """Start the locks of `member` again. A lock is never persisted, so there is nothing to wait for."""
        for run in held:
            self._engine.acknowledge(member, run.first_offset, run.last_offset, AcknowledgeType.RENEW, now_ms=_now_ms())

    def write(self) -> None:
        """Carry writes to the log and answers to the workers until all is settled."""
        while not self.finished:
            self._to_write.wait(_LOOK_AGAIN_SECONDS)
            self._to_write.clear()
            self._engine.handle_timeout(now_ms=_now_ms())
            answers = drain_writes(self._engine, self._persister, now_ms=_now_ms())
            with self._changed:
                for token, code in answers.items():
                    # Nobody waits for the write of locks that ran out.
                    if answer := self._waiting.pop(token, None):
                        answer.set_result(code)
                self._changed.notify_all()

    def _fetch(self, offset: int) -> list[tuple[int, int]]:
        """Return the log batches from the one that holds `offset` on."""
        base = offset - offset % _LOG_BATCH
        end = min(base + _FETCHED_BATCHES * _LOG_BATCH, self._log_end)
        return [(first, min(first + _LOG_BATCH, self._log_end) - 1) for first in range(base, end, _LOG_BATCH)]


def _now_ms() -> int:
    """Read the clock of the locks."""
    return time.monotonic_ns() // 1_000_000
