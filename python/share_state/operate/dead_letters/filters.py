"""Choice of dead letters: by cause, time, topic, partition and offset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from share_state.errors import ConfigError
from share_state.operate.dead_letters.dead_letter import Cause, DeadLetter

__all__ = ["Filter"]

#: Kafka's partitions are int32, its offsets int64.
_MOST_PARTITION = 2**31 - 1
_MOST_OFFSET = 2**63 - 1


class Filter(NamedTuple):
    """Conditions that a dead letter has to meet; None takes all.

    Attributes:
        causes: one of these.
        since: dead-lettered at this time or later, in ms since the epoch.
        until: dead-lettered before this time, in ms since the epoch.
        topic: of this source topic.
        partition: of this partition of the source topic.
        first_offset: at this offset of the source or later.
        last_offset: at this offset of the source or earlier.
    """

    causes: frozenset[Cause] | None = None
    since: int | None = None
    until: int | None = None
    topic: str | None = None
    partition: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None

    def check(self) -> Filter:
        """Return the same filter, if it can take anything.

        Raises:
            ConfigError: a number is none of Kafka's, or a range ends before it begins; ``field`` names it.
        """
        for name, most in (("partition", _MOST_PARTITION), ("first_offset", _MOST_OFFSET), ("last_offset", _MOST_OFFSET)):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= most:
                raise ConfigError(f"{name} is {value}; expected 0 to {most}", field=name, value=value, minimum=0, maximum=most)
        for first, last in (("since", "until"), ("first_offset", "last_offset")):
            begin, end = getattr(self, first), getattr(self, last)
            if begin is not None and end is not None and end < begin:
                raise ConfigError(f"{last} is {end}, before {first}, {begin}", field=last, value=end)
        return self

    def chosen(self, letters: Iterable[DeadLetter]) -> Iterator[DeadLetter]:
        """Return of each letter the part that is asked for."""
        return (found for letter in letters if (found := self.within(letter)) is not None)

    def within(self, letter: DeadLetter) -> DeadLetter | None:
        """Return what of a dead letter is meant: all, the part of its offsets that the filter takes, or None."""
        if not (self._takes_place(letter) and self._takes_time(letter.timestamp)):
            return None
        if self.causes is not None and letter.cause not in self.causes:
            return None
        first = letter.first_offset if self.first_offset is None else max(letter.first_offset, self.first_offset)
        last = letter.last_offset if self.last_offset is None else min(letter.last_offset, self.last_offset)
        if first > last:
            return None
        return letter._replace(first_offset=first, last_offset=last)

    def _takes_place(self, letter: DeadLetter) -> bool:
        if self.topic is not None and self.topic not in {letter.topic, letter.topic_id}:
            return False
        return self.partition is None or letter.partition == self.partition

    def _takes_time(self, timestamp: int) -> bool:
        return (self.since is None or timestamp >= self.since) and (self.until is None or timestamp < self.until)
