"""The delivery limit against what happens to records: one that gives up too many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.analysis.anomaly import Severity
from share_state.doctor.finding import Finding
from share_state.live.group_limits import DELIVERY_LIMIT, delivery_limit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.doctor.facts import Facts

_CHECK: Final = "delivery_limit"
_HIGHEST: Final = "group.share.max.delivery.count.limit"
#: Kafka's default of it.
_KAFKA_HIGHEST: Final = 10
#: Records given up at the limit, and of how many that were settled, from which on the limit is looked at.
_FEWEST: Final = 10
_ONE_IN: Final = 100


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each group that gives up more than one record in a hundred at its limit."""
    for group in facts.view.groups:
        limit = delivery_limit_of(group.configs)
        rows = [one.row for one in group.share_partitions if one.row is not None]
        at_limit = sum(records for row in rows for count, records in row.archived_totals if count >= limit)
        settled = sum(row.accepted_total + sum(records for _, records in row.archived_totals) for row in rows)
        if at_limit < _FEWEST or at_limit * _ONE_IN < settled:
            continue
        higher = min(2 * limit, facts.highest(_HIGHEST, _KAFKA_HIGHEST))
        advice = "These records were not accepted in time, or at all, and will not be delivered again. "
        if higher > limit:
            advice += "If they would be accepted later, as when a service behind the members was away, allow more deliveries."
        else:
            advice += f"The limit is the highest that the brokers take ({_HIGHEST}): release records later, or mend the members."
        yield Finding(
            check=_CHECK,
            severity=Severity.WARNING,
            text=f"{at_limit} of {settled} records were given up after {limit} deliveries",
            advice=advice,
            group=group.group,
            evidence={"delivery_limit": limit, "given_up": at_limit, "settled": settled},
            commands=(facts.tools.group_config(group.group, {DELIVERY_LIMIT[0]: higher}),) if higher > limit else (),
        )
