"""At which commits the results were taken: the figures of a page belong together only where it was one, without changes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benches.targets import Results

#: The end of a commit that had uncommitted changes.
DIRTY = "-dirty"


def is_one_clean_commit(results: Results) -> bool:
    found = _counted(results)
    return len(found) == 1 and not any(commit.endswith(DIRTY) or commit == _UNKNOWN for commit in found)


def commits(results: Results) -> str:
    """The commits, each with the number of its rows where there are several."""
    found = _counted(results)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{commit} ({rows} row{'s' * (rows > 1)})" for commit, rows in sorted(found.items()))


def notice(results: Results) -> list[str]:
    """Return the notice at the head of a page whose figures do not belong together; nothing when they do."""
    if is_one_clean_commit(results):
        return []
    return [
        "**These figures are not of one clean commit.** Rows were measured at the commits named below, and one that ends in",
        f"`{DIRTY}` had uncommitted changes: compare engines within a row, not rows. `make bench` on a clean checkout renews",
        "all of them.",
        "",
    ]


_UNKNOWN = "unknown"


def _counted(results: Results) -> Counter[str]:
    return Counter(result["environment"].get("commit") or _UNKNOWN for result in results.values())
