"""Lets Spark find the data source `share_state` by itself: it imports every top-level module that is named `pyspark_…`."""

from share_state.spark.source import ShareStateSource as DefaultSource

__all__ = ["DefaultSource"]
