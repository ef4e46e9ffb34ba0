"""Recorded runs that the simulator is held to: members whose behaviour is known, under settings that differ."""
