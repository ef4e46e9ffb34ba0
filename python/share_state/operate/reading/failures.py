"""The exceptions of reading a cluster."""

from __future__ import annotations

from share_state.errors import ShareStateError
from share_state.operate.reading.plain import STATE_TOPIC

__all__ = ["ClusterReadError", "NoAnswerError", "ReadNotAllowedError"]


class ClusterReadError(ShareStateError):
    """The state topic of a cluster could not be read."""


class NoAnswerError(ClusterReadError):
    """No answer came in time.

    Attributes:
        seconds: the length of the wait.
    """

    def __init__(self, seconds: float, asked: str = "") -> None:
        super().__init__(f"no answer{asked} within {seconds:g} s")
        self.seconds = seconds


class ReadNotAllowedError(ClusterReadError):
    """The principal lacks the right that reading needs.

    Attributes:
        operation: Kafka's name for it, which goes into an ACL.
        topic: the topic that it applies to.
    """

    operation = "READ"
    topic = STATE_TOPIC
