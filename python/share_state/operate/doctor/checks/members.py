"""Groups without members that have records to deliver, members that settle nothing, and lags that grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.analysis.names import plural
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.view import SharePartitionView

_CHECK: Final = "members"


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each group without members, and for each share partition whose members take less than comes."""
    for group in facts.view.groups:
        waiting = [one for one in group.share_partitions if one.lag and one.topic is not None and not one.has_nothing_left]
        look = facts.tools.share_groups("--describe", "--group", group.group)
        if group.members == () and waiting:
            lag = sum(one.lag or 0 for one in waiting)
            topics = sorted({one.topic for one in waiting if one.topic is not None})
            yield Finding(
                check=_CHECK,
                severity=Severity.CRITICAL,
                text=f"the group has no members; unsettled: {plural(lag, 'record')} of {plural(len(waiting), 'share partition')}",
                advice="Start its members. If nobody needs the group any more, it can be deleted with its state, which cannot be "
                f"taken back: {facts.tools.share_groups('--delete', '--group', group.group)}",
                group=group.group,
                topic=topics[0] if len(topics) == 1 else None,
                evidence={"lag": lag, "share_partitions": len(waiting), "topics": len(topics), "members": 0},
                commands=(look,),
            )
        for one in group.share_partitions:
            if one.verdict.health is Health.SLOW:
                yield Finding.of(
                    one,
                    _CHECK,
                    Severity.WARNING,
                    f"{one.verdict.why}, with {plural(len(one.members), 'member')}",
                    "Members take less than is produced: start more of them, or let each take more (max.poll.records).",
                    commands=(facts.tools.share_groups("--describe", "--group", one.group, "--members"),),
                    lag=one.lag,
                    lag_rise=None if one.rates is None else one.rates.lag_rise,
                    members=len(one.members),
                )
            if one.verdict.health is Health.STALLED and one.transaction is None:
                yield Finding.of(
                    one,
                    _CHECK,
                    Severity.CRITICAL,
                    f"{one.verdict.why}, with {plural(len(one.members), 'member')}",
                    _stalled(one),
                    commands=(facts.tools.share_groups("--describe", "--group", one.group, "--members"),),
                    lag=one.lag,
                    waiting_offset=None if one.head is None else one.head.offset,
                    members=len(one.members),
                )


def _stalled(one: SharePartitionView) -> str:
    if not one.members:
        return "No member is assigned the share partition: see what they subscribe to, and the log of the group's coordinator."
    return (
        "Its members take nothing, or hold what they took and settle none of it: look at their logs for what they wait for, and "
        "whether they poll at all. A restart of the members gives their records to others."
    )
