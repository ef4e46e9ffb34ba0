"""Journal of the members, in their own words: the witness against whom the gateway's log is checked.

A member writes an entry down before it goes on, with one `write` each time and no buffer: what was written survives the
SIGKILL of its process.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from examples.gateway.plan import DELIVERY_COUNT_LIMIT, Part, Place, members
from share_state import AcknowledgeType


class Event(StrEnum):
    """Kind of an entry that a member writes down."""

    #: It has joined, and waits for the others.
    READY = "ready"
    #: It was given the records.
    DELIVERED = "delivered"
    #: Delivered records whose values were not the ones that were produced.
    GARBLED = "garbled"
    #: It holds them and does nothing: until after their locks, or until it is killed.
    HOLDING = "holding"
    #: It is about to acknowledge them.
    SENT = "sent"
    #: It was told that its acknowledgement was taken.
    CONFIRMED = "confirmed"
    #: Its acknowledgement was not taken: the lock had run out.
    REFUSED = "refused"
    #: Nobody answered: the gateway was killed. What was asked for has happened, or it has not.
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Entry:
    """Event and a run of records of one partition, offsets inclusive."""

    member: str
    event: Event
    partition: int = 0
    first_offset: int = 0
    last_offset: int = -1
    delivery_count: int = 0
    #: With `sent`, `confirmed`, `refused` and `unanswered`.
    acknowledge_type: AcknowledgeType | None = None
    #: Nanoseconds of the system's monotonic clock, which is one for all processes.
    at: int = 0

    @property
    def places(self) -> Iterator[Place]:
        """The records."""
        return (Place(self.partition, offset) for offset in range(self.first_offset, self.last_offset + 1))

    @property
    def settles(self) -> bool:
        """True if the member was told that this is the end of the records."""
        if self.event is not Event.CONFIRMED:
            return False
        if self.acknowledge_type is AcknowledgeType.RELEASE:
            return self.delivery_count == DELIVERY_COUNT_LIMIT
        return True


class Journal:
    """Appends entries to a file of JSON lines."""

    def __init__(self, member: str, path: Path) -> None:
        self._member = member
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)

    def write(self, event: Event, records: Iterable[tuple[Place, int, AcknowledgeType | None]] = ()) -> None:
        """Append an event, dated now, with the records that it is about: place, delivery count, type of acknowledgement."""
        runs = list(_runs(records)) or [(0, 0, -1, 0, None)]
        at = time.monotonic_ns()
        os.write(self._file, "".join(json.dumps([self._member, event, *run, at]) + "\n" for run in runs).encode())


class Reader:
    """Reads a journal that may be in use, from where it stopped the last time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0

    def more(self) -> list[Entry]:
        """Read what has been added; the end of a line that a kill cut short never comes."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                added = file.read()
        except FileNotFoundError:
            return []
        whole = added[: added.rfind(b"\n") + 1]
        self._position += len(whole)
        return [_entry(json.loads(line)) for line in whole.splitlines()]


def lost_locks(entries: Iterable[Entry]) -> set[Place]:
    """Collect records that other members got while the member that stalls sat on them, in one life of the gateway.

    Its own acknowledgement comes too late: it is refused, or of no effect where the start offset has passed the records.
    """
    entries = list(entries)
    held = {place for entry in entries if entry.event is Event.HOLDING and _stalls(entry) for place in entry.places}
    return {
        place
        for entry in entries
        if entry.event is Event.DELIVERED and not _stalls(entry) and entry.delivery_count > 1
        for place in entry.places
        if place in held
    }


def _stalls(entry: Entry) -> bool:
    return members()[entry.member] is Part.STALLS


def _runs(
    records: Iterable[tuple[Place, int, AcknowledgeType | None]],
) -> Iterator[tuple[int, int, int, int, AcknowledgeType | None]]:
    """Join neighbours that are alike: partition, first and last offset, delivery count, type."""
    run: tuple[int, int, int, int, AcknowledgeType | None] | None = None
    for (partition, offset), count, kind in records:
        if run is not None and (run[0], run[2] + 1, run[3], run[4]) == (partition, offset, count, kind):
            run = (partition, run[1], offset, count, kind)
            continue
        if run is not None:
            yield run
        run = (partition, offset, offset, count, kind)
    if run is not None:
        yield run


def _entry(fields: list[str | int | None]) -> Entry:
    match fields:
        case [str(member), str(event), int(partition), int(first), int(last), int(count), int() | None as kind, int(at)]:
            return Entry(member, Event(event), partition, first, last, count, None if kind is None else AcknowledgeType(kind), at)
    raise ValueError(f"not a journal entry: {fields}")
