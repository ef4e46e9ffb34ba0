"""Sends records to their target with an idempotent producer, and sorts the answers: sent, refused, in doubt."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self, get_args

from share_state._core import ERROR_CODES
from share_state.arguments import Compression
from share_state.errors import WireDecodeError
from share_state.kafka import codes
from share_state.kafka.client.client import Client
from share_state.kafka.client.producer import NewRecord, NotProducedError, Producer, partition_of
from share_state.kafka.errors import KafkaPersisterError
from share_state.operate.dead_letters.dead_letter import Place
from share_state.operate.dead_letters.errors import ClusterRefusedError, SendError
from share_state.operate.dead_letters.journal_state import Sent
from share_state.operate.payloads import Payload
from share_state.operate.reading.asking import ClusterReader

__all__ = ["Answers", "Outgoing", "Pace", "Sender", "Target", "TargetProducer", "payload_size"]

#: Codes that are about the record itself: each attempt is answered so, and none was written.
_REFUSED: Final = frozenset(
    ERROR_CODES[name] for name in ("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_TIMESTAMP", "INVALID_RECORD")
)
#: Codecs by their numbers.
_CODECS: Final[tuple[str, ...]] = get_args(Compression)
#: Bytes of records in one batch: one of small records stays below any limit, and the size of a record is for the target to judge.
_BATCH_BYTES: Final = 16_384
#: Turns a second in which records go out where there is a rate.
_TURNS: Final = 10
#: Milliseconds for a batch with all attempts unless the settings say otherwise, and seconds for one attempt.
_PATIENCE_MS: Final = "120000"
_ATTEMPT_S: Final = 30.0
#: Seconds for what is under way when the sending is interrupted.
_LAST_WAIT_S: Final = 5.0


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
    #: Maybe on the way, and not answered; with the reason, or an empty one.
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

    def turns(self, batch: Sequence[Outgoing]) -> Iterator[Sequence[Outgoing]]:
        """Give the records whose turn it is together, when it is; time that nobody used is not made up for."""
        at_once = len(batch) if self.rate is None else max(1, int(self.rate / _TURNS))
        for start in range(0, len(batch), at_once):
            some = batch[start : start + at_once]
            if self.rate is not None:
                now = self._now()
                due = now if self._due is None else max(now, self._due)
                if due > now:
                    self._sleep(due - now)
                self._due = due + len(some) / self.rate
            yield some


class Target(Protocol):
    """Taker of records: :class:`TargetProducer`."""

    def send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        """Send records and wait for the answers; see :meth:`Sender.send`."""


class Sender:
    """Sends batches, one at a time.

    Args:
        target: takes them.
        pace: how fast.
    """

    def __init__(self, target: Target, pace: Pace) -> None:
        self._target = target
        self.pace = pace

    def send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        """Send a batch and wait until each record of it is answered. After one that is in doubt no other is sent.

        Raises:
            SendError: the target takes no more records; those that are not in doubt are not there.
        """
        for some in self.pace.turns(batch):
            self._target.send(some, answers)
            if answers.in_doubt:
                return


class TargetProducer:
    """Idempotent producer, for one thread. A context manager.

    Args:
        source: ``kafka://HOST:PORT[,...]``.
        settings: further settings of the client, in librdkafka's names or Kafka's. Of those of a producer the codec and the time
            for a record count.

    Raises:
        SendError: a setting cannot be used.
    """

    def __init__(self, source: str, settings: Mapping[str, object] | None) -> None:
        codec = _setting(settings, "none", "compression.type", "compression.codec")
        if codec not in _CODECS:
            raise _unusable("compression.type", codec, f"one of {', '.join(_CODECS)}")
        patience = _setting(settings, _PATIENCE_MS, "message.timeout.ms", "delivery.timeout.ms")
        if not (patience.isascii() and patience.isdigit() and int(patience)):
            raise _unusable("message.timeout.ms", patience, "1 or more milliseconds")
        self._codec = _CODECS.index(codec)
        self._patience = int(patience) / 1000
        self._reader = ClusterReader(source, settings, min(self._patience, _ATTEMPT_S))
        self._under_way: asyncio.Task[None] | None = None
        self._is_over = False

    def __enter__(self) -> Self:
        """Get the id of a producer.

        Raises:
            ClusterRefusedError: a right is missing.
            ClusterReadError: the cluster does not answer, or the client's settings are not known.
        """
        self._reader.__enter__()
        try:
            self._producer = self._reader.ask(self._begun)
        except BaseException:
            self._reader.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connections."""
        self._reader.__exit__(kind, error, trace)

    def send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        """See :meth:`Sender.send`."""
        if self._is_over:
            raise SendError("nothing more is sent: the sending has ended before")
        # From here on they may be on their way.
        answers.in_doubt.update((one.place, "") for one in batch)
        try:
            self._reader.ask(lambda _: self._shielded(batch, answers))
        except BaseException:
            self._is_over = True
            self._reader.ask(lambda _: self._last_answers())
            raise

    async def _begun(self, client: Client) -> Producer:
        made = Producer(client, self._patience, self._codec)
        try:
            await made.begin()
        except KafkaPersisterError as refused:
            if refused.kafka_code != codes.CLUSTER_AUTHORIZATION_FAILED:
                raise
            text = "the principal needs WRITE on a topic, or IDEMPOTENT_WRITE on the cluster, to send each record once"
            raise ClusterRefusedError(text, kafka_code=refused.kafka_code, field="principal") from None
        return made

    async def _shielded(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        self._under_way = asyncio.create_task(self._send(batch, answers))
        await asyncio.shield(self._under_way)

    async def _last_answers(self) -> None:
        if self._under_way is not None:
            await asyncio.wait([self._under_way], timeout=_LAST_WAIT_S)
            self._under_way.cancel()
            await asyncio.wait([self._under_way])

    async def _send(self, batch: Sequence[Outgoing], answers: Answers) -> None:
        untried = {one.place for one in batch}
        try:
            queue = deque(await self._batches(batch))
            while queue and not self._is_over:
                target, some = queue.popleft()
                tried = {one.place for one in some}
                untried -= tried
                try:
                    first = await self._appended(target, some)
                except NotProducedError as error:
                    if not error.in_doubt:
                        untried |= tried
                        raise
                    # The next sequence number is not known from here on.
                    self._is_over = True
                    answers.in_doubt.update(dict.fromkeys(tried, str(error)))
                    return
                if isinstance(first, int):
                    _confirm(some, target, first, answers)
                    continue
                untried |= tried
                if len(some) > 1:
                    # A batch is refused for one record, or for the size of all. None of it was written.
                    queue.extendleft((target, [one]) for one in reversed(some))
                else:
                    answers.refused[some[0].place] = first
        except NotProducedError as error:
            raise SendError(f"nothing more is sent: {error}", kafka_code=error.code, field="to", value=batch[0].topic) from None
        finally:
            for place in untried:
                del answers.in_doubt[place]

    async def _appended(self, target: tuple[str, int], some: Sequence[Outgoing]) -> int | str:
        """Return the offset of the first record, or why these are refused as one batch."""
        try:
            return await self._producer.produce(*target, [_record(one) for one in some])
        except WireDecodeError as error:
            return str(error)
        except NotProducedError as error:
            # An earlier attempt may have been written, whatever the last one was answered.
            if error.in_doubt or error.code not in _REFUSED:
                raise
            return str(error)

    async def _batches(self, batch: Sequence[Outgoing]) -> list[tuple[tuple[str, int], list[Outgoing]]]:
        """Return the records by topic and partition, as many at a time as fit into a batch."""
        found: list[tuple[tuple[str, int], list[Outgoing]]] = []
        room: dict[tuple[str, int], int] = {}
        last: dict[tuple[str, int], list[Outgoing]] = {}
        for one in batch:
            partition = one.partition
            if partition is None:
                partition = partition_of(one.payload.key, await self._producer.partitions(one.topic))
            place, size = (one.topic, partition), payload_size(one.payload)
            if place not in last or size > room[place]:
                room[place], last[place] = _BATCH_BYTES, []
                found.append((place, last[place]))
            room[place] -= size
            last[place].append(one)
        return found


def _confirm(some: Sequence[Outgoing], target: tuple[str, int], first: int, answers: Answers) -> None:
    for offset, one in enumerate(some, first):
        # At each moment it is in one of the two: an interrupted caller may read them meanwhile.
        answers.sent[one.place] = Sent(one.place, *target, offset)
        del answers.in_doubt[one.place]


def payload_size(payload: Payload) -> int:
    """Return the bytes of the key, the value and the headers of a record."""
    headers = sum(len(name) + len(value or b"") for name, value in payload.headers)
    return len(payload.key or b"") + len(payload.value or b"") + headers


def _record(one: Outgoing) -> NewRecord:
    _, _, _, timestamp, key, value, _ = one.payload
    named = [(name.encode(), content) for name, content in one.headers]
    return time.time_ns() // 1_000_000 if timestamp is None else timestamp, key, value, named


def _setting(settings: Mapping[str, object] | None, default: str, *names: str) -> str:
    """Return a setting by the first of its names that is there."""
    return next((str(settings[name]) for name in names if settings and name in settings), default)


def _unusable(name: str, value: str, expected: str) -> SendError:
    return SendError(f"the client's settings: {name} is {value!r}; expected {expected}", field=name, value=value)
