"""Finds out which records an interrupted redrive has sent: the tail of the target tells, by the header that each of them has.

The journal knows where each partition of the target ended before a record that is in doubt was sent. From there to the end the
target is read, and a record with the header of this journal was sent. The others were not, once nothing is under way any more:
a request that a killed process had handed to its system may still arrive, and a broker shows a record only when its replicas have
it. So who resolves doubts waits first, for :data:`SETTLE_S` by default. Who has the journal open knows that the process before is
gone, but not when it ended: the wait begins now.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from share_state.operate.dead_letters.dead_letter import Place
from share_state.operate.dead_letters.errors import InDoubtError
from share_state.operate.dead_letters.journal_state import JournalState, Sent
from share_state.operate.dead_letters.redriven_from import place_of
from share_state.operate.dead_letters.topic_log import Bounds, Record

if TYPE_CHECKING:
    from share_state.operate.dead_letters.journal import Journal

__all__ = ["SETTLE_S", "Doubt", "Tail", "found_in_target", "resolve"]

#: Seconds after which nothing is under way. A replica that is late leaves the ISR after Kafka's ``replica.lag.time.max.ms``, 30 s
#: by default, and then the record shows.
SETTLE_S = 35.0


class Doubt(StrEnum):
    """Treatment of records in doubt that the target cannot tell of any more."""

    #: They are sent, maybe for the second time.
    SEND = "send"
    #: They are not sent, maybe never.
    SKIP = "skip"


class Tail(Protocol):
    """Part of a target that has to be read: :class:`share_state.operate.dead_letters.topic_log.TopicLog`."""

    def partitions(self, topic: str) -> list[int] | None:
        """Return its partitions; None where there is no such topic."""

    def bounds(self, topic: str, partition: int) -> Bounds:
        """Return where a partition begins and ends."""

    def records(self, topic: str, partition: int, bounds: Bounds) -> Iterator[Record]:
        """Return the records of a partition within bounds."""


def found_in_target(state: JournalState, tail: Tail) -> list[Sent]:
    """Return the records in doubt that are in the target; the others are not.

    Raises:
        InDoubtError: the target cannot tell: it is gone, or records after the place where it ended are.
        ClusterReadError: it cannot be read.
    """
    wanted = set(state.in_doubt)
    found: dict[Place, Sent] = {}
    untold = ""
    for topic in sorted({state.identity.target or place.topic for place in wanted}):
        partitions = tail.partitions(topic)
        if partitions is None:
            untold = untold or f"topic {topic} is not in the cluster any more"
            continue
        for partition in partitions:
            # A partition that was added since had no record before.
            start = state.ends.get((topic, partition), 0)
            bounds = tail.bounds(topic, partition)
            if bounds.start > start or bounds.end < start:
                untold = untold or f"{topic}-{partition} has offsets {bounds.start} to {bounds.end - 1}, and {start} is needed"
            for one in _sent(state, tail, topic, partition, Bounds(max(start, bounds.start), bounds.end)):
                found.setdefault(one.place, one)
    missing = wanted - found.keys()
    if missing and untold:
        raise InDoubtError(sorted(missing), untold, list(found.values()))
    return list(found.values())


def resolve(journal: Journal, tail: Tail, doubt: Doubt | None = None) -> list[Sent]:
    """Find out what became of the records in doubt and note it; return those that are in the target.

    Raises:
        InDoubtError: the target cannot tell of all of them, and `doubt` does not say what becomes of those.
        ClusterReadError: the target cannot be read.
    """
    state = journal.state
    if not state.in_doubt:
        return []
    try:
        found = found_in_target(state, tail)
    except InDoubtError as error:
        if doubt is None:
            raise
        found = error.found
        journal.sent(found, error.places)
        journal.taken_for_sent(error.places if doubt is Doubt.SKIP else ())
    else:
        journal.sent(found)
    return found


def _sent(state: JournalState, tail: Tail, topic: str, partition: int, bounds: Bounds) -> Iterator[Sent]:
    for record in tail.records(topic, partition, bounds):
        place = place_of(record.headers, state.identity.group, state.journal_id)
        if place is not None and place in state.in_doubt:
            yield Sent(place, topic, partition, record.offset)
