"""The `share-state` command: looks at share-group state on disk, never locks or changes it."""

from share_state.cli.app import main

__all__ = ["main"]
