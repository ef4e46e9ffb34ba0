"""The columns of the two upper levels: share groups, and share partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.live import Health
from share_state.operate.top import figures
from share_state.operate.top.column import Column, Table
from share_state.operate.top.lines import GroupLine, Line, archived, head, key_of, topic_of, unsettled, urgency
from share_state.util.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GROUPS", "HEALTH_STYLES", "SHARE_PARTITIONS", "SHARE_PARTITIONS_OF_ONE", "searched", "searched_group"]

#: Both colours of a patch are named, so it reads on light and on dark terminals.
_TROUBLE, _WARNING = "bold white on red", "black on yellow"
HEALTH_STYLES: Final = {
    Health.POISON: _TROUBLE,
    Health.STUCK: _TROUBLE,
    Health.NO_MEMBERS: _TROUBLE,
    Health.FULL: _TROUBLE,
    Health.NO_STATE: _WARNING,
    Health.STALLED: _TROUBLE,
    Health.EXPIRING: _WARNING,
    Health.SLOW: _WARNING,
    Health.OK: "green",
}
_ORDER: Final = {health: place for place, health in enumerate(Health)}


def _most(figure: float | None) -> float:
    """Order figures: the greatest first, those that are not known last."""
    return float("inf") if figure is None else -figure


def _rate(of: Callable[[Line], int | None]) -> tuple[Callable[[Line], str], Callable[[Line], float]]:
    """Return the text and the order of a rate."""

    def per_second(line: Line) -> float | None:
        rates, records = line.one.rates, of(line)
        return None if rates is None or records is None or rates.seconds <= 0 else records / rates.seconds

    def text(line: Line) -> str:
        rates = line.one.rates
        return figures.UNKNOWN if rates is None else figures.per_second(of(line), rates.seconds)

    return text, lambda line: _most(per_second(line))


_ACCEPTED = _rate(lambda line: None if line.one.rates is None else line.one.rates.accepted)
_BACK = _rate(lambda line: None if line.one.rates is None else line.one.rates.released)
_ARCHIVED = _rate(lambda line: None if line.one.rates is None else archived(line.one.rates))
_SAYS_ACCEPTED: Final = "records that members accepted, a second, over the last minute"
_SAYS_BACK: Final = "records that came back, a second: released, or their locks ran out; the log cannot tell which"
_SAYS_ARCHIVED: Final = "records that were rejected, archived at the delivery limit or sent to the dead-letter queue, a second"
_SAYS_TREND: Final = "by how much the lag rose or fell over the last minute"
_SAYS_IN_FLIGHT: Final = "records of the window that are not settled; not those that a member holds for the first time"


def _held_ms(line: Line) -> int | None:
    row = line.one.row
    return None if row is None or row.held_since is None else line.at_ms - row.held_since


def _oldest_ms(line: Line) -> int | None:
    row = line.one.row
    if row is None or (row.held_offset is None and not line.one.lag):
        return None
    return line.at_ms - row.start_since


def _members(line: Line) -> str:
    of = line.group.members
    return figures.UNKNOWN if of is None else f"{len(line.one.members)}/{len(of)}"


def _trend_style(rise: int | None) -> str:
    return "" if not rise else "red" if rise > 0 else "green"


def _rise(line: Line) -> int | None:
    return None if line.one.rates is None else line.one.rates.lag_rise


def _deliveries(line: Line) -> tuple[tuple[int, int], ...]:
    return () if line.one.row is None else line.one.row.delivery_counts


_HEALTH: Final = Column[Line](
    "HEALTH",
    lambda line: line.one.verdict.health.value,
    urgency,
    lambda line: HEALTH_STYLES[line.one.verdict.health],
    width=10,
    says="a word for how it does; the first line below the table says why",
)
_GROUP: Final = Column[Line]("GROUP", lambda line: printable(line.one.group), lambda line: line.one.group)
_OTHERS: Final = (
    Column[Line]("TOPIC", lambda line: topic_of(line.one), lambda line: line.one.topic or line.one.topic_id),
    Column[Line]("PART", lambda line: str(line.one.partition), lambda line: line.one.partition, width=4, right=True),
    Column[Line](
        "LAG",
        lambda line: figures.short(line.one.lag),
        lambda line: _most(line.one.lag),
        width=5,
        right=True,
        says="log end offset - start offset - delivery complete count",
    ),
    Column[Line](
        "TREND",
        lambda line: figures.change(_rise(line)),
        lambda line: _most(_rise(line)),
        lambda line: _trend_style(_rise(line)),
        width=6,
        right=True,
        says=_SAYS_TREND,
    ),
    Column[Line](
        "FLIGHT",
        lambda line: figures.short(unsettled(line.one.row)),
        lambda line: _most(unsettled(line.one.row)),
        width=6,
        right=True,
        says=_SAYS_IN_FLIGHT,
    ),
    Column[Line](
        "HEAD",
        lambda line: head(line.one.row),
        lambda line: head(line.one.row),
        width=9,
        says="the record that holds the start offset: available again, on its way to the dead-letter queue, or unwritten",
    ),
    Column[Line](
        "HELD",
        lambda line: figures.age(_held_ms(line)),
        lambda line: _most(_held_ms(line)),
        width=4,
        right=True,
        says="since a delivery first ended while the start offset stands there",
    ),
    Column[Line](
        "OLDEST",
        lambda line: figures.age(_oldest_ms(line)),
        lambda line: _most(_oldest_ms(line)),
        width=6,
        right=True,
        says="since the start offset stands where it is: the oldest unsettled record is at least as old",
    ),
    Column[Line]("ACC/s", _ACCEPTED[0], _ACCEPTED[1], width=5, right=True, says=_SAYS_ACCEPTED),
    Column[Line]("BACK/s", _BACK[0], _BACK[1], width=6, right=True, says=_SAYS_BACK),
    Column[Line]("ARCH/s", _ARCHIVED[0], _ARCHIVED[1], width=6, right=True, says=_SAYS_ARCHIVED),
    Column[Line](
        "COUNTS",
        lambda line: figures.histogram(_deliveries(line)),
        lambda line: -max((count for count, _ in _deliveries(line)), default=0),
        width=6,
        says="records of the window by deliveries: a bar each for 1, 2, 3, 4, and 5 or more",
    ),
    Column[Line](
        "MEMBERS",
        _members,
        lambda line: _most(len(line.one.members)),
        width=7,
        right=True,
        says="members that are assigned it, of all members of the group",
    ),
    Column[Line]("WHY", lambda line: printable(line.one.verdict.why)),
)

SHARE_PARTITIONS: Final = Table[Line]((_HEALTH, _GROUP, *_OTHERS), lambda line: key_of(line.one), fixed=4)
SHARE_PARTITIONS_OF_ONE: Final = Table[Line]((_HEALTH, *_OTHERS), lambda line: key_of(line.one), fixed=3)


def _words(line: GroupLine) -> str:
    return ", ".join(f"{number} {health.value}" for health, number in line.words) or "no share partition"


def _group_rate(line: GroupLine, place: int) -> str:
    return figures.UNKNOWN if line.per_second is None else figures.per_second(round(line.per_second[place] * 1000), 1000)


def _group_order(line: GroupLine, place: int) -> float:
    return _most(None if line.per_second is None else line.per_second[place])


GROUPS: Final = Table[GroupLine](
    (
        Column(
            "HEALTH",
            lambda line: line.health.value,
            lambda line: (_ORDER[line.health], -(line.lag or 0), line.group.group),
            lambda line: HEALTH_STYLES[line.health],
            width=10,
            says="the most urgent word of its share partitions",
        ),
        Column("GROUP", lambda line: printable(line.group.group), lambda line: line.group.group),
        Column(
            "STATE", lambda line: printable(line.group.state or figures.UNKNOWN), lambda line: line.group.state or "", width=6
        ),
        Column(
            "MEMBERS",
            lambda line: figures.short(None if line.group.members is None else len(line.group.members)),
            lambda line: _most(None if line.group.members is None else len(line.group.members)),
            width=7,
            right=True,
        ),
        Column(
            "PARTS",
            lambda line: figures.short(len(line.group.share_partitions)),
            lambda line: _most(len(line.group.share_partitions)),
            width=5,
            right=True,
            says="share partitions",
        ),
        Column("LAG", lambda line: figures.short(line.lag), lambda line: _most(line.lag), width=5, right=True, says="their sum"),
        Column(
            "TREND",
            lambda line: figures.change(line.lag_rise),
            lambda line: _most(line.lag_rise),
            lambda line: _trend_style(line.lag_rise),
            width=6,
            right=True,
            says=_SAYS_TREND,
        ),
        Column(
            "FLIGHT",
            lambda line: figures.short(line.in_flight),
            lambda line: _most(line.in_flight),
            width=6,
            right=True,
            says=_SAYS_IN_FLIGHT,
        ),
        Column("ACC/s", lambda line: _group_rate(line, 0), lambda line: _group_order(line, 0), width=5, right=True),
        Column("BACK/s", lambda line: _group_rate(line, 1), lambda line: _group_order(line, 1), width=6, right=True),
        Column("ARCH/s", lambda line: _group_rate(line, 2), lambda line: _group_order(line, 2), width=6, right=True),
        Column("WORDS", _words, says="how many share partitions have which word"),
    ),
    lambda line: line.group.group,
    fixed=2,
)


def searched(line: Line) -> str:
    """Return what a filter looks at."""
    one = line.one
    return f"{one.verdict.health.value} {one.group} {one.topic or ''} {one.topic_id} {one.partition}".casefold()


def searched_group(line: GroupLine) -> str:
    """Return what a filter looks at."""
    return f"{_words(line)} {line.group.group} {line.group.state or ''}".casefold()
