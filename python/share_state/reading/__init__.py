"""Where state is read from: a log on disk, or the state topic of a running cluster; all of it, or as of earlier."""
