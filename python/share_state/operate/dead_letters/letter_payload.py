"""The record that a dead letter is of: from its source, or, where it is gone there, the copy that the queue may hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from share_state.errors import UnknownPartitionError
from share_state.operate.dead_letters.dead_letter import DeadLetter
from share_state.operate.dead_letters.redrive import NO_TOPIC, Payloads
from share_state.operate.payloads import Missing, Payload

__all__ = ["LetterPayload", "payloads_of"]

#: Offsets asked for at once.
_AT_ONCE = 500


class LetterPayload(NamedTuple):
    """A dead-lettered record with what can be read of it."""

    #: Dead letter of one offset.
    letter: DeadLetter
    #: None: it is gone.
    payload: Payload | None
    #: Reason for which the source has it no more; None where the source has it.
    missing: str | None


def payloads_of(letter: DeadLetter, payloads: Payloads) -> Iterator[LetterPayload]:
    """Read the records of a dead letter, in order.

    Where the source has a record no more and the queue holds a copy, that is returned: its key and value are those of the source,
    its time and headers those of the queue (``errors.deadletterqueue.copy.record.enable``).

    Raises:
        ClusterReadError: the source or the queue cannot be read.
    """
    offsets = range(letter.first_offset, letter.last_offset + 1)
    some = (offsets[first : first + _AT_ONCE] for first in range(0, len(offsets), _AT_ONCE))
    try:
        for answer in (one for asked in some for one in payloads.read(letter.topic, letter.partition, asked)):
            one = letter._replace(first_offset=answer.offset, last_offset=answer.offset)
            if isinstance(answer, Missing):
                yield LetterPayload(one, _copy(one, payloads), answer.reason.value)
            else:
                yield LetterPayload(one, answer, None)
    except UnknownPartitionError:
        # It is told by the first answer.
        yield LetterPayload(letter, _copy(letter, payloads), NO_TOPIC)


def _copy(letter: DeadLetter, payloads: Payloads) -> Payload | None:
    if letter.queue is None or not letter.queue.copied:
        return None
    topic, partition, offset, _ = letter.queue
    answer = next(payloads.read(topic, partition, [offset]))
    return answer if isinstance(answer, Payload) else None
