"""Why a cluster could not be read."""

from __future__ import annotations

from share_state.errors import ShareStateError

__all__ = ["TIMED_OUT", "ClusterReadError", "NoAnswerError"]

#: librdkafka's `_TIMED_OUT`: a request was not answered in time.
TIMED_OUT = -185


class ClusterReadError(ShareStateError):
    """The state topic of a cluster could not be read."""


class NoAnswerError(ClusterReadError):
    """Nothing was wrong but that no answer came in time.

    Attributes:
        seconds: how long it was waited for.
    """

    def __init__(self, seconds: float, asked: str = "") -> None:
        super().__init__(f"no answer{asked} within {seconds:g} s")
        self.seconds = seconds
