"""Scenarios that are not run, and the limit on their number.

A skip is a hole in the proof. It is reported by name with its reason, and only a recording itself can ask for one, where an
operation cannot be driven by any caller of ours (``NotDrivable``). No scenario is skipped by its name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .recordings import Json, NotDrivable

#: Skips in a hundred scenarios that are too many over everything that was run.
MAX_SKIPPED_PERCENT = 5
#: In a run of fewer than a hundred scenarios one skip may already be more than that, so fewer than this many always pass.
ALWAYS_ALLOWED_BELOW = 5


def refuse_unplayable(ops: Sequence[Json], known: Collection[str]) -> None:
    """Skip a scenario with an operation that nobody here can play: what follows rests on it.

    An operation without a name is not of the format, which its suite says.
    """
    for index, op in enumerate(ops):
        name = op.get("op")
        if isinstance(name, str) and name not in known:
            raise NotDrivable(f"operation {index} ({name}) cannot be played")


def too_many(skipped: int, scenarios: int) -> bool:
    """Returns true if so many skips make a run worthless."""
    return skipped >= ALWAYS_ALLOWED_BELOW and 100 * skipped >= MAX_SKIPPED_PERCENT * scenarios
