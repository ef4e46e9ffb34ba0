"""A pytest plugin for the suite: lets a module be imported whose test data is not there.

The suite has its share consumer tests only. One of its modules imports messages that belong to other tests, and uses them with a
Schema Registry, which is not there either. Asked last: where the real ones exist they are found first.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

_ABSENT = "tests.integration.schema_registry"


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes empty packages in place of the absent ones."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Only what is absent here; everything else is left to report its own error."""
        del path, target
        if name != _ABSENT and not name.startswith(_ABSENT + "."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """An ordinary module."""
        del spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


sys.meta_path.append(StandIns())
