"""The operators' tools on real brokers, with share consumers at work."""

#: Of the topic of the groups ``healthy`` and ``gone``.
RECORDS = 8
#: Of the one record of the group ``poisoned``: one less than Kafka's limit by default.
DELIVERIES = 4
