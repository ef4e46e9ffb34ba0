"""The sources of state: a log on disk, or the state topic of a running cluster; now, or as of earlier."""
