"""The persister as the recording saw it: payloads sent, answers given, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .durable import Batch
from .kafka_names import persister_code
from .recordings import FormatError, Json


@dataclass(frozen=True, slots=True)
class RecordedWrite:
    """WriteShareGroupState payload of Kafka's, and its answer."""

    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[Batch, ...]
    #: ``None``: never answered within the recording.
    error_code: int | None
    #: Answered by a later ``persister_completes`` of this id; ``None``: answered at once.
    async_id: int | None

    @classmethod
    def parse(cls, raw: Json) -> RecordedWrite:
        """From an element of ``persister_writes``."""
        later = bool(raw.get("completes_later", False))
        if later != ("async_id" in raw):
            raise FormatError("completes_later and async_id do not come together")
        return cls(
            leader_epoch=raw["leader_epoch"],
            start_offset=raw["start_offset"],
            delivery_complete_count=raw["delivery_complete_count"],
            batches=tuple((b[0], b[1], b[2], b[3]) for b in raw["batches"]),
            error_code=persister_code(raw["result"]),
            async_id=raw.get("async_id"),
        )


@dataclass(frozen=True, slots=True)
class RecordedDeadLetter:
    """Range that Kafka handed to its dead-letter queue."""

    first_offset: int
    last_offset: int
    delivery_count: int
    cause: str
    #: Answered by a later ``dead_letters_complete`` of this id; ``None``: at once, or never.
    async_id: int | None = None
    answered: bool = True

    @classmethod
    def parse(cls, raw: Json) -> RecordedDeadLetter:
        """From an element of ``dlq_enqueued``; the cause is told by Kafka's message."""
        message = raw["cause"]
        if "rejected by client" in message:
            cause = "client_reject"
        elif "delivery count exceeded" in message:
            cause = "delivery_count_exceeded"
        else:
            raise FormatError(f"unknown cause of a dead letter: {message}")
        count = str(raw["delivery_count"]).removeprefix("Optional[").removesuffix("]")
        return cls(raw["first"], raw["last"], int(count), cause, raw.get("async_id"), raw["result"] != "pending")


def writes_of(op: Json) -> list[RecordedWrite]:
    """The payloads of one operation or lock timeout."""
    return [RecordedWrite.parse(raw) for raw in op.get("persister_writes", ())]


def answer_within(writes: list[RecordedWrite]) -> int | None:
    """The code with which Kafka's persister answered before the call returned; ``None`` when it did so later, or never.

    Where Kafka wrote nothing and we do, the answer is success.
    """
    if not writes:
        return 0
    return writes[0].error_code if writes[0].async_id is None else None


def dead_letters_of(op: Json) -> list[RecordedDeadLetter]:
    """The dead letters of one operation or lock timeout, neighbours joined."""
    return join_dead_letters(RecordedDeadLetter.parse(raw) for raw in op.get("dlq_enqueued", ()))


def join_dead_letters(letters: Iterable[RecordedDeadLetter]) -> list[RecordedDeadLetter]:
    """Sorted, neighbours of equal count and cause joined: Kafka hands over one offset at a time."""

    def joined() -> Iterator[RecordedDeadLetter]:
        held: RecordedDeadLetter | None = None
        for letter in sorted(letters, key=lambda letter: letter.first_offset):
            if held is None:
                held = letter
            elif replace(letter, first_offset=held.first_offset) == replace(held, last_offset=letter.last_offset) and (
                letter.first_offset == held.last_offset + 1
            ):
                held = replace(held, last_offset=letter.last_offset)
            else:
                yield held
                held = letter
        if held is not None:
            yield held

    return list(joined())
