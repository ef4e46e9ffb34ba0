"""Problems: what the view cannot see at the moment, and why."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Final

from share_state.logs import named
from share_state.operate.live.rights import Right

__all__ = ["Problems"]

_LOG: Final = logging.getLogger("share_state.live")


class Problems:
    """A text for each source that fails, until it answers again."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._rights: dict[str, frozenset[Right]] = {}
        #: Number of failures since the beginning.
        self.total = 0

    def note(self, source: str, error: BaseException | str, missing: Collection[Right] = ()) -> None:
        """Take a failure of a source, and the rights that would mend it."""
        self._rights[source] = frozenset(missing)
        text = f"{source}: {error}"
        self.total += 1
        if self._texts.get(source) != text:
            _LOG.warning("cannot be seen: %s", named(source=source, reason=str(error)))
        self._texts[source] = text

    def answered(self, source: str, missing: Collection[Right] = ()) -> None:
        """Take an answer of a source, and the rights that were missing for more."""
        if missing:
            first, *others = sorted(missing, key=str)
            more = f" and {len(others)} more rights are" if others else " is"
            self.note(source, f"{first}{more} missing", missing)
        elif self._texts.pop(source, None) is not None:
            del self._rights[source]
            _LOG.info("can be seen again: %s", named(source=source))

    def texts(self) -> tuple[str, ...]:
        """Return what fails at the moment."""
        return tuple(text for _, text in sorted(self._texts.items()))

    def concerns(self, source: str) -> bool:
        """Tell whether a source fails at the moment for another reason than a right that is missing."""
        return source in self._texts and not self._rights[source]

    def rights(self) -> tuple[Right, ...]:
        """Return the rights that are missing at the moment."""
        return tuple(sorted(frozenset().union(*self._rights.values())))
