"""A cluster with a share group in trouble: `.venv/bin/python examples/operate/run.py`, for docs/operate.md.

It starts a broker of Kafka (fetched by `make kafka`; a JDK is needed), fills a topic, and lets workers of the group `workers`
consume it until they give up. Then it waits for Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path

# Python looks for modules beside a script; those of the tests are found from the root of the repository.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from confluent_kafka import AcknowledgeType, Message, ShareConsumer

from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic, produce
from tests.kafka.broker import Broker, free_ports
from tests.kafka.home import JUDGE

TOPIC, GROUP = "orders", "workers"
#: The decimal comma of the fourth is what the workers stumble over.
AMOUNTS = ("19.90", "4.20", "7.00", "12,50", "3.99", "88.00")
#: Deliveries of a record, one less than the limit of the group.
TRIES = 4


def main() -> int:
    """Run the cluster."""
    parser = argparse.ArgumentParser(description="A cluster with a share group in trouble.")
    parser.add_argument("--port", type=int, default=9092, help="of the broker; 0 picks a free one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        ports = free_ports(2)
        broker = Broker(JUDGE, Path(directory), arguments.port or ports[0], ports[1])
        broker.format({"group.share.heartbeat.interval.ms": "300", "group.share.min.heartbeat.interval.ms": "200"})
        try:
            print(f"Starting Kafka {JUDGE} …", flush=True)
            broker.start()
            fill(broker.bootstrap)
            work(broker.bootstrap)
            print(f"kafka://localhost:{broker.port} is ready; Ctrl-C ends it.", flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
        finally:
            broker.stop()
    return 0


def fill(bootstrap: str) -> None:
    """Produce the orders."""
    create_topic(bootstrap, TOPIC, 1)
    orders = ({"id": number, "amount": amount} for number, amount in enumerate(AMOUNTS))
    produce(bootstrap, TOPIC, [json.dumps(order).encode() for order in orders])


def work(bootstrap: str) -> None:
    """Consume the orders; a worker whose record fails gives it back, and ends after the fourth try."""
    configure_group(bootstrap, GROUP, **{"share.auto.offset.reset": "earliest"})
    consumer = ShareConsumer(
        {"bootstrap.servers": bootstrap, "group.id": GROUP, "share.acknowledgement.mode": "explicit", "log_level": 0}
    )
    consumer.subscribe([TOPIC])
    tries = 0
    while tries < TRIES:
        for message in consumer.poll(timeout=1.0):
            if message.error() is not None:
                continue
            if is_booked(message):
                consumer.acknowledge(message, AcknowledgeType.ACCEPT)
            else:
                consumer.acknowledge(message, AcknowledgeType.RELEASE)
                tries += 1
        consumer.commit_sync(10.0)
    consumer.close()


def is_booked(message: Message) -> bool:
    """Book an order, as a worker does that knows decimal points only."""
    try:
        float(json.loads(message.value() or b"")["amount"])
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    # Blocked before threads start, so that `sigwait` gets them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    sys.exit(main())
