"""The command `share-state spark-doctor`."""
