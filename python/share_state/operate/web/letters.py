"""The dead letters of a group, as far as a page shows them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.operate.dead_letters import Asking, DeadLetter, Letters, source_of

if TYPE_CHECKING:
    from share_state.operate.web.background import Progress
    from share_state.operate.web.source import Source

__all__ = ["Dead", "read_letters"]

#: Number of dead letters that are kept: the newest.
_MOST: Final = 10_000
#: Seconds to wait for an answer unless the source says otherwise.
_PATIENCE: Final = 10.0


class Dead(NamedTuple):
    """Dead letters that were read.

    Attributes:
        told_by: what tells of them, in words: a queue, or the history of the share state.
        letters: the newest, the newest first.
        total: all that there were.
        findings: what could not be read.
    """

    told_by: str
    letters: tuple[DeadLetter, ...]
    total: int
    findings: tuple[str, ...]


def read_letters(cluster: Source, group: str, progress: Progress) -> Dead:
    """Read the dead letters of a group from a running cluster. It blocks; what the progress raises ends it.

    Raises:
        ShareStateError: the cluster cannot be read, refuses, or knows no such queue.
    """
    settings, timeout = cluster.client_config or {}, cluster.timeout or _PATIENCE
    told_by = source_of(Asking(cluster.path, settings, timeout), group)
    letters, count = Letters(cluster.path, told_by, settings=settings, timeout=timeout, progress=progress), _Count()
    newest = heapq.nlargest(_MOST, count.passing(letters), key=_newest)
    return Dead(told_by.words, tuple(newest), count.total, tuple(finding["message"] for finding in letters.findings))


def _newest(letter: DeadLetter) -> tuple[int, int]:
    return letter.timestamp, letter.last_offset


class _Count:
    """Counts what passes."""

    def __init__(self) -> None:
        self.total = 0

    def passing(self, letters: Iterable[DeadLetter]) -> Iterator[DeadLetter]:
        for letter in letters:
            self.total += 1
            yield letter
