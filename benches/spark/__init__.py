"""Measurements on Spark: run by hand, after `make spark`."""
