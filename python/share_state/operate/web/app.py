"""The application: routes, and the layers around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from share_state.errors import ConfigError
from share_state.operate.web.access import HEALTHY, Gate, Login, Network
from share_state.operate.web.answers import STATIC, Answers
from share_state.operate.web.pages import Pages
from share_state.operate.web.reading_pages import ReadingPages

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from share_state.operate.web.background import Background
    from share_state.operate.web.source import Source
    from share_state.operate.web.watch import Watch

__all__ = ["application"]

#: A tenth of the size for a tenth of the time that a page takes.
_COMPRESSION: Final = 4


def application(
    watch: Watch,
    background: Background,
    source: Source,
    cluster: Source,
    *,
    users: Mapping[str, str] | None = None,
    local_only: bool = True,
    trusted: tuple[Network, ...] = (),
) -> ASGIApp:
    """Make the application.

    Args:
        watch: gives the view, and is started.
        background: reads what the view does not hold.
        source: where histories are read.
        cluster: the cluster, where dead letters are read.
        users: passwords by name; None where no login is asked for.
        local_only: whether only names of this machine are served.
        trusted: proxies whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are believed.
    """
    answers = Answers(cluster.path)
    pages, reading = Pages(watch, answers), ReadingPages(watch, background, source, cluster, answers)
    routes = [
        Route("/", pages.overview),
        Route("/group", pages.group),
        Route("/share-partition", reading.share_partition),
        Route("/record", reading.record),
        Route("/dead-letters", reading.dead_letters),
        Route(HEALTHY, pages.healthy),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    app: ASGIApp = Starlette(routes=routes, exception_handlers={HTTPException: pages.error, ConfigError: pages.error})
    # There is nothing on a page that a guess could be held against (BREACH): no token, no text of a request beside a secret.
    app = Login(GZipMiddleware(app, compresslevel=_COMPRESSION), users)
    if trusted:
        app = ProxyHeadersMiddleware(app, [str(network) for network in trusted])  # type: ignore[arg-type,assignment]
    return Gate(app, local_only=local_only, trusted=trusted)
