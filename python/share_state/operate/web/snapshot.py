"""A view, and what the pages count over it once, not at every request."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.operate.live.health import Health

if TYPE_CHECKING:
    from share_state.operate.live.view import GroupView, SharePartitionView, View

__all__ = ["GroupSummary", "Snapshot", "Totals", "snapshot_of", "urgency"]

_ORDER: Final = {health: number for number, health in enumerate(Health)}


class Totals(NamedTuple):
    """Sums over share partitions."""

    share_partitions: int
    in_trouble: int
    #: The sum of the lags that are known; None where none is.
    lag: int | None
    #: Share partitions whose lag is not known.
    without_lag: int


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A group in one line.

    Attributes:
        group: the group.
        health: the most urgent word of its share partitions.
        why: the reason for that word, with the share partition.
        words: how many share partitions have each word, the most urgent first.
        totals: over its share partitions.
    """

    group: GroupView
    health: Health
    why: str
    words: tuple[tuple[Health, int], ...]
    totals: Totals


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A view with a line for each group.

    Attributes:
        view: the view.
        groups: by group id.
        totals: over everything.
    """

    view: View
    groups: dict[str, GroupSummary]
    totals: Totals

    def share_partition(self, group: str, topic_id: str, partition: int) -> SharePartitionView | None:
        """Find a share partition; None where there is none."""
        of_group = self.groups.get(group)
        if of_group is None:
            return None
        wanted = (topic_id, partition)
        return next((one for one in of_group.group.share_partitions if (one.topic_id, one.partition) == wanted), None)


def snapshot_of(view: View) -> Snapshot:
    """Count over a view."""
    groups = {group.group: _summary(group) for group in view.groups}
    everything = [one for group in view.groups for one in group.share_partitions]
    return Snapshot(view, groups, _totals(everything))


def urgency(one: SharePartitionView) -> tuple[int, int, str, int]:
    """Order share partitions: the likeliest trouble first, then the greatest lag."""
    return _ORDER[one.verdict.health], -(one.lag or 0), one.topic or one.topic_id, one.partition


def _summary(group: GroupView) -> GroupSummary:
    words = Counter(one.verdict.health for one in group.share_partitions)
    counted = tuple(sorted(words.items(), key=lambda pair: _ORDER[pair[0]]))
    totals = _totals(group.share_partitions)
    if not group.share_partitions:
        return GroupSummary(group, Health.OK, "it has no share partitions", counted, totals)
    worst = min(group.share_partitions, key=urgency)
    health = worst.verdict.health
    why = worst.verdict.why
    if health is not Health.OK:
        why = f"{worst.topic or worst.topic_id} {worst.partition}: {why}"
    elif len(group.share_partitions) > 1:
        why = "every share partition is OK"
    return GroupSummary(group, health, why, counted, totals)


def _totals(found: tuple[SharePartitionView, ...] | list[SharePartitionView]) -> Totals:
    lags = [one.lag for one in found if one.lag is not None]
    in_trouble = sum(one.verdict.health is not Health.OK for one in found)
    return Totals(len(found), in_trouble, sum(lags) if lags or not found else None, len(found) - len(lags))
