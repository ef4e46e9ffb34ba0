"""Kafka's command-line tools beside each other: what they print for a broker and for a gateway."""
