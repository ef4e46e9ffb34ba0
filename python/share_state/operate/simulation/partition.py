"""Share partition of a run: the engine, the log that it is fetched from, and what is watched of it."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from share_state._core import AcquiredRange, GroupConfig, ReadStateResult, RecordingPersister, SharePartition, WriteState
from share_state.operate.simulation.arrivals import Arrivals
from share_state.operate.simulation.model import Model
from share_state.operate.simulation.recorded import Place
from share_state.operate.simulation.settings import Settings

__all__ = ["Partition"]


class Partition:
    """A share partition whose records come in time.

    Attributes:
        place: its topic id and partition.
        engine: who decides.
        poison: the records that fail whoever takes them.
        waits: for how long the start offset stood at each of its places, in ms.
    """

    def __init__(self, model: Model, place: Place, settings: Settings, config: GroupConfig, chance: random.Random) -> None:
        self.place = place
        #: Confirms every write at once, and keeps them to be looked at.
        self._persister = RecordingPersister()
        self.engine = SharePartition(model.group, place[0], place[1], config=config, persister=self._persister)
        offsets = model.offsets[place]
        #: Records are numbered without gaps: a member would have to answer for what is no record.
        self._records = len(offsets)
        self.engine.initialize(ReadStateResult(0, 0, []))
        self.poison = {number for number, offset in enumerate(offsets) if model.failures.is_poison(place, offset, chance)}
        self.waits: list[float] = []
        self._settings = settings
        self._batches = _log_batches(self._records, model.log_batch)
        arrivals = model.arrivals.get(place, Arrivals())
        #: Times at which each log batch is there, in ms since the first fetch.
        self._come = [max(0.0, arrivals.of(offsets[last]) - model.begin_ms) for last in self._batches[:, 1]]
        self._there = 0
        self._reach = (settings.max_record_locks + settings.max_poll_records) // model.log_batch + 2
        self._start = 0
        self._since = 0.0

    @property
    def drained(self) -> bool:
        """True once every record is settled."""
        return self.engine.start_offset >= self._records

    def settled(self) -> int:
        """Return how many records are settled."""
        return self.engine.start_offset + self.engine.delivery_complete_count

    def moments(self) -> list[float]:
        """Return when something happens next by itself: locks are due, or records come."""
        due = self.engine.poll_timeout()
        moments = [] if due is None else [float(due)]
        return moments + self._come[self._there : self._there + 1]

    def writes(self) -> list[WriteState]:
        """Take the writes since the last call."""
        return [write for _, write in self._persister.take()]

    def expire(self, now: float) -> None:
        """Let locks expire."""
        self.engine.handle_timeout(now_ms=int(now))

    def arrive(self, now: float) -> None:
        """Let records come."""
        before = self._there
        while self._there < len(self._come) and self._come[self._there] <= now:
            self._there += 1
        if self._there > before and self._start >= self._batches[before, 0]:
            # There was nothing to wait for.
            self._since = now

    def note_start_offset(self, now: float) -> None:
        """Note for how long the start offset stood where it was, once it has moved."""
        start = self.engine.start_offset
        if start != self._start:
            self.waits.append(now - self._since)
            self._start, self._since = start, now

    def acquire(self, member: str, now: float, wanted: int) -> list[AcquiredRange]:
        """Fetch from the log where the engine says, and take what it gives."""
        if not self.engine.can_acquire():
            return []
        fetched = self._fetched(self.engine.next_fetch_offset())
        if not len(fetched):
            return []
        return self.engine.acquire(
            member,
            fetched,
            now_ms=int(now),
            max_records=wanted,
            batch_size=self._settings.max_poll_records,
            mode=self._settings.acquire_mode,
        )

    def _fetched(self, offset: int) -> NDArray[np.int64]:
        """Return the log batches from an offset on that are there, as many as can be of use."""
        first = int(np.searchsorted(self._batches[:, 1], offset))
        return self._batches[first : min(self._there, first + self._reach)]


def _log_batches(records: int, size: int) -> NDArray[np.int64]:
    """Return the first and last record of each log batch: as many as a producer wrote at once."""
    firsts = np.arange(0, records, size, dtype=np.int64)
    return np.stack([firsts, np.minimum(firsts + (size - 1), records - 1)], axis=1)
