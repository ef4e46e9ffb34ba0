"""Our Kafka persisters beside Kafka's own, against one broker: ``python -m benches.persister.run``."""
