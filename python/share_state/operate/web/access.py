"""Access to the pages, and what a browser may do with them: the layers around the application."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from share_state.logs import named
from share_state.operate.monitoring.basic_login import CHALLENGE, may

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEALTHY", "Gate", "Login", "Network", "is_loopback"]

Network = IPv4Network | IPv6Network

_LOG: Final = logging.getLogger("share_state.web")
#: The page that needs no login, and tells nothing of the cluster.
HEALTHY: Final = "/healthz"
_METHODS: Final = frozenset({"GET", "HEAD"})
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The names of groups are nobody else's business, and figures are old in a moment.
    "Cache-Control": "no-store",
}


class Gate:
    """The outermost layer: methods, the name by which the server is asked, and headers for the browser.

    Args:
        app: what answers.
        local_only: whether only names of this machine are served, because the server listens on no other address. A page from
            elsewhere could lead a browser here by a name of its own (DNS rebinding).
        trusted: proxies, which may ask by any name.
    """

    def __init__(self, app: ASGIApp, *, local_only: bool, trusted: tuple[Network, ...] = ()) -> None:
        self._app = app
        self._local_only = local_only
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["method"] not in _METHODS:
            refusal = PlainTextResponse("only GET and HEAD\n", 405, {"Allow": "GET, HEAD"})
            await refusal(scope, receive, send_guarded)
        elif self._local_only and not self._is_local(scope):
            text = "not served by this name: ask by that of this machine, or name the proxy with --trust-proxy\n"
            await PlainTextResponse(text, 421)(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    def _is_local(self, scope: Scope) -> bool:
        client = scope.get("client")
        if client is not None and _is_of(client[0], self._trusted):
            return True
        return is_loopback(_host(Headers(scope=scope).get("host", "")))


class Login:
    """Asks for a login, where there are users.

    Args:
        app: what answers.
        users: passwords by name; None where no login is asked for.
    """

    def __init__(self, app: ASGIApp, users: Mapping[str, str] | None) -> None:
        self._app = app
        self._users = users

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "http" and scope["path"] != HEALTHY:
            authorization = Headers(scope=scope).get("authorization", "")
            if not may(self._users, authorization):
                if authorization:
                    client = scope.get("client")
                    _LOG.warning("a login was refused: %s", named(client="unknown" if client is None else client[0]))
                response = PlainTextResponse("a login is needed\n", 401, {"WWW-Authenticate": CHALLENGE})
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, by a name or an address that no other machine has."""
    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _host(header: str) -> str:
    """Take the host out of the header of this name."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def _is_of(address: str, networks: tuple[Network, ...]) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)
