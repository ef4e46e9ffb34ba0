"""A share partition in words: the head of its screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from share_state.operate.analysis.names import instant
from share_state.operate.live import Member
from share_state.operate.top import figures
from share_state.operate.top.advice import ADVICE
from share_state.operate.top.column import Column, Table
from share_state.operate.top.levels import HEALTH_STYLES
from share_state.operate.top.lines import Line, head, unsettled
from share_state.util.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from share_state.operate.live import Rates

__all__ = ["MEMBERS", "described", "members_of"]

#: Curves of fewer points say nothing.
_POINTS: Final = 2


def described(line: Line, lags: Sequence[int], reason: str) -> Text:
    """Say how a share partition does, why, and what to do about it, with its figures.

    Args:
        line: the share partition.
        lags: its lag at the latest looks, the newest last.
        reason: why its start offset stands where it stands; empty where it is not known.
    """
    one, row = line.one, line.one.row
    health = one.verdict.health
    text = Text()
    text.append(f" {health.value} ", HEALTH_STYLES[health])
    text.append(f" {printable(one.verdict.why)}\n", "bold")
    if reason and reason not in one.verdict.why:
        text.append(f"The start offset: {reason}.\n")
    text.append(f"Advice: {ADVICE[health]}\n")
    rise = None if one.rates is None else one.rates.lag_rise
    curve = f" {figures.spark(lags)}" if len(lags) >= _POINTS and max(lags) else ""
    start = None if row is None else row.start_offset
    facts: list[tuple[str, str]] = [
        ("lag", f"{_whole(one.lag)} {figures.change(rise)}{curve}"),
        ("start offset", _whole(start) if start is None or start >= 0 else "not resolved yet"),
        ("log end offset", _whole(one.log_end_offset)),
        ("in flight", _whole(unsettled(row))),
    ]
    _append(text, facts)
    if row is not None and (row.held_offset is not None or one.lag):
        facts = [("oldest unsettled", f"≥ {figures.age(line.at_ms - row.start_since)}")]
        if row.held_offset is not None:
            since = "" if row.held_since is None else f" since {instant(row.held_since)[:19].replace('T', ' ')}Z"
            facts.insert(0, ("held by", f"record {row.held_offset}, {head(row)}{since}"))
        _append(text, facts)
    if row is not None and row.delivery_counts:
        counts = ", ".join(f"{count}×: {records}" for count, records in row.delivery_counts)
        _append(text, [("records by deliveries", counts)])
    _append(text, [_rates(one.rates)])
    text.rstrip()
    return text


def _append(text: Text, facts: list[tuple[str, str]]) -> None:
    """Add a line of facts."""
    for place, (name, fact) in enumerate(facts):
        text.append("   " if place else "")
        text.append(f"{name} ", "dim")
        text.append(fact)
    text.append("\n")


def _rates(rates: Rates | None) -> tuple[str, str]:
    if rates is None:
        return "rates", "need two looks at the cluster"
    return f"last {rates.seconds:.0f} s", (
        f"{rates.accepted} accepted, {rates.released} released or expired (the log cannot tell which), "
        f"{rates.rejected} rejected, "
        f"{rates.at_limit} at the delivery limit, {rates.archiving} to the dead-letter queue"
    )


def _whole(figure: int | None) -> str:
    return figures.UNKNOWN if figure is None else str(figure)


def members_of(line: Line) -> list[Member]:
    """Return the members that are assigned the share partition."""
    assigned = set(line.one.members)
    return [member for member in line.group.members or () if member.member_id in assigned]


MEMBERS: Final = Table[Member](
    (
        Column("MEMBER", lambda member: printable(member.member_id), lambda member: member.member_id),
        Column("CLIENT", lambda member: printable(member.client_id), lambda member: member.client_id),
        Column("HOST", lambda member: printable(member.client_host), lambda member: member.client_host),
        Column("RACK", lambda member: printable(member.rack_id or figures.UNKNOWN), lambda member: member.rack_id or ""),
        Column(
            "PARTS",
            lambda member: str(len(member.assignment)),
            lambda member: -len(member.assignment),
            width=5,
            right=True,
            says="share partitions that it is assigned",
        ),
        Column("SUBSCRIBED", lambda member: printable(", ".join(member.subscribed_topics))),
    ),
    lambda member: member.member_id,
    fixed=1,
)
