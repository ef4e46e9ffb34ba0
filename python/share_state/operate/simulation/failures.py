"""Endings of deliveries that are answered in time: accepted, released or rejected, and by whose fault."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from share_state.operate.simulation.polls import Poll
from share_state.operate.simulation.recorded import End, Place, Recorded

__all__ = ["Failures", "fit_failures"]

#: Rounds of the estimate; it stands still long before.
_ROUNDS: Final = 200


@dataclass(slots=True)
class Failures:
    """Some records are poison and are released by whoever takes them; any other delivery fails with a small chance.

    Attributes:
        poison: the part of the records that is poison.
        release: the chance of another delivery to be released.
        reject: the chance of another delivery to be rejected.
        releases: how often each record was released that was never accepted; by share partition and offset.
        accepted: how many records were accepted or rejected: those are no poison.
    """

    poison: float = 0.0
    release: float = 0.0
    reject: float = 0.0
    releases: Mapping[Place, Mapping[int, int]] = field(default_factory=dict)
    settled: Mapping[Place, frozenset[int]] = field(default_factory=dict)

    def is_poison(self, place: Place, offset: int, chance: random.Random) -> bool:
        """Draw whether a record is poison, by what became of it."""
        if offset in self.settled.get(place, ()):
            return False
        released = self.releases.get(place, {}).get(offset, 0)
        bad, good = self.poison, (1 - self.poison) * self.release**released
        return chance.random() * (bad + good) < bad

    def describe(self) -> dict[str, float]:
        """Return the chances."""
        return {
            "poison_records": round(self.poison, 6),
            "release_chance": round(self.release, 6),
            "reject_chance": round(self.reject, 6),
        }


def fit_failures(recorded: Recorded, expired: Iterable[Poll], delivery_limit: int) -> Failures:
    """Estimate the chances from what became of each record; deliveries whose lock expired are no failures of this kind.

    The number of releases of a record is a mixture: of poison, which is released until the limit, and of chance. The two are told
    apart by expectation and maximisation.
    """
    out = {(place, offset, ending.delivery_count) for poll in expired for place, ending in poll.endings
           for offset in range(ending.first_offset, ending.last_offset + 1)}  # fmt: skip
    released: dict[Place, Counter[int]] = defaultdict(Counter)
    settled: dict[Place, set[int]] = defaultdict(set)
    accepts = rejects = 0
    for write, ending in recorded:
        for offset in range(ending.first_offset, ending.last_offset + 1):
            at_limit = ending.delivery_count >= delivery_limit
            if ending.end is End.RETURNED or (ending.end is End.ARCHIVED and at_limit):
                if (write.place, offset, ending.delivery_count) not in out:
                    released[write.place][offset] += 1
            else:
                settled[write.place].add(offset)
                accepts += ending.end is End.ACCEPTED
                rejects += ending.end is End.ARCHIVED
    records = sum(map(len, recorded.counts.values()))
    never = {place: {offset: times for offset, times in counts.items() if offset not in settled[place]}
             for place, counts in released.items()}  # fmt: skip
    times = Counter(count for counts in never.values() for count in counts.values())
    by_chance = sum(counts.total() for counts in released.values()) - sum(count * much for count, much in times.items())
    poison, release = _mixture(times, by_chance, accepts + rejects, records)
    reject = rejects / (accepts + rejects) * (1 - release) if rejects else 0.0
    return Failures(poison, release, reject, never, {place: frozenset(offsets) for place, offsets in settled.items()})


def _mixture(never_settled: Mapping[int, int], released_and_settled: int, settlings: int, records: int) -> tuple[float, float]:
    """Return the part of the records that is poison, and the chance of a release of others.

    ``never_settled`` counts records by their releases.
    """
    count = sum(never_settled.values())
    if count == 0:
        return 0.0, released_and_settled / max(1, released_and_settled + settlings)
    poison, release = count / records, max(released_and_settled, 1) / max(1, released_and_settled + settlings)
    for _ in range(_ROUNDS):
        guilt = {times: poison / (poison + (1 - poison) * release**times) for times in never_settled}
        guilty = sum(much * guilt[times] for times, much in never_settled.items())
        unlucky = released_and_settled + sum(much * times * (1 - guilt[times]) for times, much in never_settled.items())
        poison, release = guilty / records, unlucky / max(1.0, unlucky + settlings)
        if poison == 0:
            break
    return poison, release
