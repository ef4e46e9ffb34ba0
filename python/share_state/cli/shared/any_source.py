"""Common face of the sources of the commands: a path, or a running cluster with the settings of its client."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import typer

from share_state.cli.shared.as_of_option import check_as_of
from share_state.cli.shared.choice import Choice
from share_state.cli.shared.progress import byte_progress, record_progress
from share_state.errors import ConfigError
from share_state.operate import analysis
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.reading import cluster, plain
from share_state.operate.reading.as_of import AsOf
from share_state.util.property_files import read_properties, trimmed


class Client(NamedTuple):
    """Settings for a cluster: a file with the settings of its client, and the time to wait."""

    command_config: Path | None = None
    timeout: float | None = None

    def settings(self, source: str) -> dict[str, object] | None:
        """Read the settings; what is for a cluster is refused where the source is none."""
        if self.timeout is not None and not cluster.is_cluster(source):
            raise typer.BadParameter("--timeout applies only to a cluster, kafka://HOST:PORT")
        return client_config(source, self.command_config)


class _History(Protocol):
    """Rows, and after the last of them what could not be read."""

    @property
    def findings(self) -> list[plain.Finding]:
        """Findings so far: what could not be read."""

    def __iter__(self) -> Iterator[HistoryRow]:
        """Return the rows."""


def fold(
    source: str, progress: plain.Progress | None, client: Client, as_of: AsOf, option: str = "--as-of"
) -> tuple[list[plain.ShareState], list[plain.Finding]]:
    """Fold a source as far as is asked for with an option; the states come in order of group, topic id and partition.

    Raises:
        typer.BadParameter: `as_of` names a state partition, or an offset of it, that there is not.
    """
    settings = client.settings(source)
    if cluster.is_cluster(source):
        scan = cluster.ClusterScan(source, settings, progress, as_of, client.timeout)
        folded = cluster.fold_cluster(scan)
        check_as_of(as_of, scan.ends, option)
        return folded
    if as_of.offset is not None:
        check_as_of(as_of, plain.log_ends(source), option)
    return plain.fold_path(source, progress, as_of)


def scan(source: str, client: Client) -> plain.Scan:
    """Read every record of a source; under a path also those below the log start."""
    settings = client.settings(source)
    return (
        cluster.ClusterScan(source, settings, timeout=client.timeout) if cluster.is_cluster(source) else plain.scan_path(source)
    )


def history(
    source: str, choice: Choice, client: Client, progress: plain.Progress | None = None, as_of: AsOf | None = None
) -> _History:
    """Tell what became of the records of the chosen share partitions; `as_of` without a field, or none, takes all.

    Raises:
        typer.BadParameter: a topic id is none.
    """
    settings = client.settings(source)
    prefix = as_of or AsOf()
    try:
        return cast(
            "_History",
            analysis.history(
                source,
                **choice._asdict(),
                progress=progress,
                as_of_offset=prefix.offset,
                as_of_timestamp=prefix.timestamp,
                client_config=settings,
                timeout=client.timeout,
            ),
        )
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(str(error)) from None


def watched(source: str, description: str, *, streams: bool = False) -> AbstractContextManager[plain.Progress | None]:
    """Return a callable to report progress to, in the source's own measure; `streams`: output is written meanwhile."""
    measure = record_progress if cluster.is_cluster(source) else byte_progress
    return measure(description, streams=streams)


def client_config(source: str, command_config: Path | None) -> dict[str, object] | None:
    """Read the settings of a cluster's client from a property file."""
    if command_config is None:
        return None
    if not cluster.is_cluster(source):
        raise typer.BadParameter("--command-config applies only to a cluster, kafka://HOST:PORT")
    try:
        return {**trimmed(read_properties(command_config, needs_values=True))}
    except ConfigError as wrong:
        raise cluster.ClusterReadError(str(wrong)) from None
