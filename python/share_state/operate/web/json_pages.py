"""The pages for machines: what `docs/json-output.md` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.operate.analysis.json_rows import batch_json, history_json
from share_state.operate.analysis.names import iso_8601
from share_state.operate.analysis.trace_json import trace_json
from share_state.operate.dead_letters.json_rows import letter_json
from share_state.operate.live.json_rows import top_json

if TYPE_CHECKING:
    from share_state.operate.dead_letters import DeadLetter
    from share_state.operate.live.asked import Member
    from share_state.operate.live.view import GroupView, SharePartitionView, View
    from share_state.operate.web.background import Told
    from share_state.operate.web.letters import Dead
    from share_state.operate.web.past import Life, Past
    from share_state.operate.web.snapshot import GroupSummary
    from share_state.operate.web.table import Arranged
    from share_state.types import StateBatch

__all__ = ["WEB_VERSION", "dead_letters_json", "group_json", "overview_json", "record_json", "share_partition_json"]

#: Version of these objects.
WEB_VERSION: Final = 1


def overview_json(view: View, arranged: Arranged[GroupSummary]) -> dict[str, object]:
    """Return the overview."""
    return {**_head(view), **_paged(arranged), "groups": [_summary(one) for one in arranged.rows]}


def group_json(view: View, summary: GroupSummary, arranged: Arranged[SharePartitionView]) -> dict[str, object]:
    """Return a group with a part of its share partitions."""
    group = summary.group
    return {
        **_head(view),
        **_paged(arranged),
        **_summary(summary),
        "configs": group.configs,
        "member_list": None if group.members is None else [_member(one) for one in group.members],
        "share_partition_list": [top_json(view, group, one) for one in arranged.rows],
    }


def share_partition_json(
    view: View, group: GroupView, one: SharePartitionView, batches: list[StateBatch], told: Told[Past]
) -> dict[str, object]:
    """Return a share partition with its records and its history."""
    past = told.found
    return {
        **_head(view),
        **_reading(told),
        "share_partition": top_json(view, group, one),
        "batches": [batch_json(batch) for batch in batches],
        "history_total": None if past is None else past.changes_total,
        "history": None if past is None else [history_json(row) for row in past.changes],
    }


def record_json(view: View, group: GroupView, one: SharePartitionView, told: Told[Life]) -> dict[str, object]:
    """Return what became of a record."""
    life = told.found
    members = None if group.members is None else [member for member in group.members if member.member_id in one.members]
    record = None if life is None else trace_json(life.trace, life.facts, one.topic, members)
    return {**_head(view), **_reading(told), "record": record}


def dead_letters_json(view: View, group: GroupView, arranged: Arranged[DeadLetter], told: Told[Dead]) -> dict[str, object]:
    """Return the dead letters of a group."""
    dead = told.found
    return {
        **_head(view),
        **_paged(arranged),
        **_reading(told),
        "group": group.group,
        "told_by": None if dead is None else dead.told_by,
        "letters_total": None if dead is None else dead.total,
        "letters": None if dead is None else [letter_json(one) for one in arranged.rows],
    }


def _reading(told: Told[Past] | Told[Life] | Told[Dead]) -> dict[str, object]:
    return {
        "reading_failure": told.failure,
        "reading_progress": told.progress,
        "reading_timestamp": told.read_ms,
        "reading_findings": None if told.found is None else told.found.findings,
    }


def _head(view: View) -> dict[str, object]:
    return {
        "schema_version": WEB_VERSION,
        "at_timestamp": view.at_ms,
        "at_time": iso_8601(view.at_ms),
        "behind": view.behind,
        "problems": view.problems,
    }


def _paged(arranged: Arranged[GroupSummary] | Arranged[SharePartitionView] | Arranged[DeadLetter]) -> dict[str, object]:
    return {
        "page": arranged.query.page,
        "pages": arranged.pages,
        "rows": arranged.query.rows,
        "matching": arranged.matching,
        "total": arranged.total,
    }


def _summary(one: GroupSummary) -> dict[str, object]:
    group, totals = one.group, one.totals
    return {
        "group": group.group,
        "state": group.state,
        "health": one.health.value,
        "why": one.why,
        "members": None if group.members is None else len(group.members),
        "share_partitions": totals.share_partitions,
        "in_trouble": totals.in_trouble,
        "by_health": {health.value: number for health, number in one.words},
        "lag": totals.lag,
        "without_lag": totals.without_lag,
    }


def _member(member: Member) -> dict[str, object]:
    assignment = [{"topic_id": topic_id, "partition": partition} for topic_id, partition in member.assignment]
    return {**member._asdict(), "assignment": assignment}
