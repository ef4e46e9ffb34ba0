"""What became of the records of share partitions, read from a log: rows of history, of states, of anomalies."""
