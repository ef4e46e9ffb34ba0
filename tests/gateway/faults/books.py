"""Books of who holds which record and what was confirmed: an entry that must never be is an error at once."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

ACCEPT, RELEASE, REJECT = 1, 2, 3


class Place(NamedTuple):
    """A record by the id of its topic, its partition and its offset."""

    topic_id: str
    partition: int
    offset: int


class Books:
    """The deliveries and acknowledgements of one group."""

    def __init__(self) -> None:
        #: Holder of a record, by the member's name.
        self.holders: dict[Place, str] = {}
        #: End of a record, as the gateway has confirmed it.
        self.settled: dict[Place, int] = {}
        #: Acknowledgements that were sent and not answered: they may have been taken or not.
        self.unheard: set[Place] = set()
        #: Acknowledgements that were not taken, with Kafka's code.
        self.refused: list[tuple[Place, int]] = []
        self.deliveries: Counter[Place] = Counter()
        self.values: dict[Place, bytes | None] = {}

    def deliver(self, place: Place, value: bytes | None, member: str) -> None:
        """A member was given a record."""
        assert place not in self.holders, f"{place} is given to {member} while {self.holders[place]} has it"
        assert place not in self.settled, f"{place} is given to {member} after it was settled"
        self.holders[place] = member
        self.deliveries[place] += 1
        self.values[place] = value

    def send(self, place: Place) -> None:
        """A member acknowledges a record."""
        self.unheard.add(place)

    def confirm(self, place: Place, kind: int, member: str, code: int) -> None:
        """The gateway has answered an acknowledgement; one that it has refused leaves the record with its holder."""
        self.unheard.discard(place)
        if code != 0:
            self.refused.append((place, code))
            return
        assert self.holders.pop(place, None) == member, (
            f"an acknowledgement of {place} by {member}, who does not hold it, is taken"
        )
        if kind != RELEASE:
            self.settled[place] = kind

    def let_go(self, member: str) -> None:
        """Frees the records that a member held: its connection is gone, or the gateway was."""
        for place in [place for place, holder in self.holders.items() if holder == member]:
            del self.holders[place]

    def cut(self, topic_id: str, partition: int, offset: int) -> None:
        """The offsets from here on are given to other records."""

        def is_gone(place: Place) -> bool:
            return place[:2] == (topic_id, partition) and place.offset >= offset

        self.holders = {place: member for place, member in self.holders.items() if not is_gone(place)}
        self.settled = {place: kind for place, kind in self.settled.items() if not is_gone(place)}

    def settled_values(self, topic_id: str, partition: int = 0) -> list[bytes | None]:
        """The values of what was settled, in the order of their offsets."""
        return [self.values[place] for place in sorted(self.settled) if place[:2] == (topic_id, partition)]
