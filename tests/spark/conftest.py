"""The marked group ``spark``: when it runs, and the one session that most of it shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Set to run the group together with the others; ``pytest -m spark`` runs it alone.
SWITCH = "SHARE_STATE_SPARK"

_HERE = Path(__file__).parent


def asked_for(config: pytest.Config) -> bool:
    """Returns true if the group is wanted; then a missing PySpark or Java is a failure, never a skip."""
    return bool(os.environ.get(SWITCH)) or "spark" in str(config.option.markexpr)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the group's modules alone unless it is asked for: they import pyspark, which need not be there."""
    in_group = _HERE in collection_path.parents and collection_path.name.startswith("test_")
    return True if in_group and not asked_for(config) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the group."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small session in this process's JVM, for all tests that need no other."""
    from tests.spark.sessions import local_session  # noqa: PLC0415  imports pyspark

    session = local_session(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()
