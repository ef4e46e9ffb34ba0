"""Connections of a `Node`: what it gives out for them, and the errors by which they end."""

from __future__ import annotations

import struct

from share_state._core import Node
from share_state.errors import LimitExceededError, ShareStateError, UnsupportedVersionError, WireDecodeError
from tests.gateway.delivery.one_node import (
    ACKNOWLEDGE,
    FETCH,
    fetch,
    frame,
    framed,
    loaded,
    node,
    read,
    sent,
)
from tests.gateway.wire.batches import record_batch


def closed_by(made: Node, data: bytes) -> ShareStateError | None:
    made.feed(1, data, now_ms=0)
    (event,) = made.poll()[0]
    assert event[0] == "close"
    assert event[1] == 1
    return event[2]


def test_a_connection_ends_with_the_exception_for_the_log() -> None:
    version = closed_by(node(), framed(FETCH, 3, b""))
    assert (type(version), str(version)) == (UnsupportedVersionError, "request 78 version 3 is not served")
    malformed = closed_by(node(), framed(ACKNOWLEDGE, 1, b"\x02g"))
    assert isinstance(malformed, WireDecodeError)
    assert (malformed.position, malformed.kind) == (2, "1 bytes needed, 0 left")
    assert str(malformed) == "byte 2: 1 bytes needed, 0 left"
    length = closed_by(node(frame=2000), struct.pack(">ih", 2001, FETCH))
    assert isinstance(length, WireDecodeError)
    assert (str(length), length.position, length.kind) == ("a frame announces 2001 bytes, not 4 to 2000", 0, "length")
    busy, limit = node(), 64 << 20
    loaded(busy)
    busy.poll()
    queued = closed_by(busy, bytes(limit + 1))
    assert isinstance(queued, LimitExceededError)
    assert (queued.limit, queued.asked, queued.allowed) == ("queued", limit + 1, limit)


def test_requests_of_others_and_of_strangers_are_given_back() -> None:
    made = node()
    made.opened(2, None)
    other = framed(3, 9, b"abc")
    made.feed(1, other, now_ms=0)
    made.feed(2, fetch(), now_ms=0)
    (first, second), needs, at = made.poll()
    assert (first, second[:2], needs, at) == (("request", 1, other[4:]), ("request", 2), [], None)


def test_a_client_that_takes_its_answers_is_served_on() -> None:
    made = node()
    loaded(made)
    made.poll()
    assert read(made, record_batch(0, 300, size=1000)) is not None
    data = frame(made)
    assert len(data) > 256 << 10
    made.feed(1, fetch(1), now_ms=2)
    assert made.poll()[0] == [], "its next request waits"
    made.sent(1, len(data) - (256 << 10), now_ms=3)
    assert made.poll()[0] == []
    made.sent(1, 1, now_ms=4)
    assert sent(made)["errorCode"] == 0


def test_a_closed_connection_ends_its_sessions() -> None:
    made = node(sessions=1)
    loaded(made)
    made.poll()
    made.opened(2, "User:alice")
    made.closed(1, now_ms=1)
    assert made.poll() == ([], [], None)
    made.feed(2, fetch(), now_ms=2)
    assert sent(made, 2)["errorCode"] == 0, "there is room for its session"
