"""Persisted state, offset by offset, merged by the plainest rule: what the store and the other engines are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from share_state import WriteState

_REQUEST_BYTES = 51
_BATCH_BYTES = 20


class Durable:
    """Greatest delivery count × 8 + state that was persisted of each offset, and the amount of what was written."""

    def __init__(self, partitions: int) -> None:
        self.codes: list[NDArray[np.uint32]] = [np.zeros(0, np.uint32) for _ in range(partitions)]
        self.base = [0] * partitions
        self.writes = self.batches = self.bytes = 0

    def count(self, state: WriteState) -> list[tuple[int, int, int, int]]:
        batches = state.state_batches
        self.writes += 1
        self.batches += len(batches)
        self.bytes += _REQUEST_BYTES + -(-(len(batches) + 1).bit_length() // 7) + _BATCH_BYTES * len(batches)
        return [(b.first_offset, b.last_offset, b.delivery_state, b.delivery_count) for b in batches]

    def keep(self, partition: int, start: int, batches: list[tuple[int, int, int, int]]) -> None:
        codes, base = self.codes[partition], self.base[partition]
        below = start - base
        if below >= len(codes):
            codes, base = np.zeros(0, np.uint32), max(base, start)
        elif below > len(codes) // 2:
            codes, base = codes[below:].copy(), start
        for first, last, state, count in batches:
            begin, end = max(0, first - base), max(0, last + 1 - base)
            if len(codes) < end:
                codes = np.concatenate([codes, np.zeros(max(end - len(codes), len(codes) // 2), np.uint32)])
            np.maximum(codes[begin:end], count << 3 | state, out=codes[begin:end])
        self.codes[partition], self.base[partition] = codes, base

    def read(self, partition: int, start: int) -> list[tuple[int, int, int, int]]:
        base = self.base[partition]
        begin = max(0, start - base)
        codes = self.codes[partition][begin:]
        if not len(codes):
            return []
        cuts = np.flatnonzero(np.diff(codes)) + 1
        firsts = np.concatenate([[0], cuts])
        lasts = np.concatenate([cuts, [len(codes)]]) - 1
        offset = base + begin
        runs = zip(firsts.tolist(), lasts.tolist(), codes[firsts].tolist(), strict=True)
        return [(offset + first, offset + last, code & 7, code >> 3) for first, last, code in runs if code]
