"""`share-state web`: how share groups do, as pages for a browser."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from share_state.cli.shared import any_source
from share_state.cli.shared.exit_codes import ExitCode
from share_state.cli.shared.listening import HttpsCertOption, HttpsKeyOption, LoginOption, announce, listen_address, server_tls
from share_state.cli.shared.live_source import REFRESH_S, ClusterArgument, CopyOption, RefreshOption, live_view
from share_state.cli.shared.output_format import CommandConfigOption, TimeoutOption
from share_state.errors import ConfigError, ShareStateError
from share_state.kafka.logins import read_users
from share_state.util.extras import MissingPackageError, require
from share_state.util.printable import printable

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from share_state.kafka.client.peers import Address
    from share_state.operate.live.live_view import LiveView
    from share_state.operate.web.access import Network
    from share_state.operate.web.source import Source


class _Door(NamedTuple):
    """Address at which the pages are served, and their users."""

    address: Address
    tls: ssl.SSLContext | None
    users: Mapping[str, str] | None
    trusted: tuple[Network, ...]


class _Sources(NamedTuple):
    """Sources of histories and of the cluster's view."""

    histories: Source
    cluster: Source


def web(
    cluster: ClusterArgument,
    *,
    listen: Annotated[str, typer.Option("--listen", metavar="HOST:PORT", help="Where the pages are served.")] = "localhost:9405",
    copy: CopyOption = None,
    refresh: RefreshOption = REFRESH_S,
    tls_cert: HttpsCertOption = None,
    tls_key: HttpsKeyOption = None,
    users: LoginOption = None,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--trust-proxy",
            metavar="ADDRESS",
            help="Believe X-Forwarded-For and X-Forwarded-Proto of this proxy, an address or a network; may be repeated.",
            show_default=False,
        ),
    ] = None,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Serve how the share groups of a running cluster do, as pages for a browser.

    Joins no group and changes nothing; the pages have no buttons that would. Needs the extra `ops` of the package. SIGTERM and
    Ctrl-C end it with status 0.

    Example: share-state web kafka://localhost:9092
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    address, tls, trusted = listen_address(listen), server_tls(tls_cert, tls_key), _networks(trust_proxy or [])
    try:
        require("ops", "starlette", "jinja2", "uvicorn")
        live = live_view(cluster, command_config, copy, timeout)
        door = _Door(address, tls, None if users is None else read_users(users), trusted)
        asyncio.run(_serve(live, _sources(cluster, command_config, copy, timeout), refresh, door))
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None
    except MissingPackageError as error:
        _fail(str(error))
    except ShareStateError as error:
        _fail(f"cannot read {cluster}: {error}")
    except OSError as error:
        _fail(f"cannot serve at {listen}: {error.strerror or error}")


def _networks(texts: list[str]) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(text) for text in texts)
    except ValueError as error:
        raise typer.BadParameter(printable(f"--trust-proxy: {error}")) from None


def _sources(cluster: str, command_config: Path | None, copy: Path | None, timeout: float | None) -> _Sources:
    """Choose where histories are read: a copy holds no less than is needed, and is here."""
    from share_state.operate.web.source import Source  # noqa: PLC0415  after the options were looked at

    at_cluster = Source(cluster, any_source.client_config(cluster, command_config), timeout)
    return _Sources(at_cluster if copy is None else Source(str(copy)), at_cluster)


async def _serve(live: LiveView, sources: _Sources, refresh: float, door: _Door) -> None:
    from share_state.operate.web.access import is_loopback  # noqa: PLC0415  after we know that its packages are there
    from share_state.operate.web.app import application  # noqa: PLC0415  the same
    from share_state.operate.web.background import Background  # noqa: PLC0415  the same
    from share_state.operate.web.server import PageServer  # noqa: PLC0415  the same
    from share_state.operate.web.watch import Watch  # noqa: PLC0415  the same

    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    local_only = is_loopback(door.address.host)
    watch, background = Watch(live, refresh_seconds=refresh), Background()
    app = application(watch, background, *sources, users=door.users, local_only=local_only, trusted=door.trusted)
    server = PageServer(app, door.tls)
    host, port = server.listen(*door.address)
    try:
        async with live:
            starting, stopping = loop.create_task(watch.start()), loop.create_task(stop.wait())
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                with suppress(asyncio.CancelledError):
                    await starting
                return
            starting.result()
            if door.users is None and not local_only:
                typer.echo(
                    "share-state: warning: whoever reaches this address sees the pages; --users asks for a login", err=True
                )
            scheme = "http" if door.tls is None else "https"
            announce(f"serving {scheme}://{f'[{host}]' if ':' in host else host}:{port}/")
            ending = loop.create_task(watch.ended())
            ending.add_done_callback(lambda _: stop.set())
            await server.serve(stop)
            await background.close()
            if ending.done():
                ending.result()
            await watch.close()
    finally:
        server.close()


def _fail(reason: str) -> None:
    typer.echo(printable(f"share-state: {reason}"), err=True)
    raise typer.Exit(ExitCode.IO)
