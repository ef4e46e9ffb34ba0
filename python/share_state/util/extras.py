"""Packages that only parts of share_state need, and the error that says how to install one that is missing."""

from __future__ import annotations

import importlib

from share_state.errors import ShareStateError

__all__ = ["MissingPackageError", "how_to_install", "require"]


class MissingPackageError(ShareStateError, ImportError):
    """A package that this part of share_state needs is not installed; ``field`` names it."""


def how_to_install(extra: str) -> str:
    """Return what brings the packages of an extra: share_state is on no index, so it is installed from its checkout."""
    return f"run pip install '.[{extra}]' in the checkout of share_state"


def require(extra: str, *modules: str) -> None:
    """Import modules that an extra brings.

    Raises :class:`MissingPackageError` for the first that is not there.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            text = f"share_state.{extra} needs {module} ({error}): {how_to_install(extra)}"
            raise MissingPackageError(text, field=module) from None
