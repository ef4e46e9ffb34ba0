"""The recorded input of the benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recorded() -> Path:
    """State topic of a Kafka 4.4.0 broker, as it lay on its disk."""
    path = Path(__file__).parents[2] / "examples" / "orders-4.4.0"
    assert path.is_dir()
    return path
