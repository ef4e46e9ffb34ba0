"""Where a partition of a running cluster begins and ends, asked until its leader is known."""

from __future__ import annotations

import time
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

from share_state.reading.asking import in_thread
from share_state.reading.failures import TIMED_OUT, NoAnswerError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, TopicPartition

__all__ = ["watermarks"]

#: Kafka's codes for a leader that is not known, has just changed, or does not know its high watermark yet: LEADER_NOT_AVAILABLE,
#: NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE.
_PASSING = frozenset({5, 6, 74, 75, 78})
#: Seconds before the next question.
_PAUSE = 0.2


def watermarks(client: ModuleType, consumer: Consumer, place: TopicPartition, patience: float) -> tuple[int, int]:
    """Log start and high watermark of a partition.

    The client answers with the error of the broker that it took for the leader, and only learns of another one by that.

    Raises:
        KafkaException: another error, or one that does not pass in `patience` seconds.
        NoAnswerError: no answer in `patience` seconds.
    """
    until = time.monotonic() + patience
    while True:
        try:
            start, end = in_thread(partial(consumer.get_watermark_offsets, place, patience))
        except client.KafkaException as error:
            if error.args[0].code() == TIMED_OUT:
                raise NoAnswerError(patience) from None
            if error.args[0].code() not in _PASSING or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return start, end
