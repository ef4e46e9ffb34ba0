"""The offsets of dead letters by partition of the source: each once, in order, in 16 bytes a dead letter."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from share_state.operate.dead_letters.dead_letter import DeadLetter

__all__ = ["Interval", "Intervals", "without"]


class Interval(NamedTuple):
    """Consecutive offsets of a partition, inclusive."""

    topic: str
    partition: int
    first: int
    last: int


class Intervals:
    """A set of offsets. A record that was dead-lettered twice is in it once."""

    def __init__(self, letters: Iterable[DeadLetter] = ()) -> None:
        self._pairs: dict[tuple[str, int], array[int]] = {}
        for letter in letters:
            self.add(letter)

    def add(self, letter: DeadLetter) -> None:
        """Add the offsets of a dead letter."""
        pairs = self._pairs.setdefault((letter.topic, letter.partition), array("q"))
        if pairs and pairs[-2] <= letter.first_offset <= pairs[-1] + 1:
            # As a queue tells of them: one after the other.
            pairs[-1] = max(pairs[-1], letter.last_offset)
        else:
            pairs.extend((letter.first_offset, letter.last_offset))

    def __iter__(self) -> Iterator[Interval]:
        """Return disjoint intervals in order of topic, partition and offset."""
        for (topic, partition), pairs in sorted(self._pairs.items()):
            begun: tuple[int, int] | None = None
            for first, last in sorted(zip(pairs[::2], pairs[1::2], strict=True)):
                if begun is not None and first <= begun[1] + 1:
                    begun = begun[0], max(begun[1], last)
                    continue
                if begun is not None:
                    yield Interval(topic, partition, *begun)
                begun = first, last
            if begun is not None:
                yield Interval(topic, partition, *begun)

    def count(self) -> int:
        """Count the offsets."""
        return sum(one.last - one.first + 1 for one in self)


def without(one: Interval, done: Sequence[int]) -> Iterator[Interval]:
    """Return what is left of an interval without some offsets, which are in order."""
    first = one.first
    for place in range(bisect_left(done, one.first), len(done)):
        offset = done[place]
        if offset > one.last:
            break
        if first < offset:
            yield one._replace(first=first, last=offset - 1)
        first = offset + 1
    if first <= one.last:
        yield one._replace(first=first)
