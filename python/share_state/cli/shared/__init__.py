"""Arguments, sources and output that several commands share."""
