"""Share partitions that each member may take from, as Kafka's assignor spreads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from share_state._core import simple_assignment
from share_state.operate.analysis.topic_id import hyphenated
from share_state.operate.simulation.recorded import Place

__all__ = ["Crew", "assigned", "crews"]


class Crew(NamedTuple):
    """Members that share work, and the share partitions that only they take from."""

    places: frozenset[Place]
    members: int


def assigned(places: Iterable[Place], members: int) -> dict[str, list[Place]]:
    """Return the share partitions of each member, by its name."""
    topics: dict[str, list[int]] = {}
    for topic_id, number in sorted(places):
        topics.setdefault(topic_id, []).append(number)
    names = [f"member-{number:04}" for number in range(members)]
    assignment = simple_assignment({name: (list(topics), []) for name in names}, list(topics.items()))
    return {name: [(hyphenated(topic), number) for topic, numbers in assignment[name] for number in numbers] for name in names}


def crews(places: Iterable[Place], members: int) -> list[Crew]:
    """Split members into those that share work with each other; who has nothing to do is in none."""
    found: list[Crew] = []
    for mine in assigned(places, members).values():
        if not mine:
            continue
        crew = Crew(frozenset(mine), 1)
        apart = [other for other in found if not other.places & crew.places]
        for other in found:
            if other.places & crew.places:
                crew = Crew(crew.places | other.places, crew.members + other.members)
        found = [*apart, crew]
    return found
