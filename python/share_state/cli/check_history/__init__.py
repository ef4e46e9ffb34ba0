"""The command `share-state check-history`."""
