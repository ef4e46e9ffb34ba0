"""Notes of the clients of a recording on each record, beside what a log is said to tell of it."""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from share_state.operate import analysis

_BURST = re.compile(r" within \d+ ms: (?P<records>[0-9, -]+); ")
_UNDECIDED = re.compile(r"; of \d+ of them \((?P<records>[0-9, -]+)\) the log cannot tell")
_ALL_UNDECIDED = "; of all of them the log cannot tell"


class Place(NamedTuple):
    """A record."""

    group: str
    topic_id: str
    partition: int
    offset: int


@dataclass
class Notes:
    """The records that were delivered to the limit or accepted, as the members noted it."""

    limits: dict[str, int]
    locks_ms: dict[str, int]
    #: A member noted ACCEPT at some delivery, in time or not.
    accepted: set[Place] = field(default_factory=set)
    #: A member noted a delivery at the limit, and none noted ACCEPT at any.
    poison: set[Place] = field(default_factory=set)
    #: A member noted that an answer was refused (INVALID_RECORD_STATE), or that it gave none.
    unheard: set[Place] = field(default_factory=set)


def noted(directory: Path) -> Notes:
    """Read ``clients.json`` of a recording."""
    told = json.loads((directory / "clients.json").read_text(encoding="utf-8"))
    ids = {name: str(UUID(bytes=base64.b64decode(text + "=="))) for name, text in told["topic_ids"].items()}
    groups = told["groups"].items()
    notes = Notes(
        {group: int(settings["limit"]) for group, settings in groups},
        {group: int(settings["lock"]) for group, settings in groups},
    )
    at_limit: set[Place] = set()
    for group, _member, topic, partition, offset, answer, count, error in told["events"]:
        place = Place(group, ids[topic], partition, offset)
        if answer == "ACCEPT":
            notes.accepted.add(place)
        if answer == "NONE" or error is not None:
            notes.unheard.add(place)
        if count is not None and count >= notes.limits[group]:
            at_limit.add(place)
    notes.poison = at_limit - notes.accepted
    return notes


def accused(row: analysis.Anomaly) -> Iterator[Place]:
    """The records that a finding is about; those of a burst stand in its evidence."""
    listed = _BURST.search(row.evidence) if row.kind == analysis.AnomalyKind.ARCHIVE_BURST else None
    if listed is not None:
        yield from _places(row, listed["records"])
    elif row.first_offset is not None:
        yield from _places(row, f"{row.first_offset}-{row.last_offset}")


def undecided(row: analysis.Anomaly) -> Iterator[Place]:
    """Records of which the finding says that the log cannot tell if they were accepted too late."""
    listed = _UNDECIDED.search(row.evidence) if row.kind == analysis.AnomalyKind.ARCHIVE_BURST else None
    if listed is not None:
        yield from _places(row, listed["records"])
    elif row.kind != analysis.AnomalyKind.ARCHIVE_BURST or _ALL_UNDECIDED in row.evidence:
        yield from (place for place in accused(row) if row.kind != analysis.AnomalyKind.POISON_RECORD)


def _places(row: analysis.Anomaly, records: str) -> Iterator[Place]:
    for run in records.split(", "):
        first, _, last = run.partition("-")
        for offset in range(int(first), int(last or first) + 1):
            yield Place(row.group, row.topic_id, row.partition, offset)
