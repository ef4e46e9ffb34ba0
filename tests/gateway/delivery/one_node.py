"""A node with one topic and one client, and what it gives out."""

from __future__ import annotations

import itertools
import struct
import uuid
from typing import Any

import share_state as ss
from share_state._core import Node
from share_state.types import SharePartitionKey
from tests.gateway.wire.codec import Message, decode, encode
from tests.gateway.wire.connection import request_header

TOPIC = str(uuid.UUID(int=5))
BASE64 = "AAAAAAAAAAAAAAAAAAAABQ"
KEY = SharePartitionKey("g", BASE64, 0)
FETCH, ACKNOWLEDGE = 78, 79
_EARLIEST = ss.GroupConfig(auto_offset_reset="earliest")
#: Numbers of requests, which their answers repeat.
_CORRELATION = itertools.count(1)
_LIMITS = {"frame": 1 << 20, "elements": 100, "answers": 1 << 20, "sessions": 10, "fetch_max_bytes": 1 << 20, "rings": 1 << 20}


def node(config: ss.GroupConfig = _EARLIEST, **changes: Any) -> Node:
    made = Node(leader_epoch=3, config=config, **{**_LIMITS, **changes})
    made.set_topics([(TOPIC, "apples", 2, False)])
    made.opened(1, "User:alice")
    return made


def framed(key: int, version: int, body: bytes) -> bytes:
    payload = request_header(key, version, next(_CORRELATION), "me") + body
    return struct.pack(">i", len(payload)) + payload


def fetch(
    epoch: int = 0,
    *,
    wait_ms: int = 0,
    acknowledged: tuple[int, int] | None = None,
    records: int = 500,
    member: str = "m",
    partition: int = 0,
) -> bytes:
    batches = [{"firstOffset": acknowledged[0], "lastOffset": acknowledged[1], "acknowledgeTypes": [1]}] if acknowledged else []
    limits = {"maxWaitMs": wait_ms, "minBytes": 1, "maxBytes": 1 << 20, "maxRecords": records, "batchSize": 500}
    topics = [{"topicId": TOPIC, "partitions": [{"partitionIndex": partition, "acknowledgementBatches": batches}]}]
    message = {"groupId": "g", "memberId": member, "shareSessionEpoch": epoch, "topics": topics, "forgottenTopicsData": []}
    return framed(FETCH, 2, encode(FETCH, 2, {**message, **limits}))


def needed(made: Node) -> tuple[Any, ...]:
    """The one need."""
    (need,) = made.poll()[1]
    return need


def frame(made: Node, connection: int = 1) -> bytes:
    """The bytes of the one answer, which is on this connection."""
    (event,) = (event for event in made.poll()[0] if event[0] == "send")
    assert event[1] == connection
    (length,) = struct.unpack_from(">i", event[2])
    assert length == len(event[2]) - 4
    return event[2]


def sent(made: Node, connection: int = 1) -> Message:
    """The one answer, which is to a ShareFetch. A correlation id and tagged fields come first."""
    answer: Message = decode(FETCH, 2, frame(made, connection)[9:], response=True)
    return answer


def sent_row(made: Node) -> Message:
    """The one partition of the one answer."""
    row: Message
    ((row,),) = (topic["partitions"] for topic in sent(made)["responses"])
    return row


def loaded(made: Node) -> None:
    """Have a share partition loaded from offset 0 by a fetch that waits for records."""
    made.feed(1, fetch(wait_ms=500), now_ms=0)
    made.state_read(needed(made)[1], ss.ReadStateResult(0, 0, []), now_ms=0)


def read(made: Node, data: bytes) -> tuple[int, int] | None:
    """Have the first read come."""
    return made.records_read(TOPIC, 0, 0, 1, 0, data, 0, len(data), None, now_ms=1)
