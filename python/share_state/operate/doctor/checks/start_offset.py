"""Start offsets that stand although records after them are delivered, by what holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import AnomalyKind, Severity
from share_state.operate.doctor.finding import Figure, Finding
from share_state.operate.live.group_limits import DELIVERY_LIMIT, delivery_limit_of
from share_state.operate.live.health import Health
from share_state.types import RecordState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.live_row import LiveRow
    from share_state.operate.live.view import GroupView, SharePartitionView

_CHECK: Final = "start_offset"
_RENEWALS: Final = "share.renew.acknowledge.enable"
#: Kafka's least delivery limit.
_LEAST: Final = 2


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each share partition whose start offset is held for long."""
    for group, one in facts.share_partitions():
        lasting = [found for found in facts.anomalies_of(one, AnomalyKind.START_OFFSET_STUCK) if found.until_timestamp is None]
        # Of a record that comes back because its lock runs out, the lock duration is the finding.
        by_locks = one.by_locks and one.row is not None and one.row.held_state == RecordState.AVAILABLE
        if one.row is not None and not by_locks and (lasting or one.verdict.health is Health.STUCK):
            text = lasting[0].evidence if lasting else f"the start offset stands: {one.verdict.why}"
            advice, commands = _mend(facts, group, one, one.row)
            since = one.row.held_since
            evidence: dict[str, Figure] = {
                "start_offset": one.row.start_offset,
                "held_offset": one.row.held_offset,
                "held_count": one.row.held_count,
                "held_seconds": None if since is None else max(0, facts.view.at_ms - since) / 1000,
                "lag": one.lag,
            }
            yield Finding.of(one, _CHECK, Severity.CRITICAL, text, advice, commands=commands, **evidence)


def _mend(facts: Facts, group: GroupView, one: SharePartitionView, row: LiveRow) -> tuple[str, tuple[str, ...]]:
    members = facts.tools.share_groups("--describe", "--group", one.group, "--members")
    if row.held_state == RecordState.ARCHIVING:
        queue = group.configs.get("errors.deadletterqueue.topic.name", "")
        look = (facts.tools.call("kafka-topics.sh", "--describe", "--topic", queue),) if queue else ()
        return (
            "See whether the dead-letter topic exists and takes writes: until then the start offset cannot pass the record.",
            look,
        )
    if row.held_state == RecordState.AVAILABLE and row.held_count is not None:
        limit = delivery_limit_of(group.configs)
        lower = max(_LEAST, row.held_count + 1)
        if lower >= limit:
            return "It is archived when it comes back next. If it is not delivered, see whether members are alive.", (members,)
        advice = (
            f"Members give the record back, or their locks run out on it. With a delivery limit of {lower} it is archived when "
            "it comes back next, as is every other record of the group; set the limit back after that."
        )
        return advice, tuple(facts.tools.group_config(one.group, {DELIVERY_LIMIT[0]: each}) for each in (lower, limit))
    advice = (
        "A member has held it since its first delivery: one that hangs, or renews its lock again and again. Without renewals its "
        "lock runs out; or restart that member. An offset without a record for this group is passed by the next fetch."
    )
    # A release that does not know the setting refuses it.
    renews = _RENEWALS in group.configs
    stop = (facts.tools.group_config(one.group, {_RENEWALS: "false"}),) if renews else ()
    return advice, (*stop, members)
