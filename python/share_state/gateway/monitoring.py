"""What operators ask over HTTP: ``/metrics``, ``/healthz``, ``/readyz``.

Metrics need the package ``prometheus-client`` (extra ``gateway``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

from share_state.errors import ShareStateError
from share_state.extras import require
from share_state.gateway import readings
from share_state.gateway.counts import BOUNDS, Times
from share_state.gateway.metric_table import METRICS, Kind, Metric
from share_state.gateway.upstream.cluster import UpstreamError
from share_state.kafka.peers import Address

__all__ = ["Monitoring"]

_LOG: Final = logging.getLogger("share_state.gateway.monitoring")
#: Bytes of a request's head, seconds that one may take, and how many there may be at once.
_MAX_HEAD: Final = 8192
_TIME: Final = 5.0
_MAX_CONNECTIONS: Final = 32
#: Seconds that upstream has to answer before the gateway counts as not ready.
_READY_TIME: Final = 3.0
_TEXT: Final = "text/plain; charset=utf-8"


class Monitoring:
    """Serves HTTP for a gateway.

    Args:
        parts: of the gateway, whose numbers they are.

    Raises:
        MissingPackageError: ``prometheus-client`` is not installed.
    """

    def __init__(self, parts: readings.Parts) -> None:
        require("gateway", "prometheus_client")
        self._parts = parts
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        #: One scrape at a time: each asks upstream where the logs end.
        self._turn = asyncio.Lock()

    async def start(self, host: str, port: int) -> Address:
        """Listen, and give the address.

        Raises:
            OSError: the address cannot be listened on.
        """
        self._server = await asyncio.start_server(self._client, host, port, limit=_MAX_HEAD)
        name = self._server.sockets[0].getsockname()
        return Address(name[0], name[1])

    async def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()
        for client in list(self._clients):
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def unready(self) -> list[str]:
        """Say why clients should not come yet, or not any more; nothing when they may."""
        parts, why = self._parts, []
        try:
            async with asyncio.timeout(_READY_TIME):
                await parts.upstream.lane("control").any()
        except TimeoutError:
            why.append("upstream does not answer in time")
        except UpstreamError as lost:
            why.append(f"upstream does not answer: {lost}")
        if parts.manager.writes.is_failing:
            why.append("the log of share partitions takes no writes")
        if parts.groups.is_failing:
            why.append("the log of groups takes no writes")
        return why

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        try:
            async with asyncio.timeout(_TIME):
                head = await reader.readuntil(b"\r\n\r\n") if len(self._clients) <= _MAX_CONNECTIONS else b""
            if head:
                writer.write(await self._answer(head))
                async with asyncio.timeout(_TIME):
                    await writer.drain()
                writer.close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as wrong:
            _LOG.debug("not an HTTP request: %s", wrong)
        except asyncio.CancelledError:
            # By close(): the task ends here, and asyncio has nobody to tell.
            _LOG.debug("closed a connection")
        finally:
            if not writer.is_closing():
                writer.transport.abort()

    async def _answer(self, head: bytes) -> bytes:
        method, _, rest = head.partition(b"\r\n")[0].partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if method not in {b"GET", b"HEAD"}:
            return _response("405 Method Not Allowed", _TEXT, b"only GET and HEAD\n")
        try:
            if path == b"/metrics":
                found = await self._metrics()
            elif path == b"/healthz":
                found = ("200 OK", _TEXT, b"ok\n")
            elif path == b"/readyz":
                why = await self.unready()
                said = "".join(f"{reason}\n" for reason in why) or "ready\n"
                found = ("503 Service Unavailable" if why else "200 OK", _TEXT, said.encode())
            else:
                found = ("404 Not Found", _TEXT, b"/metrics, /healthz, /readyz\n")
        except ShareStateError as wrong:
            _LOG.warning("%s was not answered: %s", path.decode("ascii", "replace"), wrong)
            found = ("500 Internal Server Error", _TEXT, b"see the log\n")
        return _response(*found, is_head=method == b"HEAD")

    async def _metrics(self) -> tuple[str, str, bytes]:
        async with self._turn:
            found = await readings.read(self._parts)
        # Many lines of text: not on the event loop.
        body = await asyncio.to_thread(_exposition, found)
        from prometheus_client import CONTENT_TYPE_LATEST  # noqa: PLC0415  an extra

        return "200 OK", CONTENT_TYPE_LATEST, body


def _response(status: str, kind: str, body: bytes, *, is_head: bool = False) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode("ascii") + (b"" if is_head else body)


def _exposition(found: readings.Readings) -> bytes:
    """Write numbers as Prometheus reads them."""
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415  an extra

    class Collected:
        def collect(self) -> Iterator[Any]:
            for metric in METRICS:
                yield _family(metric, found.get(metric.name, []))

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collected())
    return generate_latest(registry)


def _family(metric: Metric, values: list[tuple[tuple[str, ...], readings.Value]]) -> Any:  # noqa: ANN401  an extra
    from prometheus_client import core  # noqa: PLC0415  an extra

    kinds: dict[Kind, Callable[..., Any]] = {
        Kind.COUNTER: core.CounterMetricFamily,
        Kind.GAUGE: core.GaugeMetricFamily,
        Kind.HISTOGRAM: core.HistogramMetricFamily,
    }
    family = kinds[metric.kind](metric.name, metric.text, labels=metric.labels)
    for labels, value in values:
        if isinstance(value, Times):
            family.add_metric(labels, _buckets(value), value.total)
        else:
            family.add_metric(labels, value)
    return family


def _buckets(times: Times) -> list[tuple[str, float]]:
    found, up_to = [], 0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), times.buckets, strict=True):
        up_to += count
        found.append((bound, float(up_to)))
    return found
