"""`share-state coordinator`: a share coordinator on a socket, its state in a directory."""

import asyncio
import logging
import signal
from pathlib import Path
from typing import Annotated

import typer

from share_state import _core
from share_state.cli.shared.exit_codes import ExitCode
from share_state.cli.shared.listening import announce, listen_address, server_tls
from share_state.cli.shared.repair_option import RepairOption, refusal
from share_state.errors import ConfigError, ShareStateError
from share_state.kafka import ShareCoordinatorServer, Topic
from share_state.kafka.client.peers import Address
from share_state.kafka.coordinator_server import MAX_CONNECTIONS
from share_state.kafka.logins import read_users
from share_state.types import SharePartitionKey
from share_state.util.printable import printable
from share_state.util.tidying import ROUND_SECONDS, tidy


def _topic(text: str) -> tuple[str, Topic]:
    name, _, rest = text.partition(":")
    try:
        # The same shape as a coordinator key, and the same rules: topic id, then a number.
        topic_id, partitions = _core.parse_coordinator_key(f"topic:{rest}")[1:]
        in_base64 = _core.coordinator_key(*SharePartitionKey("topic", topic_id, 0)).split(":")[1]
    except (ValueError, ShareStateError):
        raise typer.BadParameter(f"{text!r}: expected NAME:ID:PARTITIONS") from None
    if not name or partitions < 1:
        raise typer.BadParameter(f"{text!r}: expected NAME:ID:PARTITIONS")
    return name, Topic(in_base64, partitions)


def coordinator(
    listen: Annotated[str, typer.Option("--listen", help="HOST:PORT to listen on; port 0 picks a free port.")],
    path: Annotated[Path, typer.Option("--path", help="Directory of the state; created if it does not exist.")],
    *,
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="NAME:ID:PARTITIONS of a topic; without it every topic exists."),
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="Certificate chain for TLS, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its private key, PEM, without a passphrase.")] = None,
    sasl_users: Annotated[
        Path | None,
        typer.Option("--sasl-users", help="File with NAME:PASSWORD on each line, for PLAIN and SCRAM."),
    ] = None,
    max_connections: Annotated[
        int, typer.Option("--max-connections", min=1, help="Connections at once; one client address has half of them at most.")
    ] = MAX_CONNECTIONS,
    repair: RepairOption = False,
) -> None:
    """Serve as a share coordinator (RPCs 83 to 87), without a JVM.

    A client that is logged in may do everything; without --sasl-users every client may. Ctrl-C or SIGTERM ends it with status 0.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    address = listen_address(listen)
    topics = dict(_topic(text) for text in topic) if topic else None
    tls = server_tls(tls_cert, tls_key)
    try:
        users = None if sasl_users is None else read_users(sasl_users)
    except ConfigError as wrong:
        raise typer.BadParameter(printable(str(wrong))) from None
    try:
        with _core.StateStore(path, repair=repair) as store:
            for repaired in store.recovery()["repaired"]:
                typer.echo(printable(f"share-state: repaired: {repaired}"), err=True)
            coordinator = ShareCoordinatorServer(
                store, topics=topics, ssl_context=tls, users=users, max_connections=max_connections
            )
            asyncio.run(_serve(store, coordinator, address))
    except (ShareStateError, OSError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else refusal(error)
        typer.echo(f"share-state: cannot serve {printable(str(path))} at {listen}: {printable(reason)}", err=True)
        raise typer.Exit(ExitCode.IO) from None


async def _serve(store: _core.StateStore, coordinator: ShareCoordinatorServer, address: Address) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with coordinator:
        host, port = await coordinator.start(*address)
        announce(f"listening on {f'[{host}]' if ':' in host else host}:{port}")
        while not stopped.is_set():
            try:
                await asyncio.wait_for(stopped.wait(), ROUND_SECONDS)
            except TimeoutError:
                await asyncio.to_thread(tidy, store, _warn)


def _warn(text: str) -> None:
    typer.echo(printable(f"share-state: warning: {text}"), err=True)
