"""Answers of both servers so far about a group: the next steps are chosen from them."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from dataclasses import dataclass, field

from tests.gateway.differential.duel import Duel

#: A partition of a topic, by its name.
Place = tuple[str, int]

ACCEPT, RELEASE, REJECT, RENEW, GAP = 1, 2, 3, 4, 0


@dataclass
class Member:
    """A member's share session."""

    name: str
    #: True while it has a session on the servers.
    open: bool = False
    #: Partitions of its session, in the order in which they were added.
    session: list[Place] = field(default_factory=list)
    #: Records that it holds: delivery counts by offset. Records stay with it when a session is replaced.
    held: defaultdict[Place, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def holds(self) -> list[Place]:
        """Partitions of which it holds records."""
        return [place for place, offsets in self.held.items() if offsets]


@dataclass
class Model:
    """Group in an episode."""

    duel: Duel
    chance: random.Random
    group: str
    #: All partitions of the topics that the group reads.
    places: list[Place]
    #: After so many deliveries a record is archived.
    limit: int
    #: True if share partitions are full after some records: what comes next then depends on when others are released.
    narrow: bool = False
    members: list[Member] = field(default_factory=list)
    probes: int = 0
    #: Groups that were made by setting their offsets.
    moved: int = 0

    def new_member_id(self) -> str:
        """A member id as clients make them; the same on both servers."""
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def member(self) -> Member:
        """Any member."""
        return self.chance.choice(self.members)
