"""What each page shows, and its answer as HTML or JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from share_state.live.health import Health, delivery_limit_of
from share_state.web import picture
from share_state.web.answers import Answers
from share_state.web.background import Background, Progress, Told
from share_state.web.json_pages import group_json, overview_json, share_partition_json
from share_state.web.past import Key, Past, Source, read_past
from share_state.web.table import TROUBLE, Table, number
from share_state.web.tables import GROUPS, SHARE_PARTITIONS
from share_state.web.watch import STALE_S

if TYPE_CHECKING:
    from starlette.requests import Request

    from share_state.live.view import GroupView, SharePartitionView
    from share_state.web.snapshot import GroupSummary, Snapshot
    from share_state.web.watch import Watch

__all__ = ["Pages"]

#: Rows of the smaller tables of a page; its JSON has more of them.
_MOST_MEMBERS: Final = 100
_MOST_CHANGES: Final = 15
_MOST_BATCHES: Final = 15
_LARGEST_PARTITION: Final = 2**31 - 1
#: How far back a picture goes, in ms, as the request names it; and how the page names it.
_WINDOWS: Final = {
    "15m": (15 * 60_000, "15 minutes"),
    "1h": (3_600_000, "hour"),
    "6h": (6 * 3_600_000, "6 hours"),
    "1d": (24 * 3_600_000, "day"),
    "": (None, "everything"),
}


class _Choice(NamedTuple):
    """One entry of a list to choose from."""

    value: str
    title: str


class Pages:
    """The pages of one cluster.

    Args:
        watch: gives the view.
        background: reads what the view does not hold.
        source: where histories are read.
        answers: makes HTML and JSON.
    """

    def __init__(self, watch: Watch, background: Background, source: Source, answers: Answers) -> None:
        self._watch = watch
        self._background = background
        self._source = source
        self._answers = answers

    def overview(self, request: Request) -> Response:
        """Show every group."""
        snapshot = self._watch.snapshot
        arranged = GROUPS.arrange(list(snapshot.groups.values()), GROUPS.query(request.query_params))
        return self._answers.page(
            request,
            "overview.html",
            lambda: overview_json(snapshot.view, arranged),
            **self._common(snapshot),
            **_table(GROUPS, arranged),
            totals=snapshot.totals,
        )

    def group(self, request: Request) -> Response:
        """Show a group and its share partitions."""
        snapshot = self._watch.snapshot
        summary = _group(snapshot, request)
        arranged = SHARE_PARTITIONS.arrange(summary.group.share_partitions, SHARE_PARTITIONS.query(request.query_params))
        return self._answers.page(
            request,
            "group.html",
            lambda: group_json(snapshot.view, summary, arranged),
            **self._common(snapshot),
            **_table(SHARE_PARTITIONS, arranged),
            summary=summary,
            members=(summary.group.members or ())[:_MOST_MEMBERS],
        )

    async def share_partition(self, request: Request) -> Response:
        """Show a share partition, its records, and what became of them."""
        snapshot = self._watch.snapshot
        group, one = _share_partition(snapshot, request)
        window, _ = _WINDOWS[self._answers.chosen(request, "last", _WINDOWS)]
        key = (one.group, one.topic_id, one.partition)
        told: Told[Past] = Told()
        if one.row is not None:
            told = await self._background.tell(("past", *key), self._past(key, one.row.state_partition))
        batches = self._watch.state_batches(key)
        return await asyncio.to_thread(
            self._answers.page,
            request,
            "share_partition.html",
            lambda: share_partition_json(snapshot.view, group, one, batches, told),
            **self._common(snapshot),
            **_pictures(told, None if window is None else snapshot.view.at_ms - window),
            group=group,
            one=one,
            limit=delivery_limit_of(group.configs),
            batches=batches[:_MOST_BATCHES],
            batches_total=len(batches),
            told=told,
            windows=[_Choice(value, title) for value, (_, title) in _WINDOWS.items()],
            last=request.query_params.get("last", ""),
        )

    def _past(self, key: Key, own: int) -> Callable[[Progress], Past]:
        state_partitions = self._watch.state_partitions()
        return lambda progress: read_past(self._source, key, state_partitions, own, progress)

    def healthy(self, _request: Request) -> Response:
        """Say whether the view is kept up to date."""
        age = self._watch.age
        if age < STALE_S:
            return PlainTextResponse("ok\n")
        return PlainTextResponse(f"the last view is {age:.0f} s old\n", 503)

    def error(self, request: Request, error: Exception) -> Response:
        """Show that a request cannot be answered; it may be asked before there is a view."""
        status, text = (error.status_code, error.detail) if isinstance(error, HTTPException) else (400, str(error))
        return self._answers.page(
            request,
            "error.html",
            lambda: {"error": text, "status": status},
            status=status,
            text=text,
            **self._common(self._watch.snapshot),
        )

    def _common(self, snapshot: Snapshot) -> dict[str, Any]:
        age = self._watch.age
        return {
            "view": snapshot.view,
            "stale_seconds": age if age >= STALE_S else None,
            "refresh_ms": round(self._watch.refresh_seconds * 1000),
        }


def _group(snapshot: Snapshot, request: Request) -> GroupSummary:
    name = request.query_params.get("group", "")
    summary = snapshot.groups.get(name)
    if summary is None:
        unseen = ", in what can be seen at the moment" if snapshot.view.problems else ""
        raise HTTPException(404, f"There is no share group “{name}”{unseen}.")
    return summary


def _share_partition(snapshot: Snapshot, request: Request) -> tuple[GroupView, SharePartitionView]:
    group = _group(snapshot, request).group
    topic_id = request.query_params.get("topic_id", "")
    partition = number("partition", request.query_params.get("partition", ""), least=0, most=_LARGEST_PARTITION)
    one = snapshot.share_partition(group.group, topic_id, partition)
    if one is None:
        raise HTTPException(404, f"The group “{group.group}” has no share partition of the topic “{topic_id}” and {partition}.")
    return group, one


def _table(table: Table[Any], arranged: Any) -> dict[str, Any]:  # noqa: ANN401  of either kind of row
    words = [_Choice("", "any"), _Choice(TROUBLE, "in trouble"), *(_Choice(word, word) for word in Health)]
    return {"columns": table.columns, "arranged": arranged, "query": arranged.query, "words": words}


def _pictures(told: Told[Past], since: int | None) -> dict[str, Any]:
    """Draw what was read."""
    past = told.found
    shown: dict[str, Any] = {"past": past, "timeline": None, "deliveries": None, "changes": [], "changes_total": 0}
    if past is None:
        return shown
    changes = [row for row in reversed(past.changes) if since is None or row.at_timestamp >= since]
    shown |= {"changes": changes[:_MOST_CHANGES], "changes_total": past.changes_total}
    frame = picture.frame_of(past.spans, past.starts, since)
    if frame is not None:
        shown |= {
            "timeline": picture.timeline(past.spans, past.starts, frame),
            "deliveries": picture.deliveries(past.spans, frame),
        }
    return shown
