"""The gateway beside a broker's own share groups, with Kafka's own tool as the client."""
