"""The command `share-state state`."""
