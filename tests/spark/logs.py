"""State logs on disk that grow under a reader, written by the engine's own store."""

from __future__ import annotations

import random
from pathlib import Path

import share_state as ss
from share_state.arguments import Compression

#: Small enough that a few dozen records fill a segment.
_SEGMENT_BYTES = 4096
TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"


class GrowingLog:
    """A few share partitions whose records are acquired, accepted, released and archived; the same for the same seed."""

    def __init__(self, path: Path, *, partitions: int, keys: int = 6, seed: int = 1, compression: Compression = "none") -> None:
        self.path = path
        self._compression = compression
        self._partitions = partitions
        self._random = random.Random(seed)  # noqa: S311  a workload, not a secret
        self._ms = 1_795_000_000_000
        self._keys = [("g-" + "abc"[number % 3], TOPIC_ID, number) for number in range(keys)]
        self._next: dict[tuple[str, str, int], int] = {}

    def write(self, count: int) -> None:
        """Write so many changes more."""
        with ss.open(
            self.path,
            partitions=self._partitions,
            sync="never",
            segment_bytes=_SEGMENT_BYTES,
            compression=self._compression,
            snapshot_update_records_per_snapshot=7,
        ) as store:
            for _ in range(count):
                self._one(store)

    def segments(self) -> list[Path]:
        """The segments of all state partitions."""
        return sorted(self.path.glob("__share_group_state-*/*.log"))

    def drop_oldest_segments(self) -> None:
        """Leave each state partition its last segment."""
        for folder in self.path.glob("__share_group_state-*"):
            for segment in sorted(folder.glob("*.log"))[:-1]:
                segment.unlink()

    def _one(self, store: ss.StateStore) -> None:
        key = self._random.choice(self._keys)
        self._ms += self._random.randrange(1, 2000)
        if key not in self._next:
            self._next[key] = self._random.randrange(100)
            store.reset_state(key, 1, self._next[key], wall_ms=self._ms)
            return
        if self._random.random() < 0.02:
            del self._next[key]
            store.delete_state(key, wall_ms=self._ms)
            return
        start = self._next[key]
        first = start + self._random.randrange(8)
        last = first + self._random.randrange(4)
        state = self._random.choice([0, 0, 2, 2, 2, 4])
        advance = start + self._random.choice([0, 0, 1, 3])
        self._next[key] = advance
        batches = [(first, last, state, self._random.randrange(1, 5))]
        store.write_state(key, ss.WriteState(1, 0, advance, -1, batches), wall_ms=self._ms)
