"""Frames and headers without a connection: the whole text, the place and the kind of each refusal, and what is read."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any

import pytest

from share_state.errors import WireDecodeError
from share_state.kafka.framing import Frames, Request, frame, is_flexible, read_frame, request_of, response_bytes, response_start
from tests.kafka.scripted import FIND, VERSIONS

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


@pytest.mark.parametrize(
    ("tags", "wrong", "at"),
    [
        ("01 00 03 61 62", "3 bytes needed, 2 left", 3),
        ("02 00 00 00 01", "tag 0 is repeated or out of order", 3),
        ("", "1 bytes needed, 0 left", 0),
        ("02 05 01 61", "expected at most 1 elements, got 2", 0),
        ("01 80 80 80 80 80 00", "variable-length integer too long or too large", 1),
        # Before the first of them is looked at.
        ("41" + "00 00" * 65, "expected at most 64 elements, got 65", 0),
        ("ff ff 3f" + "00 00" * (1 << 20), "expected at most 64 elements, got 1048575", 0),
    ],
)
def test_tagged_fields_are_few_and_within_their_header(tags: str, wrong: str, at: int) -> None:
    fields = bytes.fromhex(tags)
    asked, answered = len(HEAD) + at, 4 + at
    assert refusal(lambda: request_of(HEAD + fields)) == (f"byte {asked}: {wrong}", asked, wrong)
    assert refusal(lambda: response_start(FIND, 6, b"\0\0\0\7" + fields)) == (f"byte {answered}: {wrong}", answered, wrong)


def test_tagged_fields_are_passed_over() -> None:
    # Two of them; the tag of the second has two bytes, and its length too.
    fields = b"\x02" + b"\x01\x02ab" + b"\x80\x01\x82\x01" + b"x" * 130
    assert request_of(HEAD + fields + b"body") == (FIND, 6, 7, "me", b"body")
    assert response_start(FIND, 6, b"\0\0\0\7" + fields + b"body") == 4 + len(fields)


def test_answers_are_these_bytes() -> None:
    assert response_bytes(FIND, 6, 7, b"body") == b"\0\0\0\x09" + b"\0\0\0\7" + b"\0" + b"body"
    assert response_bytes(FIND, 2, -2, b"body") == b"\0\0\0\x08" + b"\xff\xff\xff\xfe" + b"body"
    assert response_bytes(VERSIONS, 3, 7, b"body") == b"\0\0\0\x08" + b"\0\0\0\7" + b"body"


@pytest.mark.parametrize(
    ("length", "rest", "client_id"), [(-1, b"", ""), (4, b"xxxx", "xxxx"), (4, b"a\xff\xc3(", "a\ufffd\ufffd(")]
)
def test_a_client_id_is_read_as_java_reads_it(length: int, rest: bytes, client_id: str) -> None:
    payload = struct.pack(">hhih", FIND, 2, 7, length) + rest + b"body"
    assert request_of(payload) == Request(FIND, 2, 7, client_id, b"body")


def test_requests_nobody_knows_are_taken_to_have_tags() -> None:
    assert [is_flexible(FIND, version) for version in (2, 3)] == [False, True]
    assert [is_flexible(9999, version) for version in (-1, 0)] == [False, True]
    # The answer to ApiVersions has none in any version: it is read before one is agreed on.
    assert [response_start(api_key, version, bytes(9)) for api_key, version in ((FIND, 2), (VERSIONS, 4), (FIND, 3))] == [4, 4, 5]
