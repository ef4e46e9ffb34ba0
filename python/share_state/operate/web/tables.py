"""The two tables of the pages: groups, and the share partitions of one group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.live.health import Health
from share_state.operate.web.snapshot import GroupSummary, urgency
from share_state.operate.web.table import Column, Table
from share_state.operate.web.words import per_minute

if TYPE_CHECKING:
    from share_state.operate.dead_letters import DeadLetter
    from share_state.operate.live.view import SharePartitionView

__all__ = ["DEAD_LETTERS", "GROUPS", "SHARE_PARTITIONS", "highest_count", "in_flight"]

_ORDER: Final = {health: number for number, health in enumerate(Health)}


def in_flight(one: SharePartitionView) -> int | None:
    """Count the records of the window that are not settled; None where there is no state."""
    return None if one.row is None else one.row.available + one.row.archiving


def highest_count(one: SharePartitionView) -> int | None:
    """Find the greatest delivery count of the window; None where there is none."""
    return None if one.row is None else max((count for count, _ in one.row.delivery_counts), default=None)


def _start(one: SharePartitionView) -> int | None:
    return None if one.row is None or one.row.start_offset < 0 else one.row.start_offset


def _group_order(one: GroupSummary) -> tuple[int, int, str]:
    return _ORDER[one.health], -(one.totals.lag or 0), one.group.group


GROUPS: Final[Table[GroupSummary]] = Table(
    columns=(
        Column("health", "Health", lambda one: _ORDER[one.health]),
        Column("group", "Group", lambda one: one.group.group),
        Column("state", "State", lambda one: one.group.state),
        Column("members", "Members", lambda one: None if one.group.members is None else len(one.group.members), is_number=True),
        Column("share_partitions", "Share partitions", lambda one: one.totals.share_partitions, is_number=True),
        Column("in_trouble", "In trouble", lambda one: one.totals.in_trouble, is_number=True),
        Column("lag", "Lag", lambda one: one.totals.lag, is_number=True),
    ),
    names=lambda one: (one.group.group,),
    health=lambda one: one.health,
    order=_group_order,
)

SHARE_PARTITIONS: Final[Table[SharePartitionView]] = Table(
    columns=(
        Column("health", "Health", lambda one: _ORDER[one.verdict.health]),
        Column("topic", "Topic", lambda one: one.topic or one.topic_id),
        Column("partition", "Partition", lambda one: one.partition, is_number=True),
        Column("lag", "Lag", lambda one: one.lag, is_number=True),
        Column("start", "Start offset", _start, is_number=True),
        Column("in_flight", "In flight", in_flight, is_number=True),
        Column("deliveries", "Most deliveries", highest_count, is_number=True),
        Column("members", "Members", lambda one: len(one.members), is_number=True),
        Column("accepted", "Accepted / min", lambda one: per_minute(one.rates, "accepted"), is_number=True),
    ),
    names=lambda one: (one.topic or "", one.topic_id, *one.members),
    health=lambda one: one.verdict.health,
    order=urgency,
)

DEAD_LETTERS: Final[Table[DeadLetter]] = Table(
    columns=(
        Column("time", "Time", lambda one: one.timestamp),
        Column("topic", "Topic", lambda one: one.topic),
        Column("partition", "Partition", lambda one: one.partition, is_number=True),
        Column("offset", "Offsets", lambda one: one.first_offset, is_number=True),
        Column("deliveries", "Deliveries", lambda one: one.delivery_count, is_number=True),
        Column("cause", "Cause", lambda one: one.cause.value),
    ),
    names=lambda one: (one.topic, one.cause.value, one.message or ""),
    health=None,
    order=lambda one: (-one.timestamp, -one.last_offset),
)
