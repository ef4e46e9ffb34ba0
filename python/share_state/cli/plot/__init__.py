"""The command `share-state plot`."""
