"""The tests that need a real broker belong to the marked group of ``tests/kafka``, wherever a run begins."""

from tests.kafka.conftest import pytest_collection_modifyitems, pytest_configure

__all__ = ["pytest_collection_modifyitems", "pytest_configure"]
