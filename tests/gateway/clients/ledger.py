"""Outcome of every record, told from the reports of all members: the books that a share group has to balance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tests.gateway.clients.members import Member

Place = tuple[str, int, int]
#: After these, once answered without an error, a record never comes again.
_SETTLING = frozenset({"ACCEPT", "REJECT"})


class Settled(NamedTuple):
    """A record's end, as the server has confirmed it."""

    kind: str
    #: When the member read the answer, in nanoseconds.
    at: int


class Ledger:
    """Deliveries and confirmed acknowledgements of one group, whose records are archived after ``limit`` deliveries."""

    def __init__(self, limit: int = 5) -> None:
        self.limit = limit
        #: For every record: when, to whom and with which delivery count it was delivered.
        self.deliveries: dict[Place, list[tuple[int, int, int]]] = defaultdict(list)
        self.settled: dict[Place, Settled] = {}
        self.outcomes: Counter[tuple[str, int | None]] = Counter()

    @classmethod
    def of(cls, members: Iterable[Member]) -> Ledger:
        """The books of these members."""
        ledger = cls()
        for member in members:
            ledger.add(member)
        return ledger

    def add(self, member: Member) -> None:
        """Enter the report of one member."""
        asked: dict[Place, list[str]] = defaultdict(list)
        for event in member.events:
            for topic, partition, offset, *more in event.get("records", ()):
                place = (topic, partition, offset)
                if event["event"] == "received":
                    self.deliveries[place].append((event["at"], member.number, more[0]))
                    if not member.plan.explicit:
                        asked[place].append("ACCEPT")
                elif event["event"] == "acknowledging":
                    asked[place].append(more[0])
                elif event["event"] == "acknowledged":
                    # The client acknowledges by itself, as GAP, what holds no record.
                    kind = asked[place].pop(0) if asked[place] else "GAP"
                    self.outcomes[kind, event["error"]] += 1
                    if event["error"] is None and kind in _SETTLING:
                        self.settled.setdefault(place, Settled(kind, event["at"]))

    def fates(self) -> dict[Place, tuple[int, str]]:
        """Number of deliveries of each record, and its end: the same on every server as long as no lock runs out."""
        return {
            place: (max(count for _, _, count in given), self.settled[place].kind if place in self.settled else "EXHAUSTED")
            for place, given in self.deliveries.items()
        }

    def lost(self, produced: Iterable[Place]) -> list[Place]:
        """Records that nobody was given."""
        return sorted(place for place in produced if place not in self.deliveries)

    def open(self, produced: Iterable[Place]) -> list[Place]:
        """Records that are neither settled by a confirmed acknowledgement nor out of deliveries."""
        return sorted(place for place in produced if place not in self.settled and not self._is_exhausted(place))

    def _is_exhausted(self, place: Place) -> bool:
        return any(count >= self.limit for _, _, count in self.deliveries.get(place, ()))

    def came_again(self) -> list[Place]:
        """Records that were delivered after the member that settled them had read the answer: there must be none, ever."""
        return sorted(
            place for place, settled in self.settled.items() if any(at > settled.at for at, _, _ in self.deliveries[place])
        )

    def held_twice(self) -> list[Place]:
        """Records that were given out twice at the same delivery count: none while the server has not been restarted."""
        return sorted(
            place
            for place, given in self.deliveries.items()
            if any(times > 1 for times in Counter(count for _, _, count in given).values())
        )
