"""The command `share-state dump`."""
