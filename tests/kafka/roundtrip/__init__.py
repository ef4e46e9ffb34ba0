"""Round trips: Kafka writes and we read, we write and Kafka reads, and a running cluster read through a consumer."""
