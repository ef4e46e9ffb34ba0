"""The exceptions of dead letters. Whatever is raised before the first record is sent has changed nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from share_state.errors import ShareStateError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from share_state.operate.dead_letters.dead_letter import Place
    from share_state.operate.dead_letters.journal_state import Sent

__all__ = [
    "ClusterRefusedError",
    "InDoubtError",
    "JournalDamagedError",
    "JournalError",
    "JournalInUseError",
    "JournalOfAnotherRunError",
    "NoSuchTopicError",
    "SendError",
    "UnknownGroupError",
]


class ClusterRefusedError(ShareStateError):
    """The cluster refuses a question about the group or a topic; the text names the right that is missing, if one is."""


class NoSuchTopicError(ShareStateError):
    """The queue, or the target of a redrive, is not in the cluster; ``field`` says which, ``value`` names the topic."""


class UnknownGroupError(ShareStateError):
    """The share state holds nothing of the group; ``value`` names it.

    Attributes:
        there: the groups that it holds something of.
    """

    def __init__(self, group: str, there: Sequence[str]) -> None:
        super().__init__(f"group {group} has no share state in the cluster", field="group", value=group)
        self.there = tuple(there)


class JournalError(ShareStateError):
    """The journal of a redrive cannot be used; ``value`` is its path. Nothing was sent, and the file is as it was."""

    def __init__(self, path: Path, what: str, *, field: str | None = None) -> None:
        super().__init__(f"the journal {path} {what}", field=field, value=str(path))


class JournalDamagedError(JournalError):
    """A line of the journal is not as it was written, other than a torn last one, or the file is no journal.

    Attributes:
        line: its number, from 1.
    """

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(path, f"is damaged in line {line}: {what}")
        self.line = line


class JournalOfAnotherRunError(JournalError):
    """The journal is of another group, target or cluster; ``field`` says of which.

    Attributes:
        is_of: what the journal is of.
        asked: what was asked for.
    """

    def __init__(self, path: Path, field: str, is_of: object, asked: object) -> None:
        super().__init__(
            path, f"is of another redrive: its {field} is {_named(is_of)}, and {_named(asked)} was asked", field=field
        )
        self.is_of = is_of
        self.asked = asked


class JournalInUseError(JournalError):
    """Another process redrives with this journal."""


class InDoubtError(ShareStateError):
    """An interrupted redrive may have sent these records, and the target cannot tell any more.

    Attributes:
        places: the records.
        found: other records in doubt, which are in the target.
    """

    def __init__(self, places: Sequence[Place], why: str, found: Sequence[Sent] = ()) -> None:
        first = f"{places[0].topic}-{places[0].partition} offset {places[0].offset}"
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        super().__init__(f"an interrupted redrive may have sent {first}{more}, and the target cannot tell: {why}")
        self.places = tuple(places)
        self.found = list(found)


class SendError(ShareStateError):
    """The sending ended early. What may have been sent is in the journal as in doubt, and the next run finds out."""


def _named(value: object) -> str:
    return "the source topic" if value is None else str(value)
