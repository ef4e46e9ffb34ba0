"""The gateway beside a broker's own share groups and consumer groups, on one machine."""
