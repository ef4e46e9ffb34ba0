"""Stdout for people: as wide as the terminal, or as COLUMNS says; in a pipe that does not say, nothing is wrapped or cut."""

import os
import sys

from rich.console import Console
from rich.text import Text

from share_state.util.printable import printable

#: Further in by so many cells: what of a row does not fit on its line.
HANGING = 10
#: Wider than any row.
UNBOUNDED = 100_000


def console_of_stdout() -> Console:
    """Return a console as wide as the terminal, or as COLUMNS says. Elsewhere nothing is wrapped or cut."""
    return Console(file=sys.stdout, highlight=False, width=None if _width_is_told() else UNBOUNDED)


def _width_is_told() -> bool:
    return sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()


class Lines:
    """Text for people on stdout, escaped, in lines no wider than the terminal or COLUMNS; unbroken where neither says."""

    def __init__(self) -> None:
        """Take the width of stdout."""
        self._console = console_of_stdout()
        #: None: nothing is wrapped or cut.
        self.width = self._console.width if _width_is_told() else None

    def write(self, text: str, *, indent: int = 0, more: int = 0) -> None:
        """Write a text; every line begins at `indent`, and those after the first `more` further in."""
        safe = printable(text)
        if self.width is None:
            sys.stdout.write(f"{' ' * indent}{safe}\n")
            return
        first, *others = self._wrapped(safe, self.width - indent)
        sys.stdout.write(f"{' ' * indent}{first}\n")
        if others:
            rest = safe[len(first) :].lstrip()
            for line in self._wrapped(rest, self.width - indent - more):
                sys.stdout.write(f"{' ' * (indent + more)}{line}\n")

    def _wrapped(self, text: str, width: int) -> list[str]:
        return [line.plain.rstrip() for line in Text(text).wrap(self._console, max(1, width))] or [""]
