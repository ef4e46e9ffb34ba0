"""One mock cluster for all tests of the gateway that only read of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.python.gateway.serving import upstream


@pytest.fixture(scope="session")
def bootstrap() -> Iterator[str]:
    with upstream() as address:
        yield address
