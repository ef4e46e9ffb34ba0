"""The command `share-state dlq`."""
