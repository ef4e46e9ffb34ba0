"""Topics of which one partition has nearly all that waits, while the members of the others have nothing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import AnomalyConfig, Severity
from share_state.operate.analysis.names import plural
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.view import SharePartitionView

_CHECK: Final = "skew"
#: Records that wait in one partition, and how many times as many as in the others on average, from which on it is told.
_FEWEST: Final = 100
_TIMES: Final = 10
_MANY: Final = AnomalyConfig().lag_records
#: Words that have another cause for a lag than many records.
_OTHER_CAUSES: Final = frozenset(Health) - {Health.OK, Health.SLOW}


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each topic of a group with members that is skewed."""
    for group in facts.view.groups:
        by_topic: dict[str, list[SharePartitionView]] = {}
        for one in group.share_partitions:
            by_topic.setdefault(one.topic_id, []).append(one)
        for found in by_topic.values():
            if group.members and len(found) > 1:
                yield from _of_topic(facts, found)


def _of_topic(facts: Facts, found: list[SharePartitionView]) -> Iterator[Finding]:
    most = max(found, key=lambda one: one.lag or 0)
    lag = most.lag or 0
    others = sum(one.lag or 0 for one in found) - lag
    mean = others / (len(found) - 1)
    if lag < _FEWEST or lag < _TIMES * mean or most.verdict.health in _OTHER_CAUSES or most.has_nothing_left:
        return
    ends = [one.log_end_offset for one in found if one is not most and one.log_end_offset is not None]
    members = {member for one in found if one is not most for member in one.members} - set(most.members)
    idle = f", while {plural(len(members), 'member')} of the others may be idle" if members else ""
    yield Finding.of(
        most,
        _CHECK,
        Severity.WARNING if lag >= _MANY else Severity.INFO,
        f"{plural(lag, 'record')} of {plural(lag + others, 'unsettled record')} of the topic are in this one of "
        f"{plural(len(found), 'partition')}{idle}",
        "Where its log end is far beyond those of the others, producers send most records here: look at their keys. "
        "Otherwise see what slows its members. Members are spread evenly over partitions, whatever waits in them.",
        commands=(facts.tools.share_groups("--describe", "--group", most.group),),
        lag=lag,
        others_lag=others,
        partitions=len(found),
        log_end_offset=most.log_end_offset,
        others_highest_log_end_offset=max(ends, default=None),
    )
