"""One face for what the commands read: a path, or a running cluster with the settings of its client."""

from contextlib import AbstractContextManager
from pathlib import Path

import typer

from share_state.cli.progress import byte_progress, record_progress
from share_state.reading import cluster, plain
from share_state.reading.as_of import AsOf


def fold(
    source: str, progress: plain.Progress | None, command_config: Path | None, as_of: AsOf
) -> tuple[list[plain.ShareState], list[plain.Finding]]:
    """Fold a source as far as is asked for; the states come in order of group, topic id and partition."""
    settings = client_config(source, command_config)
    if cluster.is_cluster(source):
        return cluster.fold_cluster(cluster.ClusterScan(source, settings, progress, as_of))
    return plain.fold_path(source, progress, as_of)


def scan(source: str, command_config: Path | None) -> plain.Scan:
    """Read every record of a source; under a path also those below the log start."""
    settings = client_config(source, command_config)
    return cluster.ClusterScan(source, settings) if cluster.is_cluster(source) else plain.scan_path(source)


def watched(source: str, description: str, *, streams: bool = False) -> AbstractContextManager[plain.Progress | None]:
    """Give a callable to report progress to, in the source's own measure; `streams`: output is written meanwhile."""
    measure = record_progress if cluster.is_cluster(source) else byte_progress
    return measure(description, streams=streams)


def client_config(source: str, command_config: Path | None) -> dict[str, object] | None:
    """Read the settings of a cluster's client: lines NAME=VALUE; empty ones and those that begin with # are passed over."""
    if command_config is None:
        return None
    if not cluster.is_cluster(source):
        raise typer.BadParameter("--command-config is for a cluster, kafka://HOST:PORT")
    try:
        lines = [line.strip() for line in command_config.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise cluster.ClusterReadError(f"{command_config} cannot be read: {error}") from None
    settings: dict[str, object] = {}
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            # The line itself is not shown: it may be a password.
            raise cluster.ClusterReadError(f"{command_config}, line {number}: it is not NAME=VALUE")
        settings[name.strip()] = value.strip()
    return settings
