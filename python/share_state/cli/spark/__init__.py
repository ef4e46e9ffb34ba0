"""The command `share-state spark`."""
