"""The lock duration against the time that members take: locks that run out before members answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.analysis.names import plural
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.blame import BLAMING, given_up_of, is_by_locks, is_loop, is_loss, records_of
from share_state.operate.live.group_limits import LOCK_DURATION, delivery_limit_of
from share_state.operate.live.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.view import GroupView, SharePartitionView

_CHECK: Final = "lock_duration"
_HIGHEST: Final = "group.share.max.record.lock.duration.ms"
#: Kafka's default of it.
_KAFKA_HIGHEST: Final = 60_000
#: A lock should last so many times as long as members were seen to take.
_ROOM: Final = 2


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each group whose deliveries end with their locks."""
    for group in facts.view.groups:
        blamed = [one for one in group.share_partitions if one.by_locks or one.verdict.health is Health.EXPIRING]
        if blamed:
            yield _finding(facts, group, blamed)


def _finding(facts: Facts, group: GroupView, blamed: list[SharePartitionView]) -> Finding:
    found = [each for one in blamed for each in facts.anomalies_of(one, *BLAMING) if is_by_locks(each)]
    looped = [each for each in found if is_loop(each)]
    rows = [one.row for one in blamed if one.row is not None]
    accepted = sum(row.accepted_total for row in rows)
    given_up = sum(given_up_of(row, delivery_limit_of(group.configs)) for row in rows)
    reasons = [each.evidence for each in (looped or found)[:1]]
    reasons += dict.fromkeys(one.verdict.why for one in blamed if one.verdict.health is Health.EXPIRING and one.verdict.why)
    if len(found) > 1:
        reasons.append(f"{len(found)} such findings within 15 minutes, about {plural(records_of(found), 'record')}")
    if given_up:
        reasons.append(f"{plural(given_up, 'record')} given up, {accepted:,} accepted")
    lock_ms = facts.limit(group.configs, LOCK_DURATION)
    advice, commands = _mend(facts, group.group, lock_ms)
    topics = {one.topic or one.topic_id for one in blamed}
    is_critical = any(each.severity == Severity.CRITICAL for each in found) or is_loss(given_up, accepted + given_up)
    return Finding(
        check=_CHECK,
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        text="; ".join(reasons),
        advice=advice,
        group=group.group,
        topic=topics.pop() if len(topics) == 1 else None,
        partition=blamed[0].partition if len(blamed) == 1 else None,
        evidence={
            "lock_duration_ms": lock_ms,
            "loops": len(looped),
            "late_or_poison": len(found) - len(looped),
            "released": sum(row.released_total for row in rows),
            "accepted": accepted,
        },
        commands=commands,
    )


def _mend(facts: Facts, group: str, lock_ms: int | None) -> tuple[str, tuple[str, ...]]:
    otherwise = (
        "or let members take fewer records at a time (max.poll.records), or renew their locks. The state topic does not tell a "
        "release from a lock that ran out: if members release these records, see why."
    )
    highest = facts.highest(_HIGHEST, _KAFKA_HIGHEST)
    if lock_ms is None:
        return f"The lock duration of the group may not be read. If members take longer, raise it, {otherwise}", ()
    longer = min(_ROOM * lock_ms, highest)
    if longer <= lock_ms:
        return (
            f"The lock duration is the highest that the brokers take. Raise {_HIGHEST} in server.properties, {otherwise}",
            (),
        )
    return (
        f"Members take longer than the lock lasts, {lock_ms} ms, or hang. Let it last longer, {otherwise}",
        (facts.tools.group_config(group, {LOCK_DURATION[0]: longer}),),
    )
