"""The command `share-state history`."""
