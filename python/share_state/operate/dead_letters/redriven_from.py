"""The header that a redriven record gets: where it came from, and by which journal it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from share_state.operate.dead_letters.dead_letter import Place

__all__ = ["REDRIVEN_FROM", "header", "place_of"]

REDRIVEN_FROM: Final = "redriven-from"


def header(place: Place, group: str, journal_id: str) -> tuple[str, bytes]:
    """Return the header of a record: JSON with ``topic``, ``partition``, ``offset``, ``group`` and ``journal``."""
    told = {**place._asdict(), "group": group, "journal": journal_id}
    return REDRIVEN_FROM, json.dumps(told, separators=(",", ":")).encode("ascii")


def place_of(headers: Iterable[tuple[str, bytes | None]], group: str, journal_id: str) -> Place | None:
    """Return where a record came from if this journal sent it; None for any other record.

    A record that was redriven more than once has the header each time, and the last one counts.
    """
    last: bytes | None = None
    for name, value in headers:
        if name == REDRIVEN_FROM:
            last = value
    if last is None:
        return None
    try:
        told = json.loads(last)
    except (ValueError, RecursionError):
        return None
    match told:
        case {"topic": str(topic), "partition": int(partition), "offset": int(offset), "group": of, "journal": by}:
            return Place(topic, partition, offset) if (of, by) == (group, journal_id) else None
        case _:
            return None
