"""The exporter: the live view as metrics for Prometheus, over HTTP.

Needs the package ``prometheus-client`` (extra ``ops``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from share_state.extras import require
from share_state.live.group_limits import delivery_limit_of
from share_state.live.metric_table import METRICS
from share_state.monitoring.exposition import Readings, exposition
from share_state.monitoring.http import HttpServer, Page, Request
from share_state.types import RecordState

if TYPE_CHECKING:
    from share_state.kafka.peers import Address
    from share_state.live.live_row import LiveRow
    from share_state.live.live_view import LiveView
    from share_state.live.view import GroupView, SharePartitionView, View

__all__ = ["Exporter", "readings"]

_LOG: Final = logging.getLogger("share_state.live")
#: Share partitions with metrics of their own, unless the caller says otherwise: about 25 series each.
MAX_SHARE_PARTITIONS: Final = 10_000
#: Deliveries are told one by one up to here; Kafka takes no higher limit.
_MOST_DELIVERIES: Final = 10
#: Seconds without a new view after which the exporter is not healthy.
_STALE_S: Final = 60.0
_HELD_BY: Final[dict[int, str]] = {RecordState.AVAILABLE: "available", RecordState.ARCHIVING: "archiving"}
_OPENMETRICS: Final = "application/openmetrics-text"


class Exporter:
    """Refreshes an open view in turns, and serves it.

    Args:
        live: the view, open.
        refresh_seconds: time between two refreshes.
        max_share_partitions: so many have metrics of their own; of more, those with the greatest lag.
        tls: for HTTPS; None for HTTP.
        users: passwords by name, where a login is asked for. ``/healthz`` needs none.

    Raises:
        MissingPackageError: ``prometheus-client`` is not installed.
    """

    def __init__(
        self,
        live: LiveView,
        *,
        refresh_seconds: float = 2.0,
        max_share_partitions: int = MAX_SHARE_PARTITIONS,
        tls: ssl.SSLContext | None = None,
        users: Mapping[str, str] | None = None,
    ) -> None:
        require("ops", "prometheus_client")
        self._live = live
        self._refresh_seconds = refresh_seconds
        self._most = max_share_partitions
        pages = {"/metrics": self._metrics, "/healthz": self._healthy}
        self._server = HttpServer(pages, tls=tls, users=users, open_pages=frozenset({"/healthz"}))
        self._view: View | None = None
        self._taken = -_STALE_S
        self._refreshing: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> Address:
        """Take the first view, listen, and give the address.

        Raises:
            OSError: the address cannot be listened on.
        """
        await self._refresh()
        self._refreshing = asyncio.get_running_loop().create_task(self._run())
        return await self._server.start(host, port)

    async def close(self) -> None:
        """Listen no more."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refreshing
        await self._server.close()

    async def ended(self) -> None:
        """Wait until refreshing ends, which only an error does; it is raised."""
        if self._refreshing is not None:
            await self._refreshing

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._refresh_seconds)
            await self._refresh()

    async def _refresh(self) -> None:
        self._view = await self._live.refresh()
        self._taken = time.monotonic()

    async def _metrics(self, request: Request) -> Page:
        if self._view is None:
            return Page(b"nothing was read yet\n", status="503 Service Unavailable")
        age = time.monotonic() - self._taken
        found = await asyncio.to_thread(readings, self._view, self._live.places(), age, self._most)
        newer = _OPENMETRICS in request.headers.get("accept", "")
        content_type, body = await asyncio.to_thread(exposition, METRICS, found, openmetrics=newer)
        return Page(body, content_type)

    async def _healthy(self, _request: Request) -> Page:
        age = time.monotonic() - self._taken
        if age < _STALE_S:
            return Page(b"ok\n")
        return Page(f"the last view is {age:.0f} s old\n".encode(), status="503 Service Unavailable")


def readings(view: View, places: Mapping[int, tuple[int, int | None]], age: float, most: int) -> Readings:
    """Give the numbers of a view.

    Args:
        view: the view.
        places: of each state partition, the offset up to which it was read and the first one that is needed.
        age: seconds since the view was taken.
        most: share partitions that have metrics of their own.
    """
    found: Readings = {metric.name: [] for metric in METRICS}
    everything = [(group, one) for group in view.groups for one in group.share_partitions]
    chosen = everything
    if len(everything) > most:
        chosen = sorted(everything, key=lambda pair: -(pair[1].lag or 0))[:most]
    for group, one in chosen:
        _share_partition(found, view, group, one)
    for group in view.groups:
        if group.members is not None:
            found["share_group_members"].append(((group.group,), len(group.members)))
        if group.state is not None:
            found["share_group_state"].append(((group.group, group.state), 1))
    for state_partition, (read, needed) in places.items():
        label = (str(state_partition),)
        found["share_state_topic_read_offset"].append((label, read))
        if needed is not None:
            found["share_state_topic_needed_offset"].append((label, needed))
    if view.behind is not None:
        found["share_exporter_behind_offsets"].append(((), view.behind))
    found["share_exporter_view_age_seconds"].append(((), age))
    found["share_exporter_share_partitions"].append(((), len(everything)))
    found["share_exporter_left_out_share_partitions"].append(((), len(everything) - len(chosen)))
    found["share_exporter_problems"].append(((), len(view.problems)))
    found["share_exporter_failures"].append(((), view.failures_total))
    return found


def _share_partition(found: Readings, view: View, group: GroupView, one: SharePartitionView) -> None:
    place = (one.group, one.topic or one.topic_id, str(one.partition))
    found["share_group_health"].append(((*place, one.verdict.health.value), 1))
    if one.log_end_offset is not None:
        found["share_group_log_end_offset"].append((place, one.log_end_offset))
    if one.lag is not None:
        found["share_group_lag_records"].append((place, one.lag))
    for kind, findings in one.anomalies:
        found["share_group_anomalies"].append(((*place, kind), findings))
    if one.row is not None:
        for name, labels, value in _of_row(one.row, view.at_ms, delivery_limit_of(group.configs)):
            found[name].append(((*place, *labels), value))


def _of_row(row: LiveRow, now_ms: int, limit: int) -> Iterator[tuple[str, tuple[str, ...], float]]:
    if row.start_offset >= 0:
        yield "share_group_start_offset", (), row.start_offset
    for state in ("available", "acknowledged", "archiving", "archived"):
        yield "share_group_window_records", (state,), getattr(row, state)
    for deliveries, records in _by_deliveries(row.delivery_counts):
        yield "share_group_delivered_records", (str(deliveries),), records
    if row.held_offset is not None:
        by = "unknown" if row.held_state is None else _HELD_BY.get(row.held_state, "unknown")
        yield "share_group_head_blocked", (by,), 1
    if row.held_since is not None:
        yield "share_group_head_blocked_seconds", (), max(0, now_ms - row.held_since) / 1000
    at_limit = sum(records for count, records in row.archived_totals if count >= limit)
    archived = sum(records for _, records in row.archived_totals)
    outcomes = {
        "accepted": row.accepted_total,
        "rejected": archived - at_limit,
        "delivery_limit": at_limit,
        "dead_letter": row.archiving_total,
        "passed_available": row.passed_available_total,
        "passed_unknown": row.passed_unknown_total,
    }
    for outcome, records in outcomes.items():
        yield "share_group_settled_records", (outcome,), records
    yield "share_group_released_records", (), row.released_total


def _by_deliveries(counts: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    told: dict[int, int] = {}
    for count, records in counts:
        place = min(max(count, 0), _MOST_DELIVERIES)
        told[place] = told.get(place, 0) + records
    return told.items()
