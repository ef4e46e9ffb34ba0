"""The command `share-state web`."""
