"""The pages that read more than the view holds: a share partition, a record, dead letters."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from share_state.operate.analysis.trace import RecordFacts
from share_state.operate.live.group_limits import DELIVERY_LIMIT, LOCK_DURATION, delivery_limit_of, number_of
from share_state.operate.web import letters, past, picture
from share_state.operate.web.background import Background, Told
from share_state.operate.web.json_pages import dead_letters_json, record_json, share_partition_json
from share_state.operate.web.shared import Choice, common, find_group, find_share_partition, of_table
from share_state.operate.web.source import Place, Source
from share_state.operate.web.table import number
from share_state.operate.web.tables import DEAD_LETTERS

if TYPE_CHECKING:
    from starlette.requests import Request

    from share_state.operate.live.view import GroupView, SharePartitionView
    from share_state.operate.web.answers import Answers
    from share_state.operate.web.watch import Watch

__all__ = ["ReadingPages"]

#: Rows of the smaller tables of a page; its JSON has more of them.
_MOST_CHANGES: Final = 15
_MOST_BATCHES: Final = 15
_LARGEST_OFFSET: Final = 2**63 - 1
#: Windows of time of a picture, in ms, by their name in a request; with their name on the page.
_WINDOWS: Final = {
    "15m": (15 * 60_000, "15 minutes"),
    "1h": (3_600_000, "hour"),
    "6h": (6 * 3_600_000, "6 hours"),
    "1d": (24 * 3_600_000, "day"),
    "": (None, "everything"),
}


class ReadingPages:
    """The pages of one cluster that read from it, or from the copy.

    Args:
        watch: gives the view.
        background: reads.
        source: where histories are read.
        cluster: the cluster, where dead letters are read.
        answers: makes HTML and JSON.
    """

    def __init__(self, watch: Watch, background: Background, source: Source, cluster: Source, answers: Answers) -> None:
        self._watch = watch
        self._background = background
        self._source = source
        self._cluster = cluster
        self._answers = answers

    async def share_partition(self, request: Request) -> Response:
        """Show a share partition, its records, and what became of them."""
        snapshot = self._watch.snapshot
        group, one = find_share_partition(snapshot, request)
        window, _ = _WINDOWS[self._answers.chosen(request, "last", _WINDOWS)]
        told: Told[past.Past] = Told()
        if (place := self._place(one)) is not None:
            told = await self._background.tell(("past", *place.key), partial(past.read_past, self._source, place))
        batches = self._watch.state_batches((one.group, one.topic_id, one.partition))
        return await asyncio.to_thread(
            self._answers.page,
            request,
            "share_partition.html",
            lambda: share_partition_json(snapshot.view, group, one, batches, told),
            **common(self._watch),
            **_pictures(told, None if window is None else snapshot.view.at_ms - window),
            group=group,
            one=one,
            limit=delivery_limit_of(group.configs),
            batches=batches[:_MOST_BATCHES],
            batches_total=len(batches),
            told=told,
            windows=[Choice(value, title) for value, (_, title) in _WINDOWS.items()],
            last=request.query_params.get("last", ""),
        )

    async def record(self, request: Request) -> Response:
        """Show what became of one record."""
        snapshot = self._watch.snapshot
        group, one = find_share_partition(snapshot, request)
        offset = number("offset", request.query_params.get("offset", ""), least=0, most=_LARGEST_OFFSET)
        told: Told[past.Life] = Told(failure="the state topic has no state of the share partition")
        if (place := self._place(one)) is not None:
            facts = _facts(group, one)
            read = partial(past.read_life, self._source, place, offset, facts)
            told = await self._background.tell(("life", *place.key, offset), read)
        return await asyncio.to_thread(
            self._answers.page,
            request,
            "record.html",
            lambda: record_json(snapshot.view, group, one, told),
            **common(self._watch),
            group=group,
            one=one,
            offset=offset,
            told=told,
            life=told.found,
        )

    async def dead_letters(self, request: Request) -> Response:
        """Show the dead letters of a group."""
        snapshot = self._watch.snapshot
        group = find_group(snapshot, request).group
        query = DEAD_LETTERS.query(request.query_params)
        told = await self._background.tell(("letters", group.group), partial(letters.read_letters, self._cluster, group.group))
        found = () if told.found is None else told.found.letters
        arranged = await asyncio.to_thread(DEAD_LETTERS.arrange, found, query)
        return await asyncio.to_thread(
            self._answers.page,
            request,
            "dead_letters.html",
            lambda: dead_letters_json(snapshot.view, group, arranged, told),
            **common(self._watch),
            **of_table(DEAD_LETTERS, arranged),
            group=group,
            topic_ids={one.topic: one.topic_id for one in group.share_partitions if one.topic is not None},
            told=told,
            dead=told.found,
        )

    def _place(self, one: SharePartitionView) -> Place | None:
        """Find where the state of a share partition is kept; None where there is no state."""
        if one.row is None:
            return None
        return Place((one.group, one.topic_id, one.partition), one.row.state_partition, tuple(self._watch.state_partitions()))


def _facts(group: GroupView, one: SharePartitionView) -> RecordFacts:
    """Give what is known beside the log; the record itself is not read."""
    return RecordFacts(
        log_end_offset=one.log_end_offset,
        delivery_limit=number_of(group.configs, DELIVERY_LIMIT),
        lock_duration_ms=number_of(group.configs, LOCK_DURATION),
    )


def _pictures(told: Told[past.Past], since: int | None) -> dict[str, Any]:
    """Draw what was read."""
    found = told.found
    shown: dict[str, Any] = {"past": found, "timeline": None, "deliveries": None, "changes": [], "changes_total": 0}
    if found is None:
        return shown
    changes = [row for row in reversed(found.changes) if since is None or row.at_timestamp >= since]
    shown |= {"changes": changes[:_MOST_CHANGES], "changes_total": found.changes_total}
    frame = picture.frame_of(found.spans, found.starts, since)
    if frame is not None:
        shown |= {
            "timeline": picture.timeline(found.spans, found.starts, frame),
            "deliveries": picture.deliveries(found.spans, frame),
        }
    return shown
