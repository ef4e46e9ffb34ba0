"""What the commands about single records ask of a cluster beside its state topic."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from share_state.cli import any_source
from share_state.cli.live_source import PATIENCE, security_for
from share_state.errors import ConfigError, UnknownPartitionError
from share_state.printable import printable
from share_state.reading.cluster import SCHEME
from share_state.reading.failures import ClusterReadError

if TYPE_CHECKING:
    from share_state.live.about import About
    from share_state.payloads import PayloadReader

__all__ = ["about_topic", "payload_reader", "produced_ms", "warn"]


def about_topic(cluster: str, client: any_source.Client, group: str, topic: str) -> About:
    """Ask for a topic by its name or id, and for a group.

    Raises:
        typer.BadParameter: there is no such topic.
        ShareStateError: the cluster cannot be asked.
    """
    # Late: a directory needs none of what talks to brokers.
    from share_state.live.about import about  # noqa: PLC0415

    security = security_for(cluster, client.command_config)
    bootstrap = cluster.removeprefix(SCHEME)
    try:
        return asyncio.run(about(bootstrap, security, group, topic, request_timeout=client.timeout or PATIENCE))
    except UnknownPartitionError as error:
        raise typer.BadParameter(printable(f"TOPIC {topic} is not in the cluster")) from error
    except ConfigError as error:
        raise ClusterReadError(str(error)) from None


def payload_reader(cluster: str, client: any_source.Client) -> PayloadReader:
    """Make a reader of records that is not open yet."""
    from share_state.payloads import PayloadReader  # noqa: PLC0415  late, as above

    return PayloadReader(cluster, client_config=client.settings(cluster), timeout=client.timeout or PATIENCE)


def produced_ms(cluster: str, client: any_source.Client, topic: str, partition: int, offset: int) -> int | None:
    """Read the time of one record; None where the topic does not have it any more, or not yet.

    Raises:
        ClusterReadError: the topic may not be read, or not at the moment.
    """
    from share_state.payloads import Payload  # noqa: PLC0415  late, as above

    with payload_reader(cluster, client) as reader:
        [record] = reader.read(topic, partition, [offset])
    return record.timestamp_ms if isinstance(record, Payload) else None


def warn(problems: Iterable[str]) -> None:
    """Say on stderr what could not be asked."""
    for problem in problems:
        typer.echo(printable(f"share-state: warning: {problem}"), err=True)
