"""Most records of a share partition that may be in flight, against lag and members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.analysis.names import plural
from share_state.operate.doctor.finding import Finding
from share_state.operate.live.group_limits import RECORD_LOCKS
from share_state.operate.live.health import window_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.view import GroupView, SharePartitionView

_CHECK: Final = "record_locks"
_HIGHEST: Final = "group.share.max.partition.max.record.locks"
#: Kafka's default of it.
_KAFKA_HIGHEST: Final = 4_000
#: Kafka's ``max.poll.records`` by default: what a member takes at a time.
_POLL: Final = 500


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each share partition of which no more records can be acquired, or too few for its members."""
    for group, one in facts.share_partitions():
        most = facts.limit(group.configs, RECORD_LOCKS)
        if most is None or one.row is None or one.lag is None or one.row.start_offset < 0:
            continue
        # What is written is less than what is in flight: an acquisition is not.
        in_flight = window_of(one.row)
        after = None if one.log_end_offset is None else max(0, one.log_end_offset - one.row.start_offset - in_flight)
        evidence = {"in_flight": in_flight, "max_record_locks": most, "lag": one.lag, "members": len(one.members)}
        if in_flight >= most and after != 0 and not one.has_nothing_left:
            beyond = "" if after is None else f" while {plural(after, 'record')} {'waits' if after == 1 else 'wait'} after them"
            advice = (
                f"Nothing more is delivered until the start offset moves: see what holds it{_first(one)}. More locks gain time."
            )
            commands = _more(facts, group, most)
            text = f"{in_flight} offsets are in flight, and the limit is {most}{beyond}"
            yield Finding.of(one, _CHECK, Severity.CRITICAL, text, advice, commands=commands, **evidence)
        elif len(one.members) > 1 and one.lag > most and most < _POLL * len(one.members):
            text = (
                f"{len(one.members)} members share {most} records in flight, {most // len(one.members)} for each, and {one.lag} "
                "are not settled"
            )
            advice = (
                f"A member takes up to {_POLL} records at a time (max.poll.records): allow more in flight, or use fewer members."
            )
            yield Finding.of(one, _CHECK, Severity.INFO, text, advice, commands=_more(facts, group, most), **evidence)


def _first(one: SharePartitionView) -> str:
    return "" if one.row is None or one.row.held_offset is None else f" at {one.row.held_offset}"


def _more(facts: Facts, group: GroupView, most: int) -> tuple[str, ...]:
    """Allow twice as many, where the brokers do; a group of a release before 4.3 has no limit of its own."""
    more = min(2 * most, facts.highest(_HIGHEST, _KAFKA_HIGHEST))
    if more <= most or RECORD_LOCKS[0] not in group.configs:
        return ()
    return (facts.tools.group_config(group.group, {RECORD_LOCKS[0]: more}),)
