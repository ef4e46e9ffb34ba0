"""Drain of a share partition: its writes go to the persister, and the answers come back."""

from __future__ import annotations

from share_state._core import SharePartition
from share_state.errors import ShareStateError
from share_state.logs import PERSISTER
from share_state.persister.carrying import Carrying, WriteAnswers
from share_state.persister.protocol import Persister, refuse_async
from share_state.types import LockTime

__all__ = ["drain_writes", "settle_write"]

UNKNOWN_SERVER_ERROR = -1


def drain_writes(share_partition: SharePartition, persister: Persister, *, now_ms: int | LockTime) -> WriteAnswers:
    """Carry every write of the share partition to the persister and every answer back.

    Returns Kafka's code for the waiting member, by write token; 0 if the write was confirmed. A refusal is an answer and not
    an exception: the share partition has rolled the change back. A share partition with an inline persister has no writes to
    carry.

    Threads may drain one share partition at once: one write is carried at a time, in the order of the writes. Each drain answers
    for every write that was made before it began, whichever drain carried it.

    Raises:
        TypeError: the persister is asynchronous; nothing was written.
        Exception: any other exception of the persister. The share partition has rolled that change back too.
            ``SharePartition.write_answer`` has the answers to the other writes.
    """
    refuse_async(persister)
    answers = WriteAnswers(share_partition)
    order = Carrying.of(share_partition).order
    waiting = share_partition.tokens_to_poll
    while True:
        with order:
            write = share_partition.poll_write()
            if write is None:
                break
            try:
                persister.write_state(share_partition.key, write.state)
            except ShareStateError as refused:
                answers[write.token] = settle_write(share_partition, write.token, refused, now_ms=now_ms)
            except BaseException as failed:
                settle_write(share_partition, write.token, failed, now_ms=now_ms)
                raise
            else:
                answers[write.token] = settle_write(share_partition, write.token, None, now_ms=now_ms)
    answers.take_in(waiting)
    return answers


def settle_write(share_partition: SharePartition, token: int, error: BaseException | None, *, now_ms: int | LockTime) -> int:
    """Report the outcome of a write to its share partition: ``error``, or confirmed. Returns the code for the member."""
    code = 0
    if error is not None:
        asked = error.kafka_code if isinstance(error, ShareStateError) else None
        code = UNKNOWN_SERVER_ERROR if asked is None else asked
        PERSISTER.warning("a write of %r was refused with code %d: %r", share_partition.key, code, str(error))
    return share_partition.handle_write_result(token, code, now_ms=now_ms)
