"""Frames, byte by byte: where one ends, and what cannot be one."""

from __future__ import annotations

import asyncio
import struct

import pytest

from share_state.errors import WireDecodeError
from share_state.kafka.framing import MAX_FRAME, Frames, frame, read_frame
from tests.kafka.scripted import run

PRODUCE, FETCH = 0, 1


class Taken:
    """Frames that a connection made of the bytes that arrived."""

    def __init__(self, max_frame: int = 100) -> None:
        self.frames: list[bytes] = []
        self.ended: list[tuple[Exception | None, bool]] = []
        self.protocol = Frames(max_frame, self.frames.append, lambda why, within: self.ended.append((why, within)))
        self.transport = Closing()
        self.protocol.connection_made(self.transport)


class Closing(asyncio.BaseTransport):
    def __init__(self) -> None:
        super().__init__()
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def length(of: int) -> bytes:
    return struct.pack(">i", of)


@pytest.mark.parametrize("size", [4, 5, 100])
def test_the_shortest_and_the_longest_frame_are_taken(size: int) -> None:
    async def test() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(length(size) + b"x" * size + b"y")
        assert await read_frame(reader, 100) == b"x" * size

    run(test)
    taken = Taken()
    taken.protocol.data_received(length(size) + b"x" * size)
    assert (taken.frames, taken.ended) == ([b"x" * size], [])


def test_a_frame_is_taken_when_its_last_byte_has_arrived_and_not_before() -> None:
    frames = [b"four", b"eleven bytes"[:11], b"more"]
    data = b"".join(map(frame, frames))
    for pieces in range(1, len(data)):
        taken = Taken()
        ends = 0
        for at in range(0, len(data), pieces):
            taken.protocol.data_received(data[at : at + pieces])
            ends = sum(min(at + pieces, len(data)) >= end for end in (8, 23, 31))
            assert taken.frames == frames[:ends]
        assert ends == 3
        assert taken.ended == []


@pytest.mark.parametrize("cut", range(1, 12))
def test_half_a_frame_is_not_the_end_of_one(cut: int) -> None:
    whole = frame(b"a message")
    taken = Taken()
    taken.protocol.data_received(whole + whole[:cut])
    taken.protocol.connection_lost(None)
    assert (taken.frames, taken.ended) == ([b"a message"], [(None, True)])

    async def test() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(whole + whole[:cut])
        reader.feed_eof()
        assert await read_frame(reader, 100) == b"a message"
        with pytest.raises(asyncio.IncompleteReadError):
            await read_frame(reader, 100)

    run(test)


def test_between_two_frames_a_connection_ends_once() -> None:
    taken = Taken()
    taken.protocol.data_received(frame(b"a message"))
    why = ConnectionResetError("reset")
    taken.protocol.connection_lost(why)
    taken.protocol.connection_lost(None)
    assert (taken.frames, taken.ended, taken.transport.closed) == ([b"a message"], [(why, False)], 1)

    async def test() -> None:
        reader = asyncio.StreamReader()
        reader.feed_eof()
        assert await read_frame(reader, 100) is None

    run(test)


def test_what_taking_a_frame_refuses_ends_the_connection_with_it() -> None:
    refused = WireDecodeError("no", position=1, kind="tested")
    ended: list[tuple[Exception | None, bool]] = []

    def take(_frame: bytes) -> None:
        raise refused

    protocol = Frames(100, take, lambda why, within: ended.append((why, within)))
    protocol.connection_made(Closing())
    protocol.data_received(frame(b"four") + b"\0")
    assert ended == [(refused, False)]


class Choosing(Frames):
    """Allows each request its own length, and takes frames one at a time."""

    welcome = 1

    def longest(self, api_key: int | None) -> int:
        return {None: 100, PRODUCE: 50, FETCH: 5, -1: 7}.get(api_key, 100)

    def may_take(self) -> bool:
        return self.welcome > 0


def test_a_length_is_judged_by_the_request_that_begins_the_frame() -> None:
    taken: list[bytes] = []
    ended: list[Exception | None] = []

    def made() -> Choosing:
        protocol = Choosing(100, taken.append, lambda why, _within: ended.append(why))
        protocol.connection_made(Closing())
        return protocol

    made().data_received(length(50) + struct.pack(">h", PRODUCE) + b"x" * 48)
    assert (len(taken), ended) == (1, [])
    # The key is that of the frame's own first bytes, signed, and the frame need not have arrived.
    for key, announced, most in ((PRODUCE, 51, 50), (FETCH, 6, 5), (-1, 8, 7)):
        made().data_received(length(announced) + struct.pack(">h", key))
        assert str(ended.pop()).startswith(f"a frame announces {announced} bytes, not 4 to {most}")
    # Half a key tells nothing yet.
    made().data_received(length(100) + b"\0")
    assert (len(taken), ended) == (1, [])


def test_frames_that_are_not_welcome_stay_until_they_are() -> None:
    taken: list[bytes] = []
    protocol = Choosing(100, taken.append, lambda _why, _within: None)
    protocol.welcome = 0
    protocol.data_received(frame(b"\0\0one") + frame(b"\0\0two"))
    assert taken == []
    protocol.welcome = 1
    protocol.cut()
    assert taken == [b"\0\0one", b"\0\0two"]


def test_a_client_takes_frames_of_a_hundred_mebibytes() -> None:
    assert MAX_FRAME == 104_857_600
