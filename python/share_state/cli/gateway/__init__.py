"""The command `share-state gateway`."""
