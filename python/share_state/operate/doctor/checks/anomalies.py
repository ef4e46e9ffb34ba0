"""The other anomalies that the state topic shows: impossible states, gaps, keys that keep it from being pruned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.anomaly import AnomalyKind, Severity
from share_state.operate.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.view import SharePartitionView

_CHECK: Final = "anomaly"
#: Anomalies that other checks report, with the configuration that leads to them.
_TOLD: Final = frozenset(
    {
        AnomalyKind.START_OFFSET_STUCK,
        AnomalyKind.POISON_RECORD,
        AnomalyKind.ARCHIVE_BURST,
        AnomalyKind.LATE_OR_POISON,
        AnomalyKind.LOCK_EXPIRY_LOOP,
        AnomalyKind.WINDOW_FULL,
    }
)


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each share partition and kind."""
    for _, one in facts.share_partitions():
        for kind in AnomalyKind:
            found = [] if kind in _TOLD else facts.anomalies_of(one, kind)
            if not found:
                continue
            first = found[0]
            more = f"; and {len(found) - 1} more such findings" if len(found) > 1 else ""
            yield Finding.of(
                one,
                _CHECK,
                Severity(first.severity),
                f"{kind.value}: {first.evidence}{more}",
                first.advice,
                commands=_commands(facts, one, kind),
                kind=kind.value,
                findings=len(found),
                first_offset=first.first_offset,
                since_timestamp=first.since_timestamp,
                until_timestamp=max((each.until_timestamp for each in found if each.until_timestamp is not None), default=None),
            )


def _commands(facts: Facts, one: SharePartitionView, kind: AnomalyKind) -> tuple[str, ...]:
    if kind is AnomalyKind.COLD_KEY:
        return (facts.tools.share_groups("--describe", "--group", one.group),)
    if kind is AnomalyKind.GAP:
        return (facts.tools.share_groups("--describe", "--group", one.group, "--members"),)
    return ()
