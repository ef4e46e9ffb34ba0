"""Results of a check of a history, as plain data."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = ["CHECKS", "HistoryReport", "Lateness", "Violation"]

#: The checks, and what each promises.
CHECKS: Final = {
    "H1": "A record whose accept or reject was confirmed is never delivered again in the same state epoch.",
    "H2": "No two members hold a record at once.",
    "H3": "After a drain every produced, retained record was delivered, and was accepted, rejected or at the delivery limit.",
    "H4": "The delivery count of a record rises by exactly one a delivery, and never passes the limit.",
    "H5": "Start offset, leader epoch and state epoch never go back, and the start offset passes no outstanding record.",
    "H6": "An acknowledgement of unknown outcome happened once or not at all, and later answers agree.",
    "H7": "No lock ends before its deadline.",
    "H8": "While members poll and nothing is locked, an available record is delivered within a bound.",
}


class Violation(NamedTuple):
    """A promise that was broken.

    Attributes:
        check: ``H1`` to ``H8``, a key of :data:`CHECKS`.
        group, topic, partition: the share partition, by the names of the history.
        first, last: the offsets of the records, both inclusive; None where it is about no single record.
        text: what is wrong.
        excerpt: the fewest events that show it, in their order, as in the history.
    """

    check: str
    group: str
    topic: str
    partition: int
    first: int | None
    last: int | None
    text: str
    excerpt: tuple[dict[str, Any], ...]


class Lateness(NamedTuple):
    """Lateness of the ends of locks, from the deadline to the next delivery: an upper bound.

    Attributes:
        locks: how many locks ran out and were followed by a delivery.
        shortest_ms, longest_ms: the least and the greatest lateness, ms; 0 where no lock ran out.
    """

    locks: int
    shortest_ms: float
    longest_ms: float


class HistoryReport(NamedTuple):
    """Report of a check.

    Attributes:
        violations: in order of group, topic and partition.
        lateness: how late locks ended.
        share_partitions, events: how many were looked at.
    """

    violations: tuple[Violation, ...]
    lateness: Lateness
    share_partitions: int
    events: int
