"""Clusters and gateways that the tests of several files use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.gateway.orchard import Orchard, orchard
from tests.gateway.serving import upstream
from tests.gateway.sharing import Market, market
from tests.gateway.wire.connection import Connection


@pytest.fixture(scope="session")
def bootstrap() -> Iterator[str]:
    """A mock cluster that tests only read of."""
    with upstream() as address:
        yield address


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory, options: dict[str, Any]) -> Iterator[Orchard]:
    """A gateway over an orchard, with the options of the file."""
    with orchard(tmp_path_factory.mktemp("gateway"), **options) as made:
        yield made


@pytest.fixture(scope="module")
def options() -> dict[str, Any]:
    """Options of a gateway over an orchard; a file that needs more has a fixture of its own."""
    return {}


@pytest.fixture
def there(trees: Orchard) -> Iterator[Orchard]:
    """The same over a new connection."""
    with Connection(trees.gateway.bootstrap_servers) as connection:
        yield trees._replace(connection=connection)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """A gateway over a market."""
    with market(tmp_path_factory.mktemp("market")) as made:
        yield made
