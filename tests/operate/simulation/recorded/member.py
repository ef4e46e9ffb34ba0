"""A member that takes its time: ``python -m tests.operate.simulation.recorded.member PLAN``.

Each record takes a random time, some records hold the member up for long, and some records fail whoever takes them.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time

from confluent_kafka import AcknowledgeType, Message

from tests.gateway.clients.plan import Plan
from tests.gateway.clients.worker import Worker, place, tell

#: The median time that a record takes, in seconds, and the spread of its logarithm.
RECORD_SECONDS, SPREAD = 0.008, 0.5
#: Share of the records that hold a member up, and for how long at least and at most.
STALLED, STALL_SECONDS = 0.004, (0.4, 2.4)
#: Every record with such an offset is released by every member: its first, and how far the next one is.
POISON = (41, 150)
#: Share of the other deliveries that are released.
RELEASED = 0.04


class Labourer(Worker):
    """A worker whose records cost time."""

    def acknowledge(self, messages: list[Message]) -> None:
        """Work on the records of a poll, and then answer for all of them."""
        seconds = 0.0
        for _ in messages:
            seconds += RECORD_SECONDS * math.exp(self.random.gauss(0.0, SPREAD))
            if self.random.random() < STALLED:
                seconds += self.random.uniform(*STALL_SECONDS)
        time.sleep(seconds)
        super().acknowledge(messages)

    def choose(self, message: Message) -> AcknowledgeType:
        """Release what is poison, and a few of the others."""
        offset = message.offset()
        assert offset is not None
        if offset % POISON[1] == POISON[0]:
            return AcknowledgeType.RELEASE
        own = random.Random(f"{self.plan.seed} {place(message)} {message.delivery_count()}")  # noqa: S311 - a workload
        return AcknowledgeType.RELEASE if own.random() < RELEASED else AcknowledgeType.ACCEPT


def main() -> None:
    """Be a member."""
    worker = Labourer(Plan(**json.loads(sys.argv[1])))
    tell("started", pid=os.getpid())
    worker.run()
    tell("ended")


if __name__ == "__main__":
    main()
