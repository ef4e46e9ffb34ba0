"""The lock duration against the time that members take: locks that run out before members answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.analysis.anomaly import AnomalyKind, Severity
from share_state.doctor.finding import Finding
from share_state.live.group_limits import LOCK_DURATION
from share_state.live.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.doctor.facts import Facts
    from share_state.live.view import SharePartitionView

_CHECK: Final = "lock_duration"
_HIGHEST: Final = "group.share.max.record.lock.duration.ms"
#: Kafka's default of it.
_KAFKA_HIGHEST: Final = 60_000
#: A lock should last so many times as long as members were seen to take.
_ROOM: Final = 2


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each share partition whose deliveries end with their locks."""
    for group, one in facts.share_partitions():
        looped = facts.anomalies_of(one, AnomalyKind.LOCK_EXPIRY_LOOP)
        late = facts.anomalies_of(one, AnomalyKind.LATE_OR_POISON)
        expiring = one.verdict.health is Health.EXPIRING
        if not (looped or late or expiring):
            continue
        lock_ms = facts.limit(group.configs, LOCK_DURATION)
        reasons = [found.evidence for found in (looped or late)[:1]]
        if expiring:
            reasons.append(one.verdict.why)
        findings = len(looped) + len(late)
        if findings > 1:
            reasons.append(f"{findings} such findings within 15 minutes")
        advice, commands = _mend(facts, one, lock_ms)
        yield Finding.of(
            one,
            _CHECK,
            Severity.WARNING,
            "; ".join(reasons),
            advice,
            commands=commands,
            lock_duration_ms=lock_ms,
            loops=len(looped),
            late_or_poison=len(late),
            released=None if one.row is None else one.row.released_total,
            accepted=None if one.row is None else one.row.accepted_total,
        )


def _mend(facts: Facts, one: SharePartitionView, lock_ms: int | None) -> tuple[str, tuple[str, ...]]:
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
        (facts.tools.group_config(one.group, {LOCK_DURATION[0]: longer}),),
    )
