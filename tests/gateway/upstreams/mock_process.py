"""The process that holds a mock cluster: prints its addresses, and ends with its standard input."""

from __future__ import annotations

import sys

from confluent_kafka import Producer


def main(brokers: int) -> None:
    """Hold a cluster of so many brokers."""
    holder = Producer({"test.mock.num.brokers": brokers, "log_level": 0})
    found = holder.list_topics(timeout=30).brokers.values()
    print(",".join(f"{broker.host}:{broker.port}" for broker in found), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))
