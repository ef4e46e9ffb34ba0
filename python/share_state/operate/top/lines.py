"""Lines of the two upper levels: a share partition, or a share group as a whole. Plain data, from a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from share_state.operate.live import Health
from share_state.operate.top.figures import UNKNOWN
from share_state.types import RecordState
from share_state.util.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from share_state.operate.live import GroupView, LiveRow, Rates, SharePartitionView, View

__all__ = ["GroupLine", "Key", "Line", "group_lines", "head", "key_of", "lines", "topic_of", "unsettled", "urgency"]

#: A share partition by group, topic id and partition.
Key = tuple[str, str, int]

_ORDER = {health: place for place, health in enumerate(Health)}


class Line(NamedTuple):
    """A share partition, with its group and the moment at which it was seen."""

    at_ms: int
    group: GroupView
    one: SharePartitionView


class GroupLine(NamedTuple):
    """A share group, with sums over its share partitions.

    Attributes:
        group: as the view has it.
        health: the most urgent word of a share partition; OK where it has none.
        words: how many share partitions each word has, the most urgent first.
        worst: the share partition in the greatest trouble; None where all do well.
        lag: None where that of no share partition is known.
        lag_rise: None as well where no two moments can be compared.
        per_second: accepted, came back, and archived or sent to the dead-letter queue, a second.
    """

    group: GroupView
    health: Health
    words: tuple[tuple[Health, int], ...]
    worst: SharePartitionView | None
    lag: int | None
    lag_rise: int | None
    in_flight: int
    per_second: tuple[float, float, float] | None


def key_of(one: SharePartitionView) -> Key:
    """Return by what a share partition is known."""
    return one.group, one.topic_id, one.partition


def topic_of(one: SharePartitionView) -> str:
    """Return the name of the topic, or its id where it has none, for a terminal."""
    return printable(one.topic or one.topic_id)


def lines(view: View, group: str | None = None) -> list[Line]:
    """Return the share partitions of a group, or of all."""
    return [Line(view.at_ms, of, one) for of in view.groups if group is None or of.group == group for one in of.share_partitions]


def urgency(line: Line) -> tuple[int, int, str, str, int]:
    """Order share partitions: the most urgent word first, and of those the greatest lag."""
    return _urgency(line.one)


def _urgency(one: SharePartitionView) -> tuple[int, int, str, str, int]:
    return _ORDER[one.verdict.health], -(one.lag or 0), one.group, one.topic or one.topic_id, one.partition


def unsettled(row: LiveRow | None) -> int | None:
    """Count the records of the window that are not settled, as far as the state topic tells."""
    return None if row is None else row.available + row.archiving


def head(row: LiveRow | None) -> str:
    """Say in a word what holds the start offset, with the delivery count where there is one."""
    if row is None or row.held_offset is None:
        return UNKNOWN
    if row.held_state is None or row.held_count is None:
        return "unwritten"
    if row.held_state == RecordState.AVAILABLE:
        return f"avail×{row.held_count}"
    return f"dlq×{row.held_count}" if row.held_state == RecordState.ARCHIVING else f"?{row.held_state}×{row.held_count}"


def archived(rates: Rates) -> int:
    """Count the records that were not accepted and are not delivered again."""
    return rates.rejected + rates.at_limit + rates.archiving


def group_lines(view: View) -> list[GroupLine]:
    """Return the groups."""
    return [_group_line(group) for group in view.groups]


def _group_line(group: GroupView) -> GroupLine:
    words: dict[Health, int] = {}
    for one in group.share_partitions:
        words[one.verdict.health] = words.get(one.verdict.health, 0) + 1
    ordered = tuple(sorted(words.items(), key=lambda pair: _ORDER[pair[0]]))
    worst = min(group.share_partitions, key=_urgency, default=None)
    rates = [one.rates for one in group.share_partitions if one.rates is not None and one.rates.seconds > 0]
    return GroupLine(
        group=group,
        health=ordered[0][0] if ordered else Health.OK,
        words=ordered,
        worst=None if worst is None or worst.verdict.health is Health.OK else worst,
        lag=_sum(one.lag for one in group.share_partitions),
        lag_rise=_sum(of.lag_rise for of in rates),
        in_flight=sum(unsettled(one.row) or 0 for one in group.share_partitions),
        per_second=(
            sum(of.accepted / of.seconds for of in rates),
            sum(of.released / of.seconds for of in rates),
            sum(archived(of) / of.seconds for of in rates),
        )
        if rates
        else None,
    )


def _sum(figures: Iterable[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None
