"""A running cluster as the source of a live view: its argument, its options, and how a view of it is made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from share_state.cli.shared import any_source
from share_state.errors import ConfigError
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.client.security_properties import client_settings
from share_state.operate.live.live_view import LiveView
from share_state.operate.reading.cluster import SCHEME, is_cluster
from share_state.util.printable import printable

#: Seconds between two looks at the cluster unless --refresh says otherwise.
REFRESH_S = 2.0
#: Seconds to wait for an answer unless --timeout says otherwise.
PATIENCE = 10.0

ClusterArgument = Annotated[str, typer.Argument(metavar="kafka://HOST:PORT[,…]", help="A running cluster.", show_default=False)]
CopyOption = Annotated[
    Path | None,
    typer.Option(
        "--copy",
        metavar="DIRECTORY",
        help="Keep the state topic here as far as it was read, so that the next start reads only what is new.",
        show_default=False,
    ),
]
RefreshOption = Annotated[
    float, typer.Option("--refresh", metavar="SECONDS", min=0.1, max=3600, help="Time between two looks at the cluster.")
]


def live_view(cluster: str, command_config: Path | None, copy: Path | None, timeout: float | None) -> LiveView:
    """Make a view that is not open yet.

    Raises:
        typer.BadParameter: the address or a setting cannot be used.
        ClusterReadError: the file with the settings cannot be read.
    """
    if not is_cluster(cluster):
        raise typer.BadParameter(f"{printable(cluster)} is not a cluster, kafka://HOST:PORT")
    security = security_for(cluster, command_config)
    try:
        return LiveView(cluster.removeprefix(SCHEME), security=security, copy=copy, timeout=timeout or PATIENCE)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


def security_for(cluster: str, command_config: Path | None) -> SecurityOptions:
    """Read how connections to a cluster are secured.

    Raises:
        typer.BadParameter: a setting cannot be used.
        ClusterReadError: the file with the settings cannot be read.
    """
    settings = any_source.client_config(cluster, command_config)
    try:
        return client_settings(settings).security
    except ConfigError as error:
        raise typer.BadParameter(printable(f"{command_config}: {error}")) from None
