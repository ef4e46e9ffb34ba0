"""Anomalies for people: a line that sums up, a block an anomaly, and each advice once."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from share_state.analysis.anomaly import Anomaly, Severity
from share_state.cli.names import instant
from share_state.cli.printable import printable

_URGENCY = {severity.value: -at for at, severity in enumerate(Severity)}


def by_severity(rows: Sequence[Anomaly]) -> list[Anomaly]:
    """Return the most severe first; those of one severity keep their order, kind by kind."""
    kinds = {row.kind: at for at, row in reversed(list(enumerate(rows)))}
    return sorted(rows, key=lambda row: (_URGENCY[row.severity], kinds[row.kind]))


def write_anomalies(rows: Sequence[Anomaly]) -> None:
    """Print anomalies to stdout, escaped."""
    if not rows:
        _write("Nothing is wrong, as far as the log tells.")
        return
    _write(_summary(rows))
    for row in rows:
        _write(f"{row.severity.upper()}  {row.kind}  {row.group}  {row.topic_id}  {row.partition}{_offsets(row)}")
        until = "lasting" if row.until_timestamp is None else f"until {instant(row.until_timestamp)}"
        since = f"since {instant(row.since_timestamp)} (__share_group_state-{row.state_partition} at {row.since_offset})"
        _write(f"  {since}, {until}")
        _write(f"  {row.evidence}")
    _write("What to do:")
    for kind, advice in dict.fromkeys((row.kind, row.advice) for row in rows):
        _write(f"  {kind}: {advice}")


def _summary(rows: Sequence[Anomaly]) -> str:
    found = "1 finding" if len(rows) == 1 else f"{len(rows)} findings"
    return f"{found}: {_counts(row.severity for row in rows)}; {_counts(row.kind for row in rows)}"


def _counts(names: Iterable[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in Counter(names).items())


def _offsets(row: Anomaly) -> str:
    if row.first_offset is None:
        return ""
    single = row.first_offset == row.last_offset
    return f"  offset {row.first_offset}" if single else f"  offsets {row.first_offset}-{row.last_offset}"


def _write(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")
