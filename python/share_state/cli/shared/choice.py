"""Choice of the share partitions, and of one offset in them, that a command reads.

A choice that leaves nothing is a mistake on the command line, and is told with what there is instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, NamedTuple

import typer

from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.topic_id import hyphenated
from share_state.util.printable import printable

#: Kafka's partitions are int32, its offsets int64.
_MOST_PARTITION = 2**31 - 1
_MOST_OFFSET = 2**63 - 1
#: Options of a choice, in the order of a key.
OPTIONS = ("--group", "--topic-id", "--partition")
#: Most values that are listed instead of a choice that leaves nothing.
_LISTED = 10


def _partition(number: int | None) -> int | None:
    return bounded("--partition", number, _MOST_PARTITION)


def _partition_argument(number: int) -> int:
    bounded("PARTITION", number, _MOST_PARTITION)
    return number


def _offset_argument(number: int) -> int:
    bounded("OFFSET", number, _MOST_OFFSET)
    return number


def _offset(number: int | None) -> int | None:
    return bounded("--offset", number, _MOST_OFFSET)


def bounded(option: str, number: int | None, most: int, least: int = 0) -> int | None:
    """Refuse a number that is too small or too large, by its name and value."""
    if number is not None and not least <= number <= most:
        raise typer.BadParameter(f"{option} is {number}; expected {least} to {most}")
    return number


GroupOption = Annotated[str | None, typer.Option("--group", "-g", help="Only this group.", show_default=False)]
TopicIdOption = Annotated[str | None, typer.Option("--topic-id", help="Only this topic, UUID or base64.", show_default=False)]
PartitionOption = Annotated[
    int | None, typer.Option("--partition", callback=_partition, help="Only this partition.", show_default=False)
]
OffsetOption = Annotated[
    int | None,
    typer.Option(
        "--offset", callback=_offset, help="Only changes of this offset, and of the share partition.", show_default=False
    ),
]
RecordOption = Annotated[
    int | None, typer.Option("--offset", callback=_offset, help="The record at this offset.", show_default=False)
]
GroupArgument = Annotated[str, typer.Argument(metavar="GROUP", help="The share group.", show_default=False)]
TopicArgument = Annotated[
    str, typer.Argument(metavar="TOPIC", help="The topic: its name, or its id as UUID or base64.", show_default=False)
]
PartitionArgument = Annotated[
    int,
    typer.Argument(metavar="PARTITION", callback=_partition_argument, help="The partition of the topic.", show_default=False),
]
OffsetArgument = Annotated[
    int, typer.Argument(metavar="OFFSET", callback=_offset_argument, help="The offset of the record.", show_default=False)
]

Key = tuple[str, str, int]


class Choice(NamedTuple):
    """Choice of share partitions; None chooses all."""

    group: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    offset: int | None = None

    def told(self, rows: Iterable[HistoryRow], everything: Callable[[Choice], Iterable[HistoryRow]]) -> Iterator[HistoryRow]:
        """Pass rows on; where none comes, refuse what was chosen by what there is: the rows of another choice.

        Raises:
            typer.BadParameter: there is no such group, topic, partition or offset.
        """
        # Rows of a share partition as a whole come for every offset. They wait until one tells of the offset itself.
        waiting: list[HistoryRow] = []
        met = False
        for row in rows:
            if met:
                yield row
                continue
            waiting.append(row)
            met = self.offset is None or row.first_offset is not None
            if met:
                yield from waiting
                waiting.clear()
        if met or self == Choice():
            return
        if not waiting:
            self.check(row[:3] for row in everything(Choice()))
        if self.offset is not None:
            self._check_offset(everything(self._replace(offset=None)))
        yield from waiting

    def takes(self, key: Key) -> bool:
        """Return whether a share partition is chosen."""
        wanted = (self.group, None if self.topic_id is None else hyphenated(self.topic_id), self.partition)
        return all(chosen is None or chosen == one for chosen, one in zip(wanted, key, strict=True))

    def check(self, keys: Iterable[Key], as_of: str = "", names: tuple[str, str, str] = OPTIONS) -> None:
        """Refuse a choice that leaves none of these share partitions; `as_of` says of which log, where it is an earlier one.

        `names` are those of what was given on the command line.

        Raises:
            typer.BadParameter: names what there is not, and what there is instead.
        """
        left = set(keys)
        within = ""
        for place, (option, chosen) in enumerate(zip(names, self[:3], strict=True)):
            if chosen is None:
                continue
            wanted = hyphenated(str(chosen)) if place == OPTIONS.index("--topic-id") else chosen
            there = {key[place] for key in left}
            if wanted not in there:
                there_is = f"is not in the log{as_of}, which has {listed(there)}"
                raise typer.BadParameter(printable(f"{option} {chosen}{within} {there_is}"))
            left = {key for key in left if key[place] == wanted}
            within += f" of {option} {chosen}"

    def _check_offset(self, rows: Iterable[HistoryRow]) -> None:
        first = last = None
        for row in rows:
            if row.first_offset is not None and row.last_offset is not None:
                first = row.first_offset if first is None else min(first, row.first_offset)
                last = row.last_offset if last is None else max(last, row.last_offset)
        if first is None or last is None:
            raise typer.BadParameter(f"--offset {self.offset}: the log has no offset of this share partition")
        if self.offset is not None and not first <= self.offset <= last:
            raise typer.BadParameter(f"--offset {self.offset}: the log has only offsets {first} to {last}")


def listed(values: Iterable[object]) -> str:
    """List what there is, in order, and how much more there is after the first few."""
    there = sorted(values)  # type: ignore[type-var]  # texts, or numbers
    if not there:
        return "none"
    more = len(there) - _LISTED
    return ", ".join(str(value) for value in there[:_LISTED]) + (f" and {more} more" if more > 0 else "")
