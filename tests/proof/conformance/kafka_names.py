"""Kafka's exception names and the wire codes share_state answers with."""

from __future__ import annotations

from .recordings import FormatError

INVALID_REQUEST = 42
INVALID_RECORD_STATE = 121

#: Exception class in a recording → the code a member would see. Kafka's client sees every exception
#: that has no code of its own as UNKNOWN_SERVER_ERROR (-1), so those share one code here.
CODE_OF_EXCEPTION = {
    "ApiException": -1,
    "CoordinatorLoadInProgressException": 14,
    "CoordinatorNotAvailableException": 15,
    "FencedLeaderEpochException": 74,
    "FencedStateEpochException": 124,
    "GroupIdNotFoundException": 69,
    "IllegalArgumentException": -1,
    "IllegalStateException": -1,
    "InvalidRecordStateException": INVALID_RECORD_STATE,
    "InvalidRequestException": INVALID_REQUEST,
    "KafkaException": -1,
    "LeaderNotAvailableException": 5,
    "NotCoordinatorException": 16,
    "NotLeaderOrFollowerException": 6,
    "NullPointerException": -1,
    "RuntimeException": -1,
    "TimeoutException": 7,
    "UnknownServerException": -1,
    "UnknownTopicOrPartitionException": 3,
    "UnsupportedVersionException": 35,
}


def expected_code(result: object) -> int | None:
    """The code a recorded ``expect.result`` stands for; ``None`` when it never completed."""
    if result in ("ok", True, None):
        return 0
    if result == "pending":
        return None
    if isinstance(result, dict) and set(result) == {"error"}:
        name = result["error"]
        if name not in CODE_OF_EXCEPTION:
            raise FormatError(f"unknown exception {name}")
        return CODE_OF_EXCEPTION[name]
    raise FormatError(f"unknown form of a result: {result!r}")


def persister_code(result: object) -> int | None:
    """The error code a persister's recorded answer comes to; ``None`` when it never answered.

    An exception, no answer at all, or an answer for other partitions has no code; the caller of
    share_state's engine reports such an answer as -1, which is what Kafka's IllegalState becomes.
    """
    if result == "pending":
        return None
    if result == "ok":
        return 0
    if isinstance(result, str) and result.startswith("error_code "):
        return int(result.removeprefix("error_code "))
    if isinstance(result, dict) and set(result) <= {"error", "partitions"}:
        return -1
    raise FormatError(f"unknown form of a persister's answer: {result!r}")
