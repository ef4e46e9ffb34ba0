"""The command `share-state diff`."""
