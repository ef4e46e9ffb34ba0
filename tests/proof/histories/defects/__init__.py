"""Kafka's apparent defects, asked for from outside: whether a client that sends ordinary requests can see them.

``python -m tests.proof.histories.defects`` plays one scenario a defect of docs/deliberate-differences.md on a
broker or on the gateway.
"""
