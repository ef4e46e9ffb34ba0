"""Journal of the workers, in their own words: the witness against whom the engine's log is checked.

A worker writes an entry down before it goes on, with one `write` each time and no buffer: what was written survives
the SIGKILL of its process.
"""

import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from examples.demo.plan import DELIVERY_COUNT_LIMIT
from share_state import AcknowledgeType


class Event(StrEnum):
    """Kind of an entry that a worker writes down."""

    #: It was given the records.
    DELIVERED = "delivered"
    #: It holds them and does nothing, until after its lock has run out.
    STALLED = "stalled"
    #: Its lock was renewed.
    RENEWED = "renewed"
    #: It is about to acknowledge them.
    SENT = "sent"
    #: It was told that its acknowledgement is durable.
    CONFIRMED = "confirmed"
    #: Its acknowledgement was not taken: the lock had run out.
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Entry:
    """Event and the records it is about, offsets inclusive."""

    worker: str
    event: Event
    first_offset: int
    last_offset: int
    delivery_count: int
    #: With `sent`, `confirmed` and `refused`.
    acknowledge_type: AcknowledgeType | None = None
    #: Wall clock.
    at_ms: int = 0

    @property
    def offsets(self) -> range:
        """The records."""
        return range(self.first_offset, self.last_offset + 1)

    @property
    def settles(self) -> bool:
        """True if the worker was told that this is the end of the records."""
        if self.event is not Event.CONFIRMED:
            return False
        if self.acknowledge_type is AcknowledgeType.RELEASE:
            return self.delivery_count == DELIVERY_COUNT_LIMIT
        return True


class Journal:
    """Appends entries to a file of JSON lines. Safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)

    def write(self, entries: Iterable[Entry]) -> None:
        """Append entries, dated now."""
        now_ms = time.time_ns() // 1_000_000
        lines = (json.dumps({**asdict(entry), "at_ms": now_ms}) + "\n" for entry in entries)
        os.write(self._file, "".join(lines).encode())


def read_journal(path: Path) -> list[Entry]:
    """Read a journal that may be in use, or whose last line the kill cut short; none yet is an empty one."""
    if not path.exists():
        return []
    *whole_lines, _ = path.read_text(encoding="utf-8").split("\n")
    return [_entry(json.loads(line)) for line in whole_lines]


def settled_offsets(entries: Iterable[Entry]) -> set[int]:
    """Collect the records whose end was confirmed to a worker: they must never be delivered again."""
    return {offset for entry in entries if entry.settles for offset in entry.offsets}


def _entry(fields: dict[str, str | int | None]) -> Entry:
    match fields:
        case {
            "worker": str(worker),
            "event": str(event),
            "first_offset": int(first),
            "last_offset": int(last),
            "delivery_count": int(count),
            "acknowledge_type": int() | None as kind,
            "at_ms": int(at_ms),
        }:
            return Entry(worker, Event(event), first, last, count, None if kind is None else AcknowledgeType(kind), at_ms)
    raise ValueError(f"not a journal entry: {fields}")
