"""The log of a topic's partition as a broker serves it: what an answer to Fetch says of it."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

NOT_AUTHORIZED = 29
_HEAD = struct.Struct(">qi")
_LAST_DELTA = struct.Struct(">i")
_LAST_DELTA_AT = 23


def read_log(
    row: Mapping[str, Any],
    batches: Sequence[bytes] | None,
    stable: int | None,
    aborted: Sequence[tuple[int, int]],
    isolation: int,
) -> dict[str, Any]:
    """The answer to a row of Fetch.

    Args:
        row: what is asked for.
        batches: the log; None: it may not be read.
        stable: its last stable offset; None: its end.
        aborted: producer id and first offset of its aborted transactions.
        isolation: of the request.
    """
    ends = [(data, _HEAD.unpack_from(data)[0] + _LAST_DELTA.unpack_from(data, _LAST_DELTA_AT)[0] + 1) for data in batches or ()]
    end = ends[-1][1] if ends else 0
    below = end if stable is None else stable
    after = [data for data, end_of in ends if row["fetchOffset"] < end_of <= (below if isolation else end)]
    return {
        "partitionIndex": row["partition"],
        "errorCode": NOT_AUTHORIZED if batches is None else 0,
        "highWatermark": end,
        "lastStableOffset": below,
        "logStartOffset": 0,
        "abortedTransactions": [{"producerId": who, "firstOffset": first} for who, first in aborted] if isolation else None,
        "preferredReadReplica": -1,
        # Cut where it is full, but for the first batch.
        "records": b"".join(after)[: max(row["partitionMaxBytes"], len(after[0]) if after else 0)],
    }
