"""The command `share-state trace`."""
