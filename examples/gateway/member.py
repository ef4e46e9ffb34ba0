"""A member of the share group: an unmodified share consumer of confluent-kafka, in a process of its own."""

import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import AcknowledgeType as ClientsType
from confluent_kafka import KafkaException, Message, ShareConsumer, TopicPartition

from examples.gateway.journal import Event, Journal
from examples.gateway.plan import GROUP, TOPIC, WORK_SECONDS, Part, Place, Plan
from share_state import AcknowledgeType

#: INVALID_RECORD_STATE: the member does not hold the record any more.
_NOT_HELD = 121
_POLL_SECONDS = 0.2
#: Number of polls that the member to be killed makes before it waits for that.
_POLLS_BEFORE_THE_KILL = 3
_COMMIT_SECONDS = 10.0


def work(plan: Plan, name: str, part: Part, bootstrap_servers: str) -> None:
    """Be a member until nothing is left to do."""
    Member(plan, name, part, bootstrap_servers).run()


class Member:
    """Consumer and its journal."""

    def __init__(self, plan: Plan, name: str, part: Part, bootstrap_servers: str) -> None:
        self._plan = plan
        self._part = part
        self._journal = Journal(name, plan.journal(name))
        self._polls = 0
        #: Acknowledgements that were sent and not answered.
        self._sent: dict[Place, tuple[int, AcknowledgeType]] = {}
        self._consumer = ShareConsumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": GROUP,
                "share.acknowledgement.mode": "explicit",
                "max.poll.records": plan.at_once,
                # The gateway is killed on purpose: that connections break is no news.
                "log_level": 0,
                "reconnect.backoff.max.ms": 200,
            }
        )
        self._consumer.set_acknowledgement_commit_callback(self._answered)

    def run(self) -> None:
        """Work until the parent says that nothing is left."""
        self._consumer.subscribe([TOPIC])
        self._journal.write(Event.READY)
        _await(self._plan.go)
        while not self._plan.done.exists():
            messages = [message for message in self._consumer.poll(_POLL_SECONDS) if message.error() is None]
            if messages:
                self._process(messages)
        self._consumer.close()

    def _process(self, messages: Sequence[Message]) -> None:
        """Take the records of one poll, process them, and say what became of each."""
        self._polls += 1
        held = [(_place(message), message.delivery_count() or 0, message) for message in messages]
        self._journal.write(Event.DELIVERED, ((place, count, None) for place, count, _ in held))
        garbled = [(place, count, None) for place, count, message in held if message.value() != self._plan.value(place)]
        if garbled:
            self._journal.write(Event.GARBLED, garbled)
        if self._part is Part.STALLS and self._polls == 1:
            self._journal.write(Event.HOLDING, ((place, count, None) for place, count, _ in held))
            _await(self._plan.lost)
        if self._part is Part.IS_KILLED and self._polls > _POLLS_BEFORE_THE_KILL:
            self._journal.write(Event.HOLDING, ((place, count, None) for place, count, _ in held))
            time.sleep(3600)
        time.sleep(WORK_SECONDS)
        answers = {place: (count, self._plan.answer(place, count)) for place, count, _ in held}
        self._journal.write(Event.SENT, ((place, *answer) for place, answer in answers.items()))
        for place, _, message in held:
            self._consumer.acknowledge(message, ClientsType[answers[place][1].name])
        self._sent |= answers
        try:
            self._consumer.commit_sync(_COMMIT_SECONDS)
        except KafkaException as error:
            if error.args[0].fatal():
                raise

    def _answered(self, offsets: dict[TopicPartition, set[int]], failure: KafkaException | None) -> None:
        """Write down what the gateway, or the client in its place, has answered."""
        code = None if failure is None else failure.args[0].code()
        event = Event.CONFIRMED if code is None else Event.REFUSED if code == _NOT_HELD else Event.UNANSWERED
        places = [Place(found.partition, offset) for found, answered in offsets.items() for offset in sorted(answered)]
        # Offsets that hold no record are acknowledged by the client itself.
        self._journal.write(event, ((place, *self._sent.pop(place)) for place in places if place in self._sent))


def _await(word: Path) -> None:
    """Wait for a word of the parent."""
    while not word.exists():
        time.sleep(0.01)


def _place(message: Message) -> Place:
    partition, offset = message.partition(), message.offset()
    if partition is None or offset is None:
        raise ValueError("a record without a place")
    return Place(partition, offset)
