"""The options that the commands of `dlq` have in common, and what they are made into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final, NamedTuple

import typer

from share_state.cli.shared import any_source
from share_state.cli.shared.as_of_option import parse_as_of
from share_state.cli.shared.choice import listed
from share_state.cli.shared.exit_codes import ExitCode, reading
from share_state.cli.shared.live_source import PATIENCE
from share_state.errors import ConfigError
from share_state.operate.dead_letters import (
    Asking,
    Cause,
    Filter,
    Letters,
    NoSuchTopicError,
    Source,
    UnknownGroupError,
    source_of,
)
from share_state.operate.reading.cluster import is_cluster
from share_state.operate.reading.plain import Progress
from share_state.util.printable import printable

__all__ = ["Cluster", "asked_filter", "cluster_of", "explained", "letters_of"]

_OFFSETS: Final = re.compile(r"(\d{1,19})(?:-(\d{1,19}))?", re.ASCII)
_TIME: Final = "ISO 8601 (UTC if it names no zone), or ms since the epoch."

QueueOption = Annotated[
    str | None,
    typer.Option(
        "--queue", metavar="TOPIC", help="Read this queue, and not that of the group's configuration.", show_default=False
    ),
]
HistoryOption = Annotated[
    bool, typer.Option("--from-history", help="Take the archived records of the share state, also where there is a queue.")
]
CauseOption = Annotated[
    list[Cause] | None, typer.Option("--cause", help="Only records with this cause; may come again.", show_default=False)
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help=f"Only records dead-lettered then or later: {_TIME}", show_default=False),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only records dead-lettered before.", show_default=False)
]
TopicOption = Annotated[str | None, typer.Option("--topic", help="Only records of this source topic.", show_default=False)]
OffsetsOption = Annotated[
    str | None,
    typer.Option("--offset", metavar="N|FIRST-LAST", help="Only this offset of the source, or these.", show_default=False),
]


class Cluster(NamedTuple):
    """Address and settings of a cluster."""

    address: str
    settings: dict[str, object]
    timeout: float


def cluster_of(address: str, client: any_source.Client) -> Cluster:
    """Take the address and the settings of a cluster.

    Raises:
        typer.BadParameter: it is no cluster.
        ClusterReadError: the file with the settings cannot be read.
    """
    if not is_cluster(address):
        raise typer.BadParameter(f"{printable(address)} is not a cluster, kafka://HOST:PORT")
    return Cluster(address, client.settings(address) or {}, PATIENCE if client.timeout is None else client.timeout)


def asked_filter(
    *,
    causes: list[Cause] | None,
    since: str | None,
    until: str | None,
    topic: str | None,
    partition: int | None,
    offsets: str | None,
) -> Filter:
    """Make a filter of the options.

    Raises:
        typer.BadParameter: one of them cannot be used.
    """
    first = last = None
    if offsets is not None:
        found = _OFFSETS.fullmatch(offsets.strip())
        if found is None:
            raise typer.BadParameter(f"--offset is {offsets!r}; expected N or FIRST-LAST")
        first = int(found[1])
        last = first if found[2] is None else int(found[2])
    told = Filter(
        causes=frozenset(causes) if causes else None,
        since=_time(since, "--since"),
        until=_time(until, "--until"),
        topic=topic,
        partition=partition,
        first_offset=first,
        last_offset=last,
    )
    try:
        return told.check()
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


def letters_of(
    cluster: Cluster, asking: Asking, group: str, queue: str | None, progress: Progress | None, *, from_history: bool
) -> tuple[Source, Letters]:
    """Find what tells of the dead letters of a group.

    Raises:
        typer.BadParameter: the options contradict each other.
        ShareStateError: the cluster does not answer, or refuses.
    """
    if queue is not None and from_history:
        raise typer.BadParameter("--queue and --from-history exclude each other")
    if not group:
        raise typer.BadParameter("GROUP is empty")
    source = source_of(asking, group, queue=queue, from_history=from_history)
    address, settings, timeout = cluster
    return source, Letters(address, source, settings=settings, timeout=timeout, progress=progress)


@contextmanager
def explained(address: str) -> Iterator[None]:
    """Turn what a cluster has not into wrong usage, and what fails into one sentence and exit status 3."""
    with reading(address):
        try:
            yield
        except UnknownGroupError as error:
            there = listed(error.there)
            raise typer.BadParameter(printable(f"{error}, which has {there}")) from None
        except NoSuchTopicError as error:
            raise typer.BadParameter(printable(str(error))) from None


def refused(reason: Exception, status: ExitCode) -> typer.Exit:
    """Say why a redrive does not go on, after everything that went to stdout."""
    typer.echo(f"share-state: {printable(str(reason))}", err=True)
    return typer.Exit(status)


def _time(text: str | None, option: str) -> int | None:
    if text is None:
        return None
    told = parse_as_of(text, option)
    if told.timestamp is None:
        raise typer.BadParameter(f"{option} is {text!r}; expected a time in ISO 8601, or ms since the epoch")
    return int(told.timestamp)
