"""The command `share-state exporter`."""
