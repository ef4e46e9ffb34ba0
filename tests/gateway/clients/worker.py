"""A member by confluent-kafka's ShareConsumer: ``python -m tests.gateway.clients.worker PLAN``."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time

from confluent_kafka import AcknowledgeType, KafkaException, Message, ShareConsumer, TopicPartition

from tests.gateway.clients.plan import Plan

#: This library does not renew; a record that is to be renewed is accepted.
_TYPES = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT, AcknowledgeType.ACCEPT)
_COMMIT_S = 30.0


def tell(event: str, **more: object) -> None:
    """Report a line."""
    print(json.dumps({"event": event, "at": time.monotonic_ns(), **more}), flush=True)


class Worker:
    """A consumer at its plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = random.Random(plan.seed)  # noqa: S311 - a workload, not a secret
        self.received = 0
        self.stalls = 0
        self.last_record = time.monotonic()
        self.consumer = ShareConsumer(
            {
                "bootstrap.servers": plan.bootstrap,
                "group.id": plan.group,
                "share.acknowledgement.mode": "explicit" if plan.explicit else "implicit",
                "log_level": 0,
                **plan.settings,
            }
        )
        self.consumer.set_acknowledgement_commit_callback(self.answered)

    def run(self) -> None:
        """Work until the plan or the standard input ends, then leave in order."""
        self.consumer.subscribe(self.plan.topics)
        fatal = False
        while not fatal and not self.done():
            try:
                self.one_poll()
            except KafkaException as error:
                fatal = self.failed(error)
        try:
            self.consumer.close()
        except KafkaException as error:
            self.failed(error)

    def done(self) -> bool:
        """Returns true if it is time to leave."""
        if 0 < self.plan.records <= self.received:
            return True
        if 0 < self.plan.idle_seconds <= time.monotonic() - self.last_record:
            return True
        return bool(select.select([sys.stdin], [], [], 0)[0])

    def one_poll(self) -> None:
        """Take records, decide on each, and send that."""
        messages = []
        for message in self.consumer.poll(self.plan.poll_seconds):
            if (error := message.error()) is None:
                messages.append(message)
            else:
                tell("error", text=str(error), code=error.code(), fatal=error.fatal())
        if not messages:
            return
        self.last_record = time.monotonic()
        self.received += len(messages)
        tell("received", records=[[*place(message), message.delivery_count()] for message in messages])
        if 0 < self.plan.vanish_after <= self.received:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.plan.stall_after and self.received // self.plan.stall_after > self.stalls:
            self.stalls = self.received // self.plan.stall_after
            time.sleep(self.plan.stall_seconds)
        if self.plan.explicit:
            self.acknowledge(messages)

    def acknowledge(self, messages: list[Message]) -> None:
        """Decide on each record and send the decisions in the way of the plan."""
        kinds = [self.choose(message) for message in messages]
        tell("acknowledging", records=[[*place(message), kind.name] for message, kind in zip(messages, kinds, strict=True)])
        for message, kind in zip(messages, kinds, strict=True):
            self.consumer.acknowledge(message, kind)
        way = self.random.choice(("sync", "async", "poll")) if self.plan.commit == "mixed" else self.plan.commit
        if way == "sync":
            self.consumer.commit_sync(_COMMIT_S)
        elif way == "async":
            self.consumer.commit_async()

    def choose(self, message: Message) -> AcknowledgeType:
        """By what the record is, not by when it comes: so its fate is the same on every server."""
        own = random.Random(f"{self.plan.seed} {place(message)} {message.delivery_count()}")  # noqa: S311 - a workload
        return own.choices(_TYPES, self.plan.weights)[0]

    @staticmethod
    def answered(offsets: dict[TopicPartition, set[int]], failure: KafkaException | None) -> None:
        """Report what the server said."""
        code = None if failure is None else failure.args[0].code()
        for found, places in offsets.items():
            tell("acknowledged", records=[[found.topic, found.partition, offset] for offset in sorted(places)], error=code)

    @staticmethod
    def failed(error: KafkaException) -> bool:
        """Report what a call raised; whether it is the end."""
        reason = error.args[0]
        tell("error", text=str(reason), code=reason.code(), fatal=reason.fatal())
        return bool(reason.fatal())


def place(message: Message) -> list[str | int | None]:
    """Topic, partition and offset of a record."""
    return [message.topic(), message.partition(), message.offset()]


def main() -> None:
    """Be a member."""
    given = json.loads(sys.argv[1])
    worker = Worker(Plan(**given))
    tell("started", pid=os.getpid())
    worker.run()
    tell("ended")


if __name__ == "__main__":
    main()
