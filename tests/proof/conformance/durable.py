"""State to which a sequence of WriteShareGroupState payloads folds, the plain way.

Kafka sends one batch an offset and one request a timer where share_state coalesces, so payloads are not
compared one by one: the states they fold to are. This fold is written on its own (a sweep over the
range borders) so that a fault in share_state's merge cannot hide itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

#: first offset, last offset (inclusive), state id, delivery count
Batch = tuple[int, int, int, int]


def clip(batches: Iterable[Batch], start_offset: int) -> list[Batch]:
    """Without what lies below ``start_offset``; -1 clips nothing."""
    if start_offset == -1:
        return list(batches)
    return [(max(first, start_offset), last, state, count) for first, last, state, count in batches if last >= start_offset]


def merge(batches: Sequence[Batch]) -> list[Batch]:
    """Each offset's highest (delivery count, state), sorted and coalesced."""
    borders = sorted({border for first, last, _, _ in batches for border in (first, last + 1)})
    best: list[tuple[int, int] | None] = [None] * len(borders)
    for first, last, state, count in batches:
        for index in range(bisect_left(borders, first), bisect_left(borders, last + 1)):
            held = best[index]
            if held is None or held < (count, state):
                best[index] = (count, state)
    merged: list[Batch] = []
    for index, value in enumerate(best):
        if value is None:
            continue
        count, state = value
        first, last = borders[index], borders[index + 1] - 1
        if merged and merged[-1][1] + 1 == first and merged[-1][2:] == (state, count):
            merged[-1] = (merged[-1][0], last, state, count)
        else:
            merged.append((first, last, state, count))
    return merged


class DurableFold:
    """The state a coordinator would hold after the payloads seen so far."""

    def __init__(self, start_offset: int, batches: Iterable[Batch]) -> None:
        self.start_offset = start_offset
        self.batches = merge(list(batches))
        self.writes = 0

    def write(self, start_offset: int, batches: Iterable[Batch]) -> None:
        """Fold one payload in; the start offset never goes back (the 4.4 rule)."""
        self.writes += 1
        self.start_offset = max(self.start_offset, start_offset)
        self.batches = merge(clip([*self.batches, *batches], self.start_offset))

    def from_offset(self, start_offset: int) -> list[Batch]:
        """The folded batches, clipped further to ``start_offset``."""
        return clip(self.batches, start_offset)
