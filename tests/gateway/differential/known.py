"""Answers of a gateway that may differ from a broker's. Everything else is a difference.

Each reason is a line of the page on the gateway (``docs/gateway.md``), which a test sees to.
"""

from __future__ import annotations

from typing import Any

from tests.gateway.differential.duel import ABSENT, Known
from tests.gateway.differential.normal import CUT_OFF
from tests.gateway.differential.topics import TRANSACTIONS

_ACKNOWLEDGED = r"responses\[.*\]\.partitions\[.*\]"
_OFFSETS = r"groups\[.*\]\.topics\[.*\]\.partitions\[.*\]"
_V1 = "Acknowledgements of ranges that touch are malformed (42; V1)."
_SERVED = "Requests and features that are not served are not listed, and of others only the versions that clients need."
_WHOLE = "Answers end with a whole batch, not in the middle of one."


def _not_behind(real: Any, other: Any) -> bool:
    return isinstance(real, int) and isinstance(other, int) and other >= real


def _fewer(real: Any, other: Any) -> bool:
    return isinstance(real, int) and isinstance(other, int) and 0 < other < real


def _one_less(real: Any, other: Any) -> bool:
    return isinstance(real, int) and isinstance(other, int) and other == real - 1


KNOWN: tuple[Known, ...] = (
    Known(
        "ShareGroupHeartbeat",
        r"errorCode",
        lambda real, other: (real, other) == (69, 25),
        "A member of a lost group is asked to join again (25; G1): 69 would end its client.",
    ),
    Known(
        "DescribeShareGroupOffsets",
        rf"{_OFFSETS}\.startOffset",
        _not_behind,
        "Start offsets are those in memory, which the written ones follow, and known before the first record is delivered.",
    ),
    Known(
        "DescribeShareGroupOffsets",
        rf"{_OFFSETS}\.lag",
        lambda real, other: real == -1 and _not_behind(real, other),
        "Start offsets are those in memory, which the written ones follow, and known before the first record is delivered.",
        beside={"startOffset": -1},
    ),
    Known(
        "DescribeShareGroupOffsets",
        rf"groups\[.*\]\.topics\[.*{TRANSACTIONS}\]\.partitions\[0\]\.lag",
        lambda real, other: isinstance(other, int) and 0 <= other <= real,
        "The lag leaves out records of aborted transactions as soon as one is passed over (S8).",
    ),
    Known(
        "ShareFetch",
        rf"{_ACKNOWLEDGED}\.records\[\d+\]",
        lambda real, other: str(real).endswith(CUT_OFF) and other == ABSENT,
        _WHOLE,
    ),
    # Shows only with the one above: what else is missing is a difference of its own.
    Known("ShareFetch", rf"{_ACKNOWLEDGED}\.records\[\]", _one_less, _WHOLE),
    Known(
        "ShareAcknowledge",
        rf"{_ACKNOWLEDGED}\.errorMessage",
        lambda real, other: real is None and other == "some text",
        "Malformed acknowledgements (42) are refused with a text.",
        beside={"errorCode": 42},
    ),
    Known(
        "ShareAcknowledge",
        rf"{_ACKNOWLEDGED}\.errorCode",
        lambda real, other: (real, other) == (121, 42),
        _V1,
        label="acknowledgement twice in one",
    ),
    Known(
        "DeleteShareGroupOffsets",
        r"responses\[.*",
        lambda real, _: real in {ABSENT, 0},
        "Every topic of a request to delete offsets is answered, also in a group that has none (G9).",
        label="delete offsets of a bare group",
    ),
    Known("ApiVersions", r"apiKeys\[\d+\]\.\w+", lambda _, other: other == ABSENT, _SERVED),
    Known("ApiVersions", r"apiKeys\[\]", _fewer, _SERVED),
    Known("ApiVersions", r"apiKeys\[\d+\]\.minVersion", _not_behind, _SERVED),
    Known("ApiVersions", r"apiKeys\[\d+\]\.maxVersion", _fewer, _SERVED),
    Known(
        "ApiVersions",
        r"(supported|finalized)Features\[share\.version\]\.(maxVersion|maxVersionLevel|minVersionLevel)",
        lambda real, other: (real, other) == (2, 1),
        "Records go to no dead-letter topic: share.version is 1.",
    ),
    Known("ApiVersions", r"(supported|finalized)Features.*", lambda _, other: other == ABSENT, _SERVED),
    Known("ApiVersions", r"(supported|finalized)Features\[\]", _fewer, _SERVED),
)
