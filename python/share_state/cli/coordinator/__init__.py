"""The command `share-state coordinator`."""
