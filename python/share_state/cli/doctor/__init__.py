"""The command `share-state doctor`."""
