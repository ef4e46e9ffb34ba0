"""`share-state gateway`: share groups for a cluster that has none."""

import asyncio
import gc
import logging
import signal
import ssl
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from share_state._core import check_broker_config
from share_state.arguments import Sync
from share_state.cli.shared.exit_codes import ExitCode
from share_state.cli.shared.listening import announce, listen_address, server_tls
from share_state.cli.shared.repair_option import RepairOption, refusal
from share_state.errors import ConfigError, ShareStateError
from share_state.gateway import Access, GatewayOptions, Limits, ShareGateway, read_rules, split_properties
from share_state.gateway.options import ON_TRUNCATION
from share_state.gateway.tokens import SignedTokens, UnsecuredTokens
from share_state.kafka.bearer_tokens import TokenValidator
from share_state.kafka.client.peers import parse_bootstrap
from share_state.kafka.client.security_properties import security_in
from share_state.kafka.logins import read_users
from share_state.util.extras import MissingPackageError
from share_state.util.printable import printable
from share_state.util.property_files import PropertyFile, read_properties

_LIMITS = Limits()
#: Bytes; producers' requests may have 100 MiB each.
_QUEUED_WITH_RELAY = 256 << 20
#: Thresholds of Python's search for cycles of garbage (``gc.set_threshold``). A connection's objects live as long as it does: to
#: look through them as often as Python likes takes a sixth of the time at 64 connections, and more at 1,000.
_GARBAGE = (20_000, 50, 100)


def gateway(
    upstream: Annotated[str, typer.Option("--upstream", help="HOST:PORT[,HOST:PORT…] of the cluster with the records.")],
    listen: Annotated[str, typer.Option("--listen", help="HOST:PORT to listen on; port 0 picks a free port.")],
    path: Annotated[Path, typer.Option("--path", help="Directory of the state; created if it does not exist.")],
    *,
    advertise: Annotated[
        str | None, typer.Option("--advertise", help="HOST:PORT that clients connect to, if it differs from --listen.")
    ] = None,
    upstream_config: Annotated[
        Path | None,
        typer.Option("--upstream-config", help="Java properties: security.protocol, sasl.* and ssl.* towards upstream."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="Java properties: group.share.* of the broker, share.* as defaults of groups."),
    ] = None,
    sync: Annotated[
        str, typer.Option("--sync", help="When an acknowledgement is on disk: always (before its answer), interval, never.")
    ] = "always",
    repair: RepairOption = False,
    relay: Annotated[
        bool, typer.Option("--relay", help="Forward other requests to the one upstream broker: producers, topics, transactions.")
    ] = False,
    alongside: Annotated[
        bool,
        typer.Option("--alongside", help="Serve also if another gateway does from a PATH of its own: both deliver every record."),
    ] = False,
    metrics: Annotated[str | None, typer.Option("--metrics", help="HOST:PORT for /metrics, /healthz and /readyz.")] = None,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="Certificate for TLS, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its private key, PEM, without a passphrase.")] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option("--tls-client-ca", help="CAs, PEM: requires client certificates that one of them has signed."),
    ] = None,
    sasl_users: Annotated[
        Path | None,
        typer.Option("--sasl-users", help="File with NAME:PASSWORD on each line, for PLAIN and SCRAM."),
    ] = None,
    oauth_jwks: Annotated[
        Path | None, typer.Option("--oauth-jwks", help="JSON Web Key Set that verifies OAUTHBEARER tokens.")
    ] = None,
    oauth_audience: Annotated[str | None, typer.Option("--oauth-audience", help="The audience that tokens must have.")] = None,
    oauth_issuer: Annotated[str | None, typer.Option("--oauth-issuer", help="The issuer that tokens must have.")] = None,
    oauth_unsecured: Annotated[
        bool, typer.Option("--oauth-unsecured", help="For tests: accept tokens without a signature.")
    ] = False,
    acl: Annotated[
        Path | None, typer.Option("--acl", help="JSON table of permissions; without it, everything is permitted.")
    ] = None,
    max_connections: Annotated[
        int, typer.Option("--max-connections", min=1, help="Connections at once; the limit of open files may allow fewer.")
    ] = _LIMITS.connections,
    max_connections_per_address: Annotated[
        int, typer.Option("--max-connections-per-address", min=1, help="Connections of one client address.")
    ] = _LIMITS.address_connections,
    max_connections_per_principal: Annotated[
        int, typer.Option("--max-connections-per-principal", min=1, help="Connections of one principal.")
    ] = _LIMITS.principal_connections,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log more.")] = False,
) -> None:
    """Serve share groups over a cluster that has none (KIP-932).

    Share consumers and Kafka's tools connect to it as to a broker. The records stay upstream. PATH keeps the state. Ctrl-C or
    SIGTERM ends it with status 0.

    Example: share-state gateway --upstream localhost:9092 --listen localhost:9192 --path gateway
    """
    level = logging.DEBUG if verbose else logging.INFO
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        if sync not in get_args(Sync):
            raise typer.BadParameter(f"--sync is {sync!r}; expected one of {', '.join(get_args(Sync))}")
        properties = PropertyFile() if config is None else read_properties(config)
        broker, groups = split_properties(properties)
        on_truncation = broker.pop(ON_TRUNCATION, "rewind").strip()
        upstream_security = security_in(upstream_config)
        with properties.located():
            options = GatewayOptions(
                upstream=tuple(parse_bootstrap(upstream)),
                path=path,
                listen=listen_address(listen),
                advertised=None if advertise is None else listen_address(advertise),
                sync=cast("Sync", sync),
                repair=repair,
                relay=relay,
                alongside=alongside,
                limits=Limits(
                    queued=_QUEUED_WITH_RELAY if relay else _LIMITS.queued,
                    connections=max_connections,
                    address_connections=max_connections_per_address,
                    principal_connections=max_connections_per_principal,
                ),
                broker=broker,
                groups=groups,
                upstream_security=upstream_security,
                ssl_context=server_tls(tls_cert, tls_key, tls_client_ca),
                users=None if sasl_users is None else read_users(sasl_users),
                tokens=_tokens(oauth_jwks, oauth_audience, oauth_issuer, unsecured=oauth_unsecured),
                access=Access() if acl is None else read_rules(acl),
                on_truncation=on_truncation,
                metrics=None if metrics is None else listen_address(metrics),
            )
            check_broker_config(broker)
    except (ConfigError, MissingPackageError) as wrong:
        raise typer.BadParameter(printable(str(wrong))) from None
    try:
        gc.set_threshold(*_GARBAGE)
        asyncio.run(_serve(options))
    except (ShareStateError, OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else refusal(error)
        typer.echo(f"share-state: cannot serve {printable(str(path))} at {listen}: {printable(reason)}", err=True)
        raise typer.Exit(ExitCode.IO) from None


def _tokens(jwks: Path | None, audience: str | None, issuer: str | None, *, unsecured: bool) -> TokenValidator | None:
    if jwks is None and (audience is not None or issuer is not None):
        raise typer.BadParameter("--oauth-audience and --oauth-issuer need --oauth-jwks")
    if jwks is not None and unsecured:
        raise typer.BadParameter("--oauth-jwks and --oauth-unsecured exclude each other")
    if jwks is not None:
        return SignedTokens(jwks, audience=() if audience is None else [audience], issuer=issuer)
    return UnsecuredTokens() if unsecured else None


async def _serve(options: GatewayOptions) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with ShareGateway(options) as gateway:
        announce(f"serving share groups on {gateway.bootstrap_servers}")
        ends = loop.create_task(stopped.wait()), loop.create_task(gateway.failed())
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
    if gateway.plane.wrong is not None:
        # A supervisor starts it again: what was confirmed is in the log.
        raise gateway.plane.wrong
