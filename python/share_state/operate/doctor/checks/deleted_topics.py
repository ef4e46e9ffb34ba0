"""State of topics that are no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.analysis.names import plural
from share_state.operate.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each group and topic id that has state and is not in the cluster."""
    if not facts.view.topics_known:
        return
    unseen = {right.topic_id for right in facts.view.missing_rights}
    for group in facts.view.groups:
        gone: dict[str, int] = {}
        for one in group.share_partitions:
            if one.topic is None and one.row is not None and one.topic_id not in unseen:
                gone[one.topic_id] = gone.get(one.topic_id, 0) + 1
        for topic_id, share_partitions in gone.items():
            advice = (
                "Brokers delete it once the group hears of the deletion: look again in a minute. If it stays, and nobody needs "
                "the group, delete all of it, which cannot be undone (Kafka's tools name topics, and this has no name): "
                f"{facts.tools.share_groups('--delete', '--group', group.group)}"
            )
            yield Finding(
                check="deleted_topic",
                severity=Severity.WARNING,
                text=f"there is state of {plural(share_partitions, 'share partition')} of a topic that does not exist any more",
                advice=advice,
                group=group.group,
                topic=topic_id,
                evidence={"share_partitions": share_partitions, "topic_id": topic_id},
                commands=(facts.tools.share_groups("--describe", "--group", group.group, "--offsets"),),
            )
