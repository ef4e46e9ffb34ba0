"""Histories of real runs, for the checker: share consumers at work on a broker or a gateway, with faults.

``python -m tests.proof.histories --seconds 60`` records one, keeps it, and checks it (docs/histories.md).
"""
