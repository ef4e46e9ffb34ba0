"""The gateway beside a broker's own share groups, consumer groups and NATS JetStream, on one machine."""
