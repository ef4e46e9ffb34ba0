"""Dead letters and redrives for people."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from share_state.cli.shared.lines import Lines, console_of_stdout
from share_state.operate.analysis.names import instant
from share_state.operate.dead_letters import DeadLetter, Outcome, RedriveRow
from share_state.util.printable import printable

_HEADER = f"{'TIME (UTC)':<24}  {'CAUSE':<14}  {'COUNT':>5}  SOURCE\n"
#: The outcomes of a redrive, in the order of its columns.
_OUTCOMES = (
    (Outcome.WOULD_SEND, "WOULD SEND"),
    (Outcome.SENT, "SENT"),
    (Outcome.MISSING, "MISSING"),
    (Outcome.REFUSED, "REFUSED"),
    (Outcome.IN_DOUBT, "IN DOUBT"),
)
#: Outcomes that are told record by record.
_TOLD = frozenset({Outcome.MISSING, Outcome.REFUSED, Outcome.IN_DOUBT})


def write_letters(letters: Iterable[DeadLetter], nothing: str) -> None:
    """Write one line a dead letter, as they come; `nothing` is said where none comes."""
    met = False
    for letter in letters:
        if not met:
            sys.stdout.write(_HEADER)
            met = True
        sys.stdout.write(printable(letter_line(letter)) + "\n")
    if not met:
        sys.stdout.write(nothing + "\n")


def letter_line(letter: DeadLetter) -> str:
    """Tell of a dead letter in one line, which is not escaped yet."""
    place = f"{letter.topic}-{letter.partition} {span(letter.first_offset, letter.last_offset)}"
    words = f" ({letter.message})" if letter.cause.value == "other" and letter.message else ""
    return f"{instant(letter.timestamp):<24}  {letter.cause.value:<14}  {letter.delivery_count:>5}  {place}{words}"


def span(first: int, last: int) -> str:
    """Tell of an offset, or of consecutive ones."""
    return str(first) if first == last else f"{first}-{last}"


class RedriveView:
    """Collects the rows of a redrive, and writes a line a partition and what could not be sent."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], Counter[Outcome]] = {}
        self._told: list[RedriveRow] = []

    def add(self, row: RedriveRow) -> None:
        """Take a row; consecutive records with the same outcome and reason become one line."""
        count = row.last_offset - row.first_offset + 1
        self._counts.setdefault((row.topic, row.partition), Counter())[row.outcome] += count
        if row.outcome not in _TOLD:
            return
        last = self._told[-1] if self._told else None
        if last is not None and last._replace(first_offset=last.last_offset + 1, last_offset=row.last_offset) == row:
            self._told[-1] = last._replace(last_offset=row.last_offset)
        else:
            self._told.append(row)

    def count(self, outcome: Outcome) -> int:
        """Return how many records had an outcome."""
        return sum(counts[outcome] for counts in self._counts.values())

    def write(self) -> None:
        """Write all of it to stdout."""
        if self._counts:
            console_of_stdout().print(self._table())
        lines = Lines()
        for row in self._told:
            words = row.outcome.value.replace("_", " ")
            place = f"{row.topic}-{row.partition} {span(row.first_offset, row.last_offset)}"
            lines.write(f"{place}: {words}{f', {row.reason}' if row.reason else ''}")

    def _table(self) -> Table:
        shown = [(outcome, name) for outcome, name in _OUTCOMES if self.count(outcome)]
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for name in ("TOPIC", "PARTITION", *(name for _, name in shown)):
            table.add_column(name, justify="left" if name == "TOPIC" else "right", no_wrap=True)
        for cells in self._cells(shown):
            # Text, not str: a name is never read as rich's markup.
            table.add_row(*map(Text, cells))
        return table

    def _cells(self, shown: list[tuple[Outcome, str]]) -> Iterator[list[str]]:
        for (topic, partition), counts in self._counts.items():
            yield [printable(topic), str(partition), *(str(counts[outcome]) for outcome, _ in shown)]
