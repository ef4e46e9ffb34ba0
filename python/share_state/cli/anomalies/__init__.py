"""The command `share-state anomalies`."""
