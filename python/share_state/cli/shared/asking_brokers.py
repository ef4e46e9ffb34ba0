"""Questions to a cluster beside its state topic, from the commands about single records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from share_state.cli.shared import any_source
from share_state.cli.shared.live_source import PATIENCE, security_for
from share_state.errors import ConfigError, UnknownPartitionError
from share_state.kafka.client.peers import parse_bootstrap
from share_state.operate.reading.cluster import SCHEME
from share_state.operate.reading.failures import ClusterReadError
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.live.about import About
    from share_state.operate.live.rights import Right
    from share_state.operate.payloads import PayloadReader

__all__ = ["about_groups", "about_topic", "payload_reader", "produced_ms", "warn"]


def about_topic(cluster: str, client: any_source.Client, group: str, topic: str) -> About:
    """Ask for a topic by its name or id, and for a group.

    Raises:
        typer.BadParameter: there is no such topic.
        ShareStateError: the cluster cannot be asked.
    """
    # Late: a directory needs none of what talks to brokers.
    from share_state.operate.live.about import about  # noqa: PLC0415

    security = security_for(cluster, client.command_config)
    bootstrap = cluster.removeprefix(SCHEME)
    try:
        return asyncio.run(about(bootstrap, security, group, topic, request_timeout=client.timeout or PATIENCE))
    except UnknownPartitionError as error:
        raise typer.BadParameter(printable(f"TOPIC {topic} is not in the cluster")) from error
    except ConfigError as error:
        raise ClusterReadError(str(error)) from None


def about_groups(
    cluster: str, client: any_source.Client, groups: Iterable[str], topic_ids: Iterable[str]
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Ask for the configurations of groups and the names of topics; what cannot be asked is reported on stderr, and left out."""
    from share_state.kafka.client.client import UnansweredError  # noqa: PLC0415  late, as above
    from share_state.kafka.client.configs import Resource  # noqa: PLC0415  late, as above
    from share_state.operate.live.asked import Asked  # noqa: PLC0415  late, as above

    missing: set[Right] = set()

    async def ask() -> tuple[dict[str, dict[str, str]], dict[str, str]]:
        asked = Asked(parse_bootstrap(cluster.removeprefix(SCHEME)), security_for(cluster, client.command_config))
        try:
            topics = await asked.topics(topic_ids, missing)
            configs = await asked.configs(Resource.GROUP, groups, missing)
        finally:
            await asked.close()
        return configs, {topic_id: topic.name for topic_id, topic in topics.items()}

    try:
        told = asyncio.run(asyncio.wait_for(ask(), client.timeout or PATIENCE))
    except (*UnansweredError, ConfigError, TimeoutError, typer.BadParameter) as error:
        warn([f"lock durations and names of topics are not known: {str(error) or 'no answer'}"])
        return {}, {}
    warn(f"{right} is missing" for right in sorted(missing, key=str))
    return told


def payload_reader(cluster: str, client: any_source.Client) -> PayloadReader:
    """Make a reader of records that is not open yet."""
    from share_state.operate.payloads import PayloadReader  # noqa: PLC0415  late, as above

    return PayloadReader(cluster, client_config=client.settings(cluster), timeout=client.timeout or PATIENCE)


def produced_ms(cluster: str, client: any_source.Client, topic: str, partition: int, offset: int) -> int | None:
    """Read the time of one record; None where the topic does not have it any more, or not yet.

    Raises:
        ClusterReadError: the topic may not be read, or not at the moment.
    """
    from share_state.operate.payloads import Payload  # noqa: PLC0415  late, as above

    with payload_reader(cluster, client) as reader:
        [record] = reader.read(topic, partition, [offset])
    return record.timestamp_ms if isinstance(record, Payload) else None


def warn(problems: Iterable[str]) -> None:
    """Say on stderr what could not be asked."""
    for problem in problems:
        typer.echo(printable(f"share-state: warning: {problem}"), err=True)
