"""Asks for the facts, lets every check look at them, and puts the findings in order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.doctor.checks import (
    anomalies,
    deleted_topics,
    delivery_limit,
    lock_duration,
    members,
    open_transaction,
    poison,
    record_locks,
    rights,
    skew,
    start_offset,
    state_topic,
)
from share_state.operate.doctor.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from share_state.operate.doctor.finding import Finding
    from share_state.operate.doctor.tools import Tools
    from share_state.operate.live.live_view import LiveView
    from share_state.operate.live.view import View

__all__ = ["CHECKS", "diagnose", "examine"]

#: By name, in the order in which findings of one severity are told: causes before what they bring about.
CHECKS: Final[dict[str, Callable[[Facts], Iterator[Finding]]]] = {
    "missing_right": rights.check,
    "state_topic": state_topic.check,
    "open_transaction": open_transaction.check,
    "start_offset": start_offset.check,
    "lock_duration": lock_duration.check,
    "poison_record": poison.check,
    "delivery_limit": delivery_limit.check,
    "record_locks": record_locks.check,
    "members": members.check,
    "skew": skew.check,
    "deleted_topic": deleted_topics.check,
    "anomaly": anomalies.check,
}
_URGENCY: Final = {severity: -place for place, severity in enumerate(Severity)}


async def examine(live: LiveView, tools: Tools, *, seconds: float = 0.0) -> tuple[View, list[Finding]]:
    """Look at a cluster through a view that is open.

    Args:
        live: the view.
        tools: how Kafka's tools reach the cluster.
        seconds: look again after so long, so that what grows or comes back meanwhile is seen; 0 looks once.

    Returns:
        The last view, whose problems say what could not be seen, and the findings, the most urgent first.
    """
    await live.refresh()
    cluster = await live.cluster()
    if seconds > 0:
        await asyncio.sleep(seconds)
    view = await live.refresh()
    facts = Facts(tools, view, tuple(await live.anomalies()), cluster)
    return view, await asyncio.to_thread(diagnose, facts)


def diagnose(facts: Facts) -> list[Finding]:
    """Let every check look at the facts; the most urgent finding comes first."""
    order = list(CHECKS)
    found = [finding for check in CHECKS.values() for finding in check(facts)]
    found.sort(
        key=lambda one: (_URGENCY[one.severity], order.index(one.check), one.group or "", one.topic or "", one.partition or 0)
    )
    return found
