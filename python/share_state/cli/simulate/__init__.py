"""The command `share-state simulate`."""
