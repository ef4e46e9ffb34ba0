"""State of a journal, as a fold over its entries: what was sent, what may have been sent, and where the targets ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from share_state.operate.dead_letters.dead_letter import Place

__all__ = ["BadEntryError", "Identity", "JournalState", "Sent", "grouped"]

FORMAT: Final = "share-state dlq redrive"
VERSION: Final = 1
_MOST: Final = 2**63 - 1


class BadEntryError(ValueError):
    """An entry is none, or cannot follow those before it."""


class Identity(NamedTuple):
    """The redrive that a journal belongs to."""

    #: The id of the cluster.
    cluster: str
    group: str
    #: The target; None: each record goes to the topic that it came from.
    target: str | None


class Sent(NamedTuple):
    """A record that is in the target, and where."""

    place: Place
    topic: str
    partition: int
    offset: int


@dataclass
class JournalState:
    """The state of a redrive after some entries of its journal.

    A record is in one of three states: never begun, in doubt, sent. ``sending`` puts records in doubt before any of them is sent;
    ``sent`` says for all of them how that ended. So whatever is not in doubt was either sent or never given to the client.
    """

    #: Chosen at random when the journal was made; it goes along with each record.
    journal_id: str
    identity: Identity
    #: Offsets by topic and partition of the source.
    sent: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    in_doubt: set[Place] = field(default_factory=set)
    #: By target topic and partition: a record that is in doubt is at this offset or later, if it is there.
    ends: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def sent_count(self) -> int:
        """Count the records that are in the target."""
        return sum(map(len, self.sent.values()))

    def sent_offsets(self, topic: str, partition: int) -> set[int]:
        """Return the offsets of a source partition that are in the target."""
        return self.sent.get((topic, partition), set())

    def apply(self, entry: object) -> None:
        """Take the next entry.

        Raises:
            BadEntryError: it is none, or cannot follow. The state is as it was.
        """
        match entry:
            case {"ends": [str(topic), list(ends)], "at": int()}:
                told = {(topic, partition): _natural(end) for partition, end in enumerate(ends)}
                self.ends |= told
            case {"sending": list(rows), "at": int()}:
                places = set(_places(rows))
                if self.in_doubt:
                    raise BadEntryError("records are sent while others are in doubt")
                if any(place.offset in self.sent_offsets(place.topic, place.partition) for place in places):
                    raise BadEntryError("a record is sent for the second time")
                self.in_doubt = places
            case {"sent": list(rows), "in_doubt": list(left), "at": int()}:
                self._confirm([_sent(row) for row in rows], set(_places(left)))
            case {"taken_for_sent": list(rows), "at": int()}:
                taken = set(_places(rows))
                if not taken <= self.in_doubt:
                    raise BadEntryError("it decides on a record that was not in doubt")
                self._add(taken)
                self.in_doubt = set()
            case _:
                raise BadEntryError("it is no entry of a journal")

    def _confirm(self, sent: list[Sent], left: set[Place]) -> None:
        confirmed = {one.place for one in sent}
        if not confirmed | left <= self.in_doubt or confirmed & left:
            raise BadEntryError("it confirms a record that was not being sent")
        self._add(confirmed)
        self.in_doubt = left
        if left:
            # Those in doubt may be in front of those that are confirmed.
            return
        for one in sent:
            target = one.topic, one.partition
            self.ends[target] = max(self.ends.get(target, 0), one.offset + 1)

    def _add(self, places: Iterable[Place]) -> None:
        for place in places:
            self.sent.setdefault((place.topic, place.partition), set()).add(place.offset)


def ends_entry(topic: str, ends: Mapping[int, int], at: int) -> dict[str, object]:
    """Say where each partition of a target ended before anything was sent there; they count from 0."""
    return {"ends": [topic, [ends[partition] for partition in sorted(ends)]], "at": at}


def sending_entry(places: Iterable[Place], at: int) -> dict[str, object]:
    """Say which records are about to be sent."""
    return {"sending": grouped(places), "at": at}


def sent_entry(sent: Iterable[Sent], in_doubt: Iterable[Place], at: int) -> dict[str, object]:
    """Say which records are in the target and which may be; all others that were being sent are not."""
    rows = [[*one.place, one.topic, one.partition, one.offset] for one in sent]
    return {"sent": rows, "in_doubt": grouped(in_doubt), "at": at}


def taken_for_sent_entry(places: Iterable[Place], at: int) -> dict[str, object]:
    """Say which records in doubt are taken for sent; the others in doubt are taken for not sent."""
    return {"taken_for_sent": grouped(places), "at": at}


def grouped(places: Iterable[Place]) -> list[list[object]]:
    """Write places as JSON: offsets by topic and partition."""
    told: dict[tuple[str, int], list[int]] = {}
    for place in places:
        told.setdefault((place.topic, place.partition), []).append(place.offset)
    return [[topic, partition, offsets] for (topic, partition), offsets in told.items()]


def _places(rows: list[object]) -> Iterator[Place]:
    for row in rows:
        match row:
            case [str(topic), int(partition), list(offsets)]:
                yield from (Place(topic, _natural(partition), _natural(offset)) for offset in offsets)
            case _:
                raise BadEntryError("a row names no records")


def _sent(row: object) -> Sent:
    match row:
        case [str(topic), int(partition), int(offset), str(to_topic), int(to_partition), int(to_offset)]:
            place = Place(topic, _natural(partition), _natural(offset))
            return Sent(place, to_topic, _natural(to_partition), _natural(to_offset))
        case _:
            raise BadEntryError("a row names no record that was sent")


def _natural(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise BadEntryError("a number is out of range")
    return value
