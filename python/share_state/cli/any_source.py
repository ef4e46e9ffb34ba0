"""One face for what the commands read: a path, or a running cluster."""

from pathlib import Path

import typer

from share_state.cli import cluster_source, source


def is_cluster(name: str) -> bool:
    """Whether a source is a running cluster, and not a path."""
    return name.startswith(cluster_source.SCHEME)


def fold(
    name: str, progress: source.Progress | None, command_config: Path | None
) -> tuple[list[source.ShareState], list[source.Finding]]:
    """Fold all records of a source; the states come in order of group, topic id and partition."""
    if is_cluster(name):
        return cluster_source.fold_cluster(cluster_source.ClusterScan(name, command_config, progress))
    _refuse(command_config)
    return source.fold_path(name, progress)


def scan(name: str, command_config: Path | None) -> source.Scan:
    """Read every record of a source; under a path also those below the log start."""
    if is_cluster(name):
        return cluster_source.ClusterScan(name, command_config)
    _refuse(command_config)
    return source.scan_path(name)


def _refuse(command_config: Path | None) -> None:
    if command_config is not None:
        raise typer.BadParameter("--command-config is for a cluster, kafka://HOST:PORT")
