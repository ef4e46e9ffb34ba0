"""Settings for `share-state simulate`: those of today, and those to try."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from share_state.cli.shared import any_source
from share_state.errors import ConfigError
from share_state.kafka.client.client import UnansweredError
from share_state.kafka.client.configs import Resource
from share_state.kafka.client.peers import parse_bootstrap
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.client.security_properties import client_settings
from share_state.operate.live.asked import Asked
from share_state.operate.reading.cluster import SCHEME, is_cluster
from share_state.operate.simulation import Settings
from share_state.util.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from share_state.operate.live.asked import Group

#: Seconds to wait for an answer unless --timeout says otherwise.
_PATIENCE = 10.0

TodayOption = Annotated[
    str | None,
    typer.Option(
        "--today",
        metavar="NAME=VALUE,…",
        help="The settings of the recording, by the names of the options below. Default: a cluster's, or Kafka's and 1 member.",
        show_default=False,
    ),
]
TryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--try",
        metavar="NAME=VALUE,…",
        help="Settings to try, by the names of the options below. Repeat it to compare several.",
        show_default=False,
    ),
]


def _option(name: str, metavar: str, text: str) -> object:
    return typer.Option(name, metavar=metavar, help=f"Try {text}.", show_default=False)


LockDurationOption = Annotated[str | None, _option("--lock-duration", "DURATION", "another lock duration, such as 45s")]
DeliveryLimitOption = Annotated[int | None, _option("--delivery-limit", "N", "another delivery limit")]
MaxRecordLocksOption = Annotated[int | None, _option("--max-record-locks", "N", "another limit of record locks")]
MembersOption = Annotated[int | None, _option("--members", "N", "another number of members")]
ModeOption = Annotated[str | None, _option("--mode", "batch|record", "share.acquire.mode batch_optimized or record_limit")]
MaxPollRecordsOption = Annotated[int | None, _option("--max-poll-records", "N", "another number of records a poll")]


def within(option: str, least: int, most: int) -> Callable[[int], int]:
    """Return what refuses a number out of its bounds, by its value."""

    def check(number: int) -> int:
        if not least <= number <= most:
            raise typer.BadParameter(f"{option} is {number}; expected {least} to {most}")
        return number

    return check


def changed(settings: Settings, text: str, option: str) -> Settings:
    """Change settings by the text of an option.

    Raises:
        typer.BadParameter: the text is wrong.
    """
    try:
        return settings.with_changes(text)
    except ConfigError as error:
        raise typer.BadParameter(printable(f"{option}: {error}")) from None


def of_cluster(source: str, group: str, client: any_source.Client, settings: Settings) -> Settings:
    """Take over what a cluster says of a group now; what it does not say is reported on stderr and stays."""
    if not is_cluster(source):
        return settings
    told = client.settings(source)
    try:
        security = client_settings(told).security
        described, configs = asyncio.run(_ask(source, group, security, client.timeout or _PATIENCE))
    except (*UnansweredError, ConfigError) as error:
        typer.echo(printable(f"share-state: today's settings are not known: {error}"), err=True)
        return settings
    if not configs:
        typer.echo("share-state: the group's configuration is not known: Kafka's defaults are taken", err=True)
    if described is None or not described.members:
        typer.echo("share-state: the group has no members now: 1 is taken, unless --today says otherwise", err=True)
        return settings.with_kafka(configs)
    return settings.with_kafka(configs).with_changes(f"members={len(described.members)}")


async def _ask(source: str, group: str, security: SecurityOptions, patience: float) -> tuple[Group | None, dict[str, str]]:
    asked = Asked(parse_bootstrap(source.removeprefix(SCHEME)), security, request_timeout=patience)
    try:
        described = await asked.described([group], set())
        configs = await asked.configs(Resource.GROUP, [group], set())
    finally:
        await asked.close()
    return described.get(group), configs.get(group, {})
