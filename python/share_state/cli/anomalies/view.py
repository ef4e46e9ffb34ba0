"""Anomalies for people: a line that sums up, a block an anomaly, and each advice once."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from share_state.cli.shared.lines import Lines
from share_state.operate.analysis.anomaly import Anomaly, Severity
from share_state.operate.analysis.names import instant

#: A list of offsets is shown up to so many lines.
_LIST_LINES = 3
_LIST = re.compile(r"\b\d+(?:-\d+)?(?:, \d+(?:-\d+)?)+", re.ASCII)
_URGENCY = {severity.value: -at for at, severity in enumerate(Severity)}


def by_severity(rows: Sequence[Anomaly]) -> list[Anomaly]:
    """Return the most severe first; those of one severity keep their order, kind by kind."""
    kinds = {row.kind: at for at, row in reversed(list(enumerate(rows)))}
    return sorted(rows, key=lambda row: (_URGENCY[row.severity], kinds[row.kind]))


def write_anomalies(
    rows: Sequence[Anomaly], deleted: Callable[[Anomaly], int | None], names: Mapping[str, str], *, whole: bool
) -> None:
    """Print anomalies to stdout, escaped.

    `deleted` tells when the state of an anomaly was deleted, if it was; `names` those of topics by their ids, as far as they are
    known; `whole` whether all of the log could be read.
    """
    out = Lines()
    if not rows:
        # What could not be read may hold anything.
        out.write("Nothing is wrong, as far as the log tells." if whole else "Nothing is wrong in what could be read.")
        return
    out.write(_summary(rows), more=2)
    for row in rows:
        topic = names.get(row.topic_id, row.topic_id)
        head = f"{row.severity.upper()}  {row.kind}  {row.group}  {topic}  {row.partition}{_offsets(row)}"
        out.write(head, more=4)
        until = "lasting" if row.until_timestamp is None else f"until {instant(row.until_timestamp)}"
        since = f"since {instant(row.since_timestamp)} (__share_group_state-{row.state_partition} at {row.since_offset})"
        out.write(f"{since}, {until}", indent=2)
        evidence = row.evidence if out.width is None else shortened(row.evidence, _LIST_LINES * (out.width - 2))
        gone = deleted(row)
        out.write(evidence if gone is None else f"{evidence}; the state was deleted since, at {instant(gone)}", indent=2)
    out.write("What to do:")
    for kind, advice in dict.fromkeys((row.kind, row.advice) for row in rows):
        out.write(f"{kind}: {advice}", indent=2)


def shortened(evidence: str, most: int) -> str:
    """Cut each list of offsets after `most` characters, and tell how many more offsets there are."""

    def cut(found: re.Match[str]) -> str:
        told = found[0]
        if len(told) <= most:
            return told
        end = max(told.find(","), told.rfind(",", 0, most))
        runs = (run.partition("-") for run in told[end + 2 :].split(", "))
        more = sum(int(last or first) - int(first) + 1 for first, _, last in runs)
        return f"{told[:end]}, … and {more} more (--format json lists all)"

    return _LIST.sub(cut, evidence)


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
