"""The command `share-state top`."""
