"""The exceptions of reading a cluster."""

from __future__ import annotations

from share_state.errors import ShareStateError

__all__ = ["TIMED_OUT", "ClusterReadError", "NoAnswerError"]

#: librdkafka's `_TIMED_OUT`: a request was not answered in time.
TIMED_OUT = -185


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
