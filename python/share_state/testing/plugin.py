"""The fixtures, for ``pytest_plugins = ["share_state.testing.plugin"]`` in a ``conftest.py``.

It is no entry point: pytest would import it, and share_state with it, in every run wherever share_state is installed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from share_state.testing.cluster import ShareCluster, share_cluster

__all__ = ["share_groups", "share_groups_config"]


@pytest.fixture
def share_groups_config() -> dict[str, str]:
    """Give configurations for :func:`share_groups`; override it in a module or a class."""
    return {}


@pytest.fixture
def share_groups(share_groups_config: dict[str, str]) -> Iterator[ShareCluster]:
    """Run a cluster with share groups for one test."""
    with share_cluster(config=share_groups_config) as cluster:
        yield cluster
