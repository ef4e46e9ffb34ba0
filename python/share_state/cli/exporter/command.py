"""`share-state exporter`: how share groups do, for Prometheus and OpenTelemetry."""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import Annotated

import typer

from share_state.cli.shared.exit_codes import ExitCode
from share_state.cli.shared.listening import HttpsCertOption, HttpsKeyOption, LoginOption, announce, listen_address, server_tls
from share_state.cli.shared.live_source import REFRESH_S, ClusterArgument, CopyOption, RefreshOption, live_view
from share_state.cli.shared.output_format import CommandConfigOption, TimeoutOption
from share_state.errors import ConfigError, ShareStateError
from share_state.kafka.client.peers import Address
from share_state.kafka.logins import read_users
from share_state.operate.live.exporter import MAX_SHARE_PARTITIONS, OTLP_SECONDS, Exporter, collector
from share_state.operate.live.live_view import LiveView
from share_state.util.extras import MissingPackageError
from share_state.util.printable import printable


def exporter(
    cluster: ClusterArgument,
    *,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", help="Where /metrics and /healthz are served.", show_default=False),
    ] = None,
    otlp: Annotated[
        str | None,
        typer.Option(
            "--otlp",
            metavar="URL",
            help="Send the metrics to this OpenTelemetry collector: http://HOST:4318/v1/metrics.",
            show_default=False,
        ),
    ] = None,
    otlp_interval: Annotated[
        float, typer.Option("--otlp-interval", metavar="SECONDS", min=0.1, max=3600, help="Time between two sendings.")
    ] = OTLP_SECONDS,
    copy: CopyOption = None,
    refresh: RefreshOption = REFRESH_S,
    max_share_partitions: Annotated[
        int,
        typer.Option(
            "--max-share-partitions",
            min=0,
            help="So many have metrics of their own, and as many groups; of more, those with the greatest lag.",
        ),
    ] = MAX_SHARE_PARTITIONS,
    tls_cert: HttpsCertOption = None,
    tls_key: HttpsKeyOption = None,
    users: LoginOption = None,
    command_config: CommandConfigOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Serve how the share groups of a running cluster do, as metrics for Prometheus or OpenTelemetry.

    One of --listen and --otlp is needed, or both. Joins no group and changes nothing. Needs the extra `ops` of the package.
    SIGTERM and Ctrl-C end it with status 0.

    Example: share-state exporter kafka://localhost:9092 --listen localhost:9404
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    address = None if listen is None else listen_address(listen)
    if address is None and otlp is None:
        raise typer.BadParameter("one of --listen and --otlp is needed")
    if address is None and (tls_cert, tls_key, users) != (None, None, None):
        raise typer.BadParameter("--tls-cert, --tls-key and --users need --listen")
    tls = server_tls(tls_cert, tls_key)
    try:
        sent_to = None if otlp is None else collector(otlp)
        live = live_view(cluster, command_config, copy, timeout)
        logins = None if users is None else read_users(users)
        serving = Exporter(
            live,
            refresh_seconds=refresh,
            max_share_partitions=max_share_partitions,
            tls=tls,
            users=logins,
            otlp=sent_to,
            otlp_seconds=otlp_interval,
        )
        asyncio.run(_serve(live, serving, address, "http" if tls is None else "https"))
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None
    except MissingPackageError as error:
        _fail(str(error))
    except ShareStateError as error:
        _fail(f"cannot read {cluster}: {error}")
    except OSError as error:
        _fail(f"cannot serve at {listen}: {error.strerror or error}")


async def _serve(live: LiveView, serving: Exporter, listen: Address | None, scheme: str) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with live:
        stopping = loop.create_task(stop.wait())
        starting = loop.create_task(serving.start(listen))
        try:
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                announce(_begun(starting.result(), scheme))
                ending = loop.create_task(serving.ended())
                await asyncio.wait({ending, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if ending.done():
                    ending.result()
        finally:
            starting.cancel()
            await serving.close()


def _begun(listening: Address | None, scheme: str) -> str:
    if listening is None:
        return "sending metrics"
    host, port = listening
    return f"serving {scheme}://{f'[{host}]' if ':' in host else host}:{port}/metrics"


def _fail(reason: str) -> None:
    typer.echo(printable(f"share-state: {reason}"), err=True)
    raise typer.Exit(ExitCode.IO)
