"""Common parts of the pages: what a request asks for is found in the view, and what all of them show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from starlette.exceptions import HTTPException

from share_state.operate.live.health import Health
from share_state.operate.web.table import TROUBLE, Arranged, Table, number
from share_state.operate.web.watch import STALE_S, Watch

if TYPE_CHECKING:
    from starlette.requests import Request

    from share_state.operate.live.view import GroupView, SharePartitionView
    from share_state.operate.web.snapshot import GroupSummary, Snapshot

__all__ = ["Choice", "common", "find_group", "find_share_partition", "of_table"]

_LARGEST_PARTITION: Final = 2**31 - 1


class Choice(NamedTuple):
    """Entry of a list to choose from."""

    value: str
    title: str


def find_group(snapshot: Snapshot, request: Request) -> GroupSummary:
    """Find the group that a request names.

    Raises:
        HTTPException: it is not there.
    """
    name = request.query_params.get("group", "")
    summary = snapshot.groups.get(name)
    if summary is None:
        unseen = ", in what can be seen at the moment" if snapshot.view.problems else ""
        raise HTTPException(404, f"There is no share group “{name}”{unseen}.")
    return summary


def find_share_partition(snapshot: Snapshot, request: Request) -> tuple[GroupView, SharePartitionView]:
    """Find the share partition that a request names, and its group.

    Raises:
        HTTPException: it is not there.
        ConfigError: the partition is no number.
    """
    group = find_group(snapshot, request).group
    topic_id = request.query_params.get("topic_id", "")
    partition = number("partition", request.query_params.get("partition", ""), least=0, most=_LARGEST_PARTITION)
    one = snapshot.share_partition(group.group, topic_id, partition)
    if one is None:
        raise HTTPException(404, f"The group “{group.group}” has no share partition of the topic “{topic_id}” and {partition}.")
    return group, one


def common(watch: Watch) -> dict[str, Any]:
    """Give what every page shows."""
    age = watch.age
    return {
        "view": watch.snapshot.view,
        "stale_seconds": age if age >= STALE_S else None,
        "refresh_ms": round(watch.refresh_seconds * 1000),
    }


def of_table(table: Table[Any], arranged: Arranged[Any]) -> dict[str, Any]:
    """Give what a page shows of a table and the form that chooses its rows."""
    words = [Choice("", "any"), Choice(TROUBLE, "in trouble"), *(Choice(word, word) for word in Health)]
    shown = [] if table.health is None else words
    return {"columns": table.columns, "arranged": arranged, "query": arranged.query, "words": shown}
