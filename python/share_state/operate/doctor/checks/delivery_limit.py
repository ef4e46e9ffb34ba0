"""The delivery limit against what happens to records: one that gives up too many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import AnomalyKind, Severity
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.blame import FEWEST, ONE_IN, given_up_of, is_loss
from share_state.operate.live.group_limits import DELIVERY_LIMIT, delivery_limit_of
from share_state.operate.live.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.view import GroupView

_CHECK: Final = "delivery_limit"
_HIGHEST: Final = "group.share.max.delivery.count.limit"
#: Kafka's default of it.
_KAFKA_HIGHEST: Final = 10


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each group that gives up more than one record in a hundred at its limit."""
    for group in facts.view.groups:
        limit = delivery_limit_of(group.configs)
        rows = [one.row for one in group.share_partitions if one.row is not None]
        at_limit = sum(given_up_of(row, limit) for row in rows)
        settled = sum(row.accepted_total + sum(records for _, records in row.archived_totals) for row in rows)
        # Records that come back because their locks run out are told with the lock duration.
        if at_limit < FEWEST or at_limit * ONE_IN < settled or any(one.by_locks for one in group.share_partitions):
            continue
        higher = min(2 * limit, facts.highest(_HIGHEST, _KAFKA_HIGHEST))
        advice = "These records were not accepted in time, or at all, and will not be delivered again. "
        if not _would_help(facts, group):
            higher = limit
            advice += "More deliveries would end as these did: see the other findings about the group."
        elif higher > limit:
            advice += "If they would be accepted later, as when a service behind the members was away, allow more deliveries."
        else:
            advice += f"The limit is the highest that the brokers take ({_HIGHEST}): release records later, or mend the members."
        yield Finding(
            check=_CHECK,
            severity=Severity.CRITICAL if is_loss(at_limit, settled) else Severity.WARNING,
            text=f"{at_limit} of {settled} records were given up after {limit} deliveries",
            advice=advice,
            group=group.group,
            evidence={"delivery_limit": limit, "given_up": at_limit, "settled": settled},
            commands=(facts.tools.group_config(group.group, {DELIVERY_LIMIT[0]: higher}),) if higher > limit else (),
        )


def _would_help(facts: Facts, group: GroupView) -> bool:
    """Return whether more deliveries may help: not single records that come back at once, nor one that holds a start offset."""
    burst = any(facts.anomalies_of(one, AnomalyKind.ARCHIVE_BURST) for one in group.share_partitions)
    at_once = any(facts.anomalies_of(one, AnomalyKind.POISON_RECORD) for one in group.share_partitions)
    stuck = any(one.verdict.health in {Health.STUCK, Health.POISON} for one in group.share_partitions)
    return burst or not (at_once or stuck)
