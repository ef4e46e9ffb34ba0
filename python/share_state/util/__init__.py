"""Helpers that several rooms of the package share and none owns."""
