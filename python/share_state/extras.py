"""Packages that only parts of share_state need, and the error that says how to install one that is missing."""

from __future__ import annotations

import importlib

from share_state.errors import ShareStateError

__all__ = ["MissingPackageError", "install_command", "require"]


class MissingPackageError(ShareStateError, ImportError):
    """A package that this part of share_state needs is not installed; ``field`` names it."""


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra."""
    return f"pip install 'share-state[{extra}]'"


def require(extra: str, *modules: str) -> None:
    """Import modules that an extra brings.

    Raises :class:`MissingPackageError` for the first that is not there.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            text = f"share_state.{extra} needs {module} ({error}): {install_command(extra)}"
            raise MissingPackageError(text, field=module) from None
