"""The exporter: the live view as metrics, for Prometheus and for OpenTelemetry's collectors.

Needs packages of the extra ``ops``.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from share_state._core import __version__
from share_state.operate.live.group_limits import delivery_limit_of
from share_state.operate.live.metric_table import METRICS, NAMESPACES
from share_state.operate.monitoring.exposition import Readings, exposition
from share_state.operate.monitoring.http import HttpServer, Page, Request
from share_state.operate.monitoring.otlp import Collector
from share_state.types import RecordState
from share_state.util.closing import cancel_all
from share_state.util.extras import require

if TYPE_CHECKING:
    from share_state.kafka.client.peers import Address
    from share_state.operate.live.live_row import LiveRow
    from share_state.operate.live.live_view import LiveView
    from share_state.operate.live.state_topic import StatePartitionPlace
    from share_state.operate.live.view import GroupView, SharePartitionView, View

__all__ = ["Exporter", "collector", "readings"]

_LOG: Final = logging.getLogger("share_state.live")
_T = TypeVar("_T")
#: Share partitions with metrics of their own, unless the caller says otherwise.
MAX_SHARE_PARTITIONS: Final = 10_000
#: Seconds between two sendings to a collector, unless the caller says otherwise.
OTLP_SECONDS: Final = 15.0
#: Deliveries are told one by one up to here; Kafka takes no higher limit.
_MOST_DELIVERIES: Final = 10
#: Seconds without a new view after which the exporter is not healthy.
_STALE_S: Final = 60.0
_HELD_BY: Final[dict[int, str]] = {RecordState.AVAILABLE: "available", RecordState.ARCHIVING: "archiving"}


class _Look(NamedTuple):
    """Result of a look at the cluster."""

    view: View
    places: Mapping[int, StatePartitionPlace]
    #: By the monotonic clock, in seconds.
    taken: float


def collector(endpoint: str) -> Collector:
    """Make the collector that an :class:`Exporter` sends to.

    Raises:
        ConfigError: the endpoint is no URL.
        MissingPackageError: a package of OpenTelemetry is not installed.
    """
    return Collector(endpoint, service=("share-state-exporter", __version__), namespaces=NAMESPACES)


class Exporter:
    """Refreshes an open view in turns; serves it, sends it to a collector, or both.

    Args:
        live: the view, open.
        refresh_seconds: time between two refreshes.
        max_share_partitions: so many have metrics of their own; of more, those with the greatest lag. As many groups have.
        tls: for HTTPS; None for HTTP.
        users: passwords by name, where a login is asked for. ``/healthz`` needs none.
        otlp: is sent the metrics, and closed at the end.
        otlp_seconds: time between two sendings.

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
        otlp: Collector | None = None,
        otlp_seconds: float = OTLP_SECONDS,
    ) -> None:
        require("ops", "prometheus_client")
        self._live = live
        self._refresh_seconds = refresh_seconds
        self._most = max_share_partitions
        pages = {"/metrics": self._metrics, "/healthz": self._healthy}
        self._server = HttpServer(pages, tls=tls, users=users, open_pages=frozenset({"/healthz"}))
        self._otlp = otlp
        self._otlp_seconds = otlp_seconds
        self._look: _Look | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, listen: Address | None) -> Address | None:
        """Take the first view, begin to send, listen where an address is given, and give that address.

        Raises:
            OSError: the address cannot be listened on.
        """
        await self._refresh()
        loop = asyncio.get_running_loop()
        self._tasks.append(loop.create_task(self._run()))
        if self._otlp is not None:
            self._tasks.append(loop.create_task(self._send(self._otlp)))
        return None if listen is None else await self._server.start(*listen)

    async def close(self) -> None:
        """Listen and send no more."""
        if self._otlp is not None:
            # Before its task, which waits for what is being sent.
            self._otlp.close()
        await cancel_all(self._tasks)
        await self._server.close()

    async def ended(self) -> None:
        """Wait until refreshing or sending ends, which only an error does; it is raised."""
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._refresh_seconds)
            await self._refresh()

    async def _refresh(self) -> None:
        view = await self._live.refresh()
        self._look = _Look(view, self._live.places(), time.monotonic())

    async def _send(self, otlp: Collector) -> None:
        while True:
            found = await self._readings()
            if found is not None:
                await asyncio.to_thread(otlp.send, METRICS, found)
            await asyncio.sleep(self._otlp_seconds)

    async def _readings(self) -> Readings | None:
        look = self._look
        if look is None:
            return None
        failures = None if self._otlp is None else self._otlp.failures
        age = time.monotonic() - look.taken
        return await asyncio.to_thread(readings, look.view, look.places, age, self._most, failures)

    async def _metrics(self, request: Request) -> Page:
        found = await self._readings()
        if found is None:
            return Page(b"nothing was read yet\n", status="503 Service Unavailable")
        content_type, body = await asyncio.to_thread(exposition, METRICS, found, request.headers.get("accept", ""))
        return Page(body, content_type)

    async def _healthy(self, _request: Request) -> Page:
        age = _STALE_S if self._look is None else time.monotonic() - self._look.taken
        if age < _STALE_S:
            return Page(b"ok\n")
        return Page(f"the last view is {age:.0f} s old\n".encode(), status="503 Service Unavailable")


def readings(
    view: View, places: Mapping[int, StatePartitionPlace], age: float, most: int, otlp_failures: int | None = None
) -> Readings:
    """Give the numbers of a view.

    Args:
        view: the view.
        places: how far each state partition was read.
        age: seconds since the view was taken.
        most: share partitions that have metrics of their own, and groups.
        otlp_failures: how often a collector did not take them; None where there is none.
    """
    found: Readings = {metric.name: [] for metric in METRICS}
    everything = [(group, one) for group in view.groups for one in group.share_partitions]
    chosen = _most(everything, lambda pair: pair[1].lag or 0, most)
    for group, one in chosen:
        _share_partition(found, view, group, one)
    groups = _most(view.groups, lambda group: sum(one.lag or 0 for one in group.share_partitions), most)
    for group in groups:
        if group.members is not None:
            found["share_group_members"].append(((group.group,), len(group.members)))
        if group.state is not None:
            found["share_group_state"].append(((group.group, group.state), 1))
    for state_partition, place in places.items():
        for name, value in _of_state_partition(place):
            found[name].append(((str(state_partition),), value))
    if view.behind is not None:
        found["share_exporter_behind_offsets"].append(((), view.behind))
    if otlp_failures is not None:
        found["share_exporter_otlp_failures"].append(((), otlp_failures))
    found["share_exporter_info"].append(((__version__,), 1))
    found["share_exporter_view_age_seconds"].append(((), age))
    found["share_exporter_share_partitions"].append(((), len(everything)))
    found["share_exporter_left_out_share_partitions"].append(((), len(everything) - len(chosen)))
    found["share_exporter_groups"].append(((), len(view.groups)))
    found["share_exporter_left_out_groups"].append(((), len(view.groups) - len(groups)))
    found["share_exporter_problems"].append(((), len(view.problems)))
    found["share_exporter_failures"].append(((), view.failures_total))
    return found


def _most(everything: Sequence[_T], size: Callable[[_T], int], most: int) -> Sequence[_T]:
    """Choose the greatest where there are too many."""
    return everything if len(everything) <= most else sorted(everything, key=size, reverse=True)[:most]


def _of_state_partition(place: StatePartitionPlace) -> Iterator[tuple[str, int]]:
    yield "share_state_topic_read_offset", place.read
    if place.needed is not None:
        yield "share_state_topic_needed_offset", place.needed
    if place.log_start is not None and place.log_end is not None:
        yield "share_state_topic_size_offsets", place.log_end - place.log_start
        if place.needed is not None:
            # Brokers may have pruned since the last snapshot was read.
            yield "share_state_topic_redundant_offsets", max(0, place.needed - place.log_start)


def _share_partition(found: Readings, view: View, group: GroupView, one: SharePartitionView) -> None:
    place = (one.group, one.topic or one.topic_id, str(one.partition))
    found["share_group_health"].append(((*place, one.verdict.health.value), 1))
    if one.log_end_offset is not None:
        found["share_group_log_end_offset"].append((place, one.log_end_offset))
    if one.lag is not None:
        found["share_group_lag_records"].append((place, one.lag))
        if one.lag > 0 and one.has_nothing_left:
            found["share_group_no_record_waits"].append((place, 1))
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
    yield "share_group_redelivered_records", (), sum(records for count, records in row.delivery_counts if count > 1)
    if row.start_offset >= 0:
        yield "share_group_window_offsets", (), 0 if row.end_offset is None else row.end_offset - row.start_offset + 1
    if row.held_offset is not None:
        by = "unknown" if row.held_state is None else _HELD_BY.get(row.held_state, "unknown")
        yield "share_group_head_blocked", (by,), 1
    if row.held_since is not None:
        yield "share_group_oldest_unsettled_seconds", (), max(0, now_ms - row.held_since) / 1000
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
