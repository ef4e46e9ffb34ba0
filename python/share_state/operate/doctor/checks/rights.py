"""Rights that are missing: what cannot be seen cannot be judged."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from share_state.operate.analysis.anomaly import Severity
from share_state.operate.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from share_state.operate.doctor.facts import Facts
    from share_state.operate.live.rights import Right

#: Resources that one finding names.
_NAMED = 5


def check(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for each operation on a kind of resource."""
    by_kind: dict[tuple[str, str], list[Right]] = defaultdict(list)
    for right in facts.view.missing_rights:
        by_kind[right.operation, right.resource].append(right)
    for (operation, resource), rights in by_kind.items():
        named = ", ".join(right.name or right.topic_id for right in rights[:_NAMED])
        more = f" and {len(rights) - _NAMED} more" if len(rights) > _NAMED else ""
        which = f"{resource}s {named}{more}" if len(rights) > 1 else f"{resource} {named}".rstrip()
        advice = "Who reads the cluster lacks it, and the rest is judged without it; let an administrator add it."
        if facts.tools.principal is None:
            advice += " Put the principal in the place of User:NAME."
        if any(right.topic_id for right in rights):
            advice += " The name of a topic is not known without it: all topics are named, or take the name by its id."
        yield Finding(
            check="missing_right",
            severity=Severity.WARNING,
            text=f"{operation} on the {which} is missing",
            advice=advice,
            group=rights[0].name if resource == "group" and len(rights) == 1 else None,
            topic=(rights[0].name or rights[0].topic_id) if resource == "topic" and len(rights) == 1 else None,
            evidence={"operation": operation, "resource": resource, "rights": len(rights)},
            commands=tuple(dict.fromkeys(facts.tools.allow(right) for right in rights)),
        )
