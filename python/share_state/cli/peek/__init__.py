"""The command `share-state peek`."""
