"""Sends records to their target with an idempotent producer, and sorts the answers: sent, refused, in doubt.

The client tries again by itself; the producer's id and sequence numbers keep a record that was tried twice single.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, Final, NamedTuple, Protocol

from share_state.operate.dead_letters.dead_letter import Place
from share_state.operate.dead_letters.errors import SendError
from share_state.operate.dead_letters.journal_state import Sent
from share_state.operate.payloads import Payload
from share_state.operate.reading.plain import SCHEME
from share_state.util.extras import require

__all__ = ["Answers", "Outgoing", "Pace", "Producer", "Sender", "producer"]

#: Extra that brings the client.
_EXTRA: Final = "kafka"
#: Codes that are about the record itself: each attempt is answered so, and none was written. MESSAGE_TOO_LARGE,
#: RECORD_LIST_TOO_LARGE, INVALID_TIMESTAMP, INVALID_RECORD; and the client's own for a record whose batch was refused for another
#: one, and for one that never left it.
_REFUSED: Final = frozenset({10, 18, 32, 87, -138, -152})
#: librdkafka's `_QUEUE_FULL`.
_FULL: Final = -184
#: Seconds of one wait: a Ctrl-C is noticed between two.
_POLL_S: Final = 0.1
#: Seconds for what is under way when the sending is interrupted.
_LAST_WAIT_S: Final = 5.0


class Producer(Protocol):
    """Part of ``confluent_kafka.Producer`` that is used."""

    def produce(self, topic: str, **record: Any) -> None:  # noqa: ANN401  as the client has it
        """Take a record to be sent."""

    def poll(self, timeout: float) -> int:
        """Pass on answers."""

    def flush(self, timeout: float) -> int:
        """Wait for answers; return how many are still to come."""

    def purge(self, *, in_queue: bool, in_flight: bool) -> None:
        """Give up what was not sent yet."""


class Outgoing(NamedTuple):
    """A record that is to be sent.

    Attributes:
        place: where it is from.
        payload: as it was read there.
        topic: the target.
        partition: of the target; None: by the key, as Kafka's Java producer does it.
        headers: those of the payload, and that of the redrive.
    """

    place: Place
    payload: Payload
    topic: str
    partition: int | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass
class Answers:
    """Answers to a batch: kept up to date while it is sent, so that they hold also where that is interrupted."""

    sent: dict[Place, Sent] = field(default_factory=dict)
    #: With the reason.
    refused: dict[Place, str] = field(default_factory=dict)
    #: Given to the client, and not answered; with the reason, or an empty one.
    in_doubt: dict[Place, str] = field(default_factory=dict)


class Pace:
    """Lets so many records a second through; None: all at once."""

    def __init__(
        self, rate: float | None, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.rate = rate
        self._now = now
        self._sleep = sleep
        self._due: float | None = None

    def wait(self) -> None:
        """Wait until it is the turn of the next record; time that nobody used is not made up for."""
        if self.rate is None:
            return
        now = self._now()
        due = now if self._due is None else max(now, self._due)
        if due > now:
            self._sleep(due - now)
        self._due = due + 1 / self.rate


class Sender:
    """Sends batches, one at a time.

    Args:
        producer: an idempotent one.
        pace: how fast.
    """

    def __init__(self, producer: Producer, pace: Pace) -> None:
        self._producer = producer
        self.pace = pace

    def send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        """Send a batch and wait until each record of it is answered; what is refused is tried once more, by itself.

        Raises:
            SendError: the client takes no more records.
        """
        try:
            self._send(batch, answers)
            refused = [one for one in batch if one.place in answers.refused] if len(batch) > 1 else []
            for one in refused:
                # A broker refuses a whole batch of the client for one record, or for the size of all. None of it was written.
                del answers.refused[one.place]
                self._send([one], answers)
        except BaseException:
            self._producer.purge(in_queue=True, in_flight=False)
            self._producer.flush(_LAST_WAIT_S)
            raise

    def _send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        for one in batch:
            self.pace.wait()
            self._hand_over(one, answers)
        while self._producer.flush(_POLL_S) > 0:
            pass

    def _hand_over(self, one: Outgoing, answers: Answers) -> None:
        record = {
            "value": one.payload.value,
            "key": one.payload.key,
            "headers": list(one.headers),
            "timestamp": one.payload.timestamp_ms or 0,
            "on_delivery": partial(_answered, answers, one),
        }
        if one.partition is not None:
            record["partition"] = one.partition
        client = _client_module()
        # From here on it may be on its way.
        answers.in_doubt[one.place] = ""
        while True:
            try:
                self._producer.produce(one.topic, **record)
            except BufferError:
                self._producer.poll(_POLL_S)
            except client.KafkaException as error:
                # It was not taken.
                del answers.in_doubt[one.place]
                reason = error.args[0]
                if reason.code() not in _REFUSED:
                    raise SendError(f"the client sends no more: {reason.str()}", kafka_code=reason.code()) from None
                answers.refused[one.place] = reason.str()
                return
            else:
                return


def _answered(answers: Answers, one: Outgoing, error: Any, message: Any) -> None:  # noqa: ANN401  what the client gives
    """Take the answer to a record; any failure that is not about the record itself leaves it in doubt."""
    if error is None:
        del answers.in_doubt[one.place]
        answers.sent[one.place] = Sent(one.place, one.topic, message.partition(), message.offset())
    elif error.code() in _REFUSED:
        del answers.in_doubt[one.place]
        answers.refused[one.place] = error.str()
    else:
        answers.in_doubt[one.place] = error.str()


def producer(source: str, settings: Mapping[str, object] | None) -> Producer:
    """Make an idempotent producer.

    Raises:
        MissingPackageError: confluent-kafka is not there.
        SendError: the client refuses the settings.
    """
    client = _client_module()
    ours = {
        # Without it, a producer lets the broker create a topic that it asks for.
        "allow.auto.create.topics": False,
        "bootstrap.servers": source.removeprefix(SCHEME),
        "enable.idempotence": True,
        "acks": "all",
        # No request of a killed process waits in its connection for the one before.
        "max.in.flight.requests.per.connection": 1,
        # As Kafka's Java producer does it, so that a key goes where it went.
        "partitioner": "murmur2_random",
        # The size of a record is for the target to judge; a batch of small ones stays below any limit.
        "message.max.bytes": 1_000_000_000,
        "batch.size": 16_384,
        "linger.ms": 2,
        "log_level": 0,
    }
    try:
        made: Producer = client.Producer({"message.timeout.ms": 120_000, **(settings or {}), **ours})
    except client.KafkaException as error:
        raise SendError(f"the client's settings: {error.args[0].str()}") from None
    return made


def _client_module() -> ModuleType:
    require(_EXTRA, "confluent_kafka")
    return importlib.import_module("confluent_kafka")
