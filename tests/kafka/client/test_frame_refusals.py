"""Frames and headers that are refused, without a connection: the whole text, the place and the kind of each refusal."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any

import pytest

from share_state.errors import WireDecodeError
from share_state.kafka.framing import Frames, frame, read_frame, request_of, response_bytes, response_start
from tests.python.kafka_persister.scripted import FIND, VERSIONS

HEAD = struct.pack(">hhih", FIND, 6, 7, 2) + b"me"


def refusal(read: Callable[[], object]) -> tuple[str, int | None, str | None]:
    with pytest.raises(WireDecodeError) as refused:
        read()
    return all_of(refused.value)


def all_of(error: Exception) -> tuple[str, int | None, str | None]:
    assert isinstance(error, WireDecodeError)
    return str(error.args[0]), error.position, error.kind


class Side(asyncio.BaseTransport):
    def __init__(self) -> None:
        super().__init__()
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def taken(data: bytes) -> tuple[list[bytes], list[Any], int]:
    """Frames of up to 100 bytes that came out, what ended them, and how often the connection was closed."""
    frames: list[bytes] = []
    ends: list[Any] = []
    side = Side()

    def take(payload: bytes) -> None:
        # Who never gets on takes the same one without end.
        assert len(frames) < len(data)
        frames.append(payload)

    protocol = Frames(100, take, lambda why, within: ends.append((why, within)))
    protocol.connection_made(side)
    protocol.data_received(data)
    return frames, ends, side.closed


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ("00 00 00 03", "a frame announces 3 bytes, not 4 to 100"),
        ("00 00 00 65", "a frame announces 101 bytes, not 4 to 100"),
        ("ff ff ff ff", "a frame announces -1 bytes, not 4 to 100"),
        ("15 03 01 00", "a frame announces 352518400 bytes, not 4 to 100; it begins like TLS"),
        ("16 03 00 00", "a frame announces 369295360 bytes, not 4 to 100; it begins like TLS"),
        ("16 02 00 00", "a frame announces 369229824 bytes, not 4 to 100"),
        ("17 03 00 00", "a frame announces 386072576 bytes, not 4 to 100"),
    ],
)
def test_a_length_that_is_none_is_refused_before_anything_follows_it(head: str, text: str) -> None:
    data = bytes.fromhex(head)
    frames, ends, closed = taken(data)
    ((why, within),) = ends
    assert (frames, all_of(why), within, closed) == ([], (text, 0, "length"), False, 1)
    # What came before it counts.
    frames, ends, _ = taken(frame(b"four") + data)
    assert (frames, all_of(ends[0][0])) == ([b"four"], (text, 0, "length"))

    async def read() -> object:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        return await read_frame(reader, 100)

    assert refusal(lambda: asyncio.run(read())) == (text, 0, "length")


def test_frames_are_read_one_after_another_until_the_other_side_ends() -> None:
    async def test() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(b"\0\0\0\x04four" + b"\0\0\0\x05fifth")
        reader.feed_eof()
        assert [await read_frame(reader, 5) for _ in range(3)] == [b"four", b"fifth", None]

    asyncio.run(test())
    assert taken(b"\0\0\0\x04four" + b"\0\0\0\x05fifth" + b"\0\0\0") == ([b"four", b"fifth"], [], 0)


@pytest.mark.parametrize("size", [0, 9])
def test_a_header_of_a_request_is_whole(size: int) -> None:
    assert refusal(lambda: request_of(b"\0" * size)) == ("a request ends within its header", size, "truncated")


@pytest.mark.parametrize("length", [-2, 3])
def test_a_client_id_is_within_its_request(length: int) -> None:
    payload = struct.pack(">hhih", FIND, 2, 7, length) + b"me"
    assert refusal(lambda: request_of(payload)) == (f"a client id announces {length} bytes", 8, "length")


def test_a_client_id_is_text() -> None:
    payload = struct.pack(">hhih", FIND, 2, 7, 2) + b"\xc3("
    assert refusal(lambda: request_of(payload)) == ("a client id is not UTF-8", 10, "utf8")


@pytest.mark.parametrize(
    ("tags", "text", "at", "kind"),
    [
        ("01 00 03 61 62", "a tagged field of a header ends too late", 5, "truncated"),
        ("02 00 00 00 01", "a tagged field of a header ends too late", 5, "truncated"),
        ("", "a varint of a header does not end", 0, "varint"),
        ("02 05 01 61", "a varint of a header does not end", 4, "varint"),
        ("01 80 80 80 80 80 00", "a varint of a header does not end", 1, "varint"),
    ],
)
def test_tagged_fields_are_within_their_header(tags: str, text: str, at: int, kind: str) -> None:
    fields = bytes.fromhex(tags)
    assert refusal(lambda: request_of(HEAD + fields)) == (text, len(HEAD) + at, kind)
    assert refusal(lambda: response_start(FIND, 6, b"\0\0\0\7" + fields)) == (text, 4 + at, kind)


def test_tagged_fields_are_passed_over() -> None:
    # Two of them; the tag of the second has two bytes, and its length too.
    fields = b"\x02" + b"\x01\x02ab" + b"\x80\x01\x82\x01" + b"x" * 130
    assert request_of(HEAD + fields + b"body") == (FIND, 6, 7, "me", b"body")
    assert response_start(FIND, 6, b"\0\0\0\7" + fields + b"body") == 4 + len(fields)


def test_answers_are_these_bytes() -> None:
    assert response_bytes(FIND, 6, 7, b"body") == b"\0\0\0\x09" + b"\0\0\0\7" + b"\0" + b"body"
    assert response_bytes(FIND, 2, -2, b"body") == b"\0\0\0\x08" + b"\xff\xff\xff\xfe" + b"body"
    assert response_bytes(VERSIONS, 3, 7, b"body") == b"\0\0\0\x08" + b"\0\0\0\7" + b"body"
