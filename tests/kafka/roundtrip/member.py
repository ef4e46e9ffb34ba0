"""Member of a share group, in a process of its own so that it can vanish as a crashed one does.

``argv[1]`` is its plan (:class:`Plan`) as JSON. On stdout it writes one line an acknowledgement, as
``[topic, partition, offset, type, delivery count, error code or null]``, and only once the broker has answered it.
It leaves in order when its stdin ends.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict, deque
from typing import NamedTuple

from confluent_kafka import AcknowledgeType, KafkaException, ShareConsumer, TopicPartition

#: Weights, of ten, by which a record is accepted, released, rejected.
_WEIGHTS = (6, 3, 1)
_TYPES = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)


class Plan(NamedTuple):
    """Plan of a member."""

    bootstrap: str
    group: str
    topics: list[str]
    seed: int
    #: Seconds after which it leaves by itself.
    seconds: float
    #: Seconds that it sits on its records now and then; above the lock duration their locks run out.
    stall: float
    #: After so many records it dies with some in its hands; 0 never.
    vanish_after: int


class Member:
    """A consumer and what it has not heard of yet."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = random.Random(plan.seed)  # noqa: S311  a workload, not a secret
        #: In order: a record may come again before its last acknowledgement is answered.
        self.asked: dict[tuple[str, int, int], deque[tuple[str, int]]] = defaultdict(deque)
        self.seen = self.stalls = 0
        self.consumer = ShareConsumer(
            {
                "bootstrap.servers": plan.bootstrap,
                "group.id": plan.group,
                "share.acknowledgement.mode": "explicit",
                "log_level": 0,
            }
        )
        self.consumer.set_acknowledgement_commit_callback(self.answered)

    def run(self) -> None:
        """Work, then leave in order."""
        until = time.monotonic() + self.plan.seconds
        told = threading.Thread(target=sys.stdin.read, daemon=True)
        told.start()
        self.consumer.subscribe(self.plan.topics)
        while told.is_alive() and time.monotonic() < until:
            self.one_poll()
        self.consumer.close()

    def one_poll(self) -> None:
        """Take records, do something with each, and send that in one of three ways."""
        messages = [message for message in self.consumer.poll(0.2) if message.error() is None]
        self.seen += len(messages)
        if messages and 0 < self.plan.vanish_after <= self.seen:
            os.kill(os.getpid(), signal.SIGKILL)
        if messages and self.plan.stall and (self.stalls == 0 or self.random.random() < 0.3):
            self.stalls += 1
            time.sleep(self.plan.stall)
        for message in messages:
            (kind,) = self.random.choices(_TYPES, _WEIGHTS)
            place = (str(message.topic()), int(message.partition() or 0), int(message.offset() or 0))
            self.asked[place].append((kind.name, message.delivery_count() or 0))
            self.consumer.acknowledge(message, kind)
        way = self.random.randrange(3)
        if way == 0:
            self.consumer.commit_sync(10)
        elif way == 1:
            self.consumer.commit_async()

    def answered(self, offsets: dict[TopicPartition, set[int]], failure: KafkaException | None) -> None:
        """Note what the broker said."""
        code = None if failure is None else failure.args[0].code()
        for place, found in offsets.items():
            for offset in sorted(found):
                asked = self.asked[place.topic, place.partition, offset]
                # The client itself acknowledges what holds no record, as GAP: markers, and what was aborted.
                kind, count = asked.popleft() if asked else ("GAP", 0)
                print(json.dumps([place.topic, place.partition, offset, kind, count, code]), flush=True)


if __name__ == "__main__":
    Member(Plan(**json.loads(sys.argv[1]))).run()
