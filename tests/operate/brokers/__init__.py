"""The operators' tools on real brokers, with share consumers at work."""

#: Records of the topic of the groups ``healthy`` and ``gone``.
RECORDS = 8
#: Deliveries of the one record of the group ``poisoned``: one less than Kafka's limit by default.
DELIVERIES = 4
