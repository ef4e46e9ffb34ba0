"""Groups without members that have records to deliver, and lags that grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.analysis.anomaly import Severity
from share_state.analysis.names import plural
from share_state.doctor.finding import Finding
from share_state.live.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.doctor.facts import Facts

_CHECK: Final = "members"


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each group without members, and for each share partition whose members take less than comes."""
    for group in facts.view.groups:
        waiting = [one for one in group.share_partitions if one.lag is not None and one.lag > 0 and one.topic is not None]
        if group.members == () and waiting:
            lag = sum(one.lag or 0 for one in waiting)
            topics = sorted({one.topic for one in waiting if one.topic is not None})
            yield Finding(
                check=_CHECK,
                severity=Severity.CRITICAL,
                text=f"the group has no members; unsettled: {plural(lag, 'record')} of {plural(len(waiting), 'share partition')}",
                advice="Start its members. If the group is not needed any more, delete it: that deletes its state, and frees the "
                "state topic.",
                group=group.group,
                topic=topics[0] if len(topics) == 1 else None,
                evidence={"lag": lag, "share_partitions": len(waiting), "topics": len(topics), "members": 0},
                commands=(facts.tools.share_groups("--delete", "--group", group.group),),
            )
        for one in group.share_partitions:
            if one.verdict.health is Health.SLOW:
                yield Finding.of(
                    one,
                    _CHECK,
                    Severity.WARNING,
                    f"{one.verdict.why}, with {len(one.members)} members",
                    "Members take less than is produced: start more of them, or let each take more (max.poll.records).",
                    commands=(facts.tools.share_groups("--describe", "--group", one.group, "--members"),),
                    lag=one.lag,
                    lag_rise=None if one.rates is None else one.rates.lag_rise,
                    members=len(one.members),
                )
