"""`share-state coordinator`: a share coordinator on a socket, its state in a directory."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from share_state import _core
from share_state.cli.exit_codes import ExitCode
from share_state.cli.printable import printable
from share_state.errors import ShareStateError
from share_state.kafka import FakeShareCoordinator, Topic
from share_state.kafka.peers import Address
from share_state.types import SharePartitionKey

#: Seconds between two rounds of snapshots and pruning, as Kafka's (`share.coordinator.state.topic.prune.interval.ms`).
_ROUND_SECONDS = 300
_MAX_PORT = 65_535


def _listen_address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _MAX_PORT):
        raise typer.BadParameter(f"{text!r} is not HOST:PORT")
    return Address(host, int(port))


def _topic(text: str) -> tuple[str, Topic]:
    name, _, rest = text.partition(":")
    try:
        # The same shape as a coordinator key, and the same rules: topic id, then a number.
        topic_id, partitions = _core.parse_coordinator_key(f"topic:{rest}")[1:]
        in_base64 = _core.coordinator_key(*SharePartitionKey("topic", topic_id, 0)).split(":")[1]
    except (ValueError, ShareStateError):
        raise typer.BadParameter(f"{text!r} is not NAME:ID:PARTITIONS") from None
    if not name or partitions < 1:
        raise typer.BadParameter(f"{text!r} is not NAME:ID:PARTITIONS")
    return name, Topic(in_base64, partitions)


def coordinator(
    listen: Annotated[str, typer.Option("--listen", help="HOST:PORT to listen on; port 0 takes any that is free.")],
    path: Annotated[Path, typer.Option("--path", help="Directory of the state; made when it does not exist.")],
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="NAME:ID:PARTITIONS of a topic; once one is given, others do not exist."),
    ] = None,
) -> None:
    """Serve a share coordinator (RPC 83 to 87), for tests without a JVM.

    Neither authentication nor TLS: listen on the loopback address. Ctrl-C or SIGTERM ends it with status 0.
    """
    address = _listen_address(listen)
    topics = dict(_topic(text) for text in topic) if topic else None
    try:
        with _core.StateStore(path) as store:
            asyncio.run(_serve(store, topics, address))
    except (ShareStateError, OSError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        typer.echo(f"share-state: cannot serve {printable(str(path))} at {listen}: {printable(reason)}", err=True)
        raise typer.Exit(ExitCode.IO) from None


async def _serve(store: _core.StateStore, topics: dict[str, Topic] | None, address: Address) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with FakeShareCoordinator(store, topics=topics) as server:
        host, port = await server.start(*address)
        # One line for whoever has started it and waits for the port.
        typer.echo(f"listening on {f'[{host}]' if ':' in host else host}:{port}")
        while not stopped.is_set():
            try:
                await asyncio.wait_for(stopped.wait(), _ROUND_SECONDS)
            except TimeoutError:
                await asyncio.to_thread(_tidy, store)


def _tidy(store: _core.StateStore) -> None:
    store.cold_snapshots()
    store.prune()
