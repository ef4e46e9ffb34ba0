"""What operators ask over HTTP: ``/metrics``, ``/healthz``, ``/readyz``.

Metrics need the package ``prometheus-client`` (extra ``gateway``).
"""

from __future__ import annotations

import asyncio
from typing import Final

from share_state.gateway import readings
from share_state.gateway.metric_table import METRICS
from share_state.gateway.upstream.cluster import UpstreamError
from share_state.kafka.client.peers import Address
from share_state.operate.monitoring.exposition import exposition
from share_state.operate.monitoring.http import HttpServer, Page, Request
from share_state.util.extras import require

__all__ = ["Monitoring"]

#: Seconds that upstream has to answer before the gateway counts as not ready.
_READY_TIME: Final = 3.0


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
        self._server = HttpServer({"/metrics": self._metrics, "/healthz": _healthy, "/readyz": self._ready})
        #: One scrape at a time: each asks upstream where the logs end.
        self._turn = asyncio.Lock()

    async def start(self, host: str, port: int) -> Address:
        """Listen, and give the address.

        Raises:
            OSError: the address cannot be listened on.
        """
        return await self._server.start(host, port)

    async def close(self) -> None:
        """Listen no more."""
        await self._server.close()

    async def unready(self) -> list[str]:
        """Say why clients should not come yet, or not any more; nothing when they may."""
        parts, why = self._parts, []
        try:
            async with asyncio.timeout(_READY_TIME):
                await parts.upstream.control.any()
        except TimeoutError:
            why.append("upstream does not answer in time")
        except UpstreamError as lost:
            why.append(f"upstream does not answer: {lost}")
        if parts.plane.wrong is not None:
            why.append(f"the data plane has failed: {parts.plane.wrong}")
        if parts.plane.is_failing:
            why.append("the log of share partitions takes no writes")
        if parts.groups.is_failing:
            why.append("the log of groups takes no writes")
        return why

    async def _ready(self, _request: Request) -> Page:
        why = await self.unready()
        said = "".join(f"{reason}\n" for reason in why) or "ready\n"
        return Page(said.encode(), status="503 Service Unavailable" if why else "200 OK")

    async def _metrics(self, request: Request) -> Page:
        async with self._turn:
            found = await readings.read(self._parts)
        # Many lines of text: not on the event loop.
        content_type, body = await asyncio.to_thread(exposition, METRICS, found, request.headers.get("accept", ""))
        return Page(body, content_type)


async def _healthy(_request: Request) -> Page:
    return Page(b"ok\n")
