"""Makes blocking calls of a cluster's client, so that a Ctrl-C or a refused connection ends the wait at once.

A call of the client waits in C, where Python handles no signals. Here it waits in a thread, and the caller can leave.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from share_state.reading.failures import NoAnswerError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError
    from confluent_kafka.admin import AdminClient

__all__ = ["Connecting", "in_background", "in_thread", "topics"]

_Answer = TypeVar("_Answer")

#: librdkafka's `_ALL_BROKERS_DOWN`: no known broker can be reached.
_ALL_DOWN = -187
#: Seconds of the first wait for an answer; each further one is twice as long, so that a slow cluster gets to answer.
_FIRST_WAIT = 0.1


class Connecting:
    """The connection errors of the client, from its callback `error_cb`."""

    def __init__(self) -> None:
        #: Whether no broker can be reached.
        self.all_down = False
        #: The last error of a single broker.
        self.last: str | None = None

    def __call__(self, error: KafkaError) -> None:
        """Take an error of the client."""
        if error.code() == _ALL_DOWN:
            self.all_down = True
        else:
            self.last = error.str()


def in_thread(call: Callable[[], _Answer]) -> _Answer:
    """Return the result of a call, or raise its error; a Ctrl-C abandons it."""
    answers: SimpleQueue[tuple[_Answer | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:  # noqa: BLE001  it is raised where the answer is awaited
            answers.put((None, error))

    in_background(run)
    answer, error = answers.get()
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]  # without an error it is the answer


def in_background(call: Callable[[], object]) -> None:
    """Start a call in the background; the end of the process does not wait for it."""
    threading.Thread(target=call, name="share-state-ask", daemon=True).start()


def topics(
    client: ModuleType, asked: Consumer | AdminClient, connecting: Connecting, patience: float, topic: str | None = None
) -> dict[str, Any]:
    """Ask for the topics of a cluster by their names, for one or for all.

    Raises:
        KafkaException: no broker can be reached.
        NoAnswerError: no broker answers within `patience` seconds.
    """
    until = time.monotonic() + patience
    wait = _FIRST_WAIT
    while True:
        left = max(0.0, until - time.monotonic())
        try:
            answer = in_thread(partial(asked.list_topics, topic, min(wait, left)))
        except client.KafkaException:
            # The callback is called by a poll, and not while the client waits for an answer.
            asked.poll(0)
            if connecting.all_down or (wait >= left and connecting.last is not None):
                raise
            if wait >= left:
                raise NoAnswerError(patience) from None
        else:
            return dict(answer.topics)
        wait *= 2
