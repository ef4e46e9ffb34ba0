"""Headers of requests and answers, byte by byte: tags and client ids end within them."""

from __future__ import annotations

import struct

import pytest

import share_state as ss
from share_state.errors import WireDecodeError
from share_state.kafka.framing import Request, frame, is_flexible, request_bytes, request_of, response_bytes, response_start
from tests.python.kafka_persister.scripted import FIND, KEY, VERSIONS, WRITE, ScriptedBroker, Turn, persister, run

#: The version before a request of coordinators has tagged fields, and the first that has them.
FIXED, FLEXIBLE = 2, 3


def test_requests_are_these_bytes() -> None:
    fixed = Request(FIND, FIXED, 7, "é", b"body")
    assert request_bytes(fixed).hex(" ", 1) == "00 00 00 10 00 0a 00 02 00 00 00 07 00 02 c3 a9 62 6f 64 79"
    flexible = Request(FIND, FLEXIBLE, -2, "me", b"body")
    assert request_bytes(flexible).hex(" ", 1) == "00 00 00 11 00 0a 00 03 ff ff ff fe 00 02 6d 65 00 62 6f 64 79"
    for request in (fixed, flexible):
        assert request_of(request_bytes(request)[4:]) == request


def test_answers_are_these_bytes() -> None:
    assert response_bytes(FIND, FIXED, 7, b"body").hex(" ", 1) == "00 00 00 08 00 00 00 07 62 6f 64 79"
    assert response_bytes(FIND, FLEXIBLE, 7, b"body").hex(" ", 1) == "00 00 00 09 00 00 00 07 00 62 6f 64 79"
    # That of ApiVersions has no tags in any version: it is read before one is agreed on.
    assert response_bytes(VERSIONS, 4, 7, b"body").hex(" ", 1) == "00 00 00 08 00 00 00 07 62 6f 64 79"


def test_a_request_without_a_client_id_has_an_empty_one() -> None:
    assert request_of(struct.pack(">hhih", FIND, FIXED, 7, -1) + b"body") == Request(FIND, FIXED, 7, "", b"body")


def test_requests_nobody_knows_are_taken_to_have_tags() -> None:
    assert (is_flexible(FIND, FIXED), is_flexible(FIND, FLEXIBLE)) == (False, True)
    assert (is_flexible(9999, 0), is_flexible(9999, -1)) == (True, False)


@pytest.mark.parametrize("size", range(10))
def test_a_request_has_a_whole_header(size: int) -> None:
    with pytest.raises(WireDecodeError, match="a request ends within its header") as raised:
        request_of(b"\0" * size)
    assert (raised.value.position, raised.value.kind) == (size, "truncated")


@pytest.mark.parametrize(("announced", "there"), [(-2, 0), (1, 0), (5, 4), (32767, 100)])
def test_a_client_id_is_within_the_request(announced: int, there: int) -> None:
    with pytest.raises(WireDecodeError, match=f"a client id announces {announced} bytes") as raised:
        request_of(struct.pack(">hhih", FIND, FIXED, 7, announced) + b"x" * there)
    assert (raised.value.position, raised.value.kind) == (8, "length")
    assert request_of(struct.pack(">hhih", FIND, FIXED, 7, 4) + b"xxxx").client_id == "xxxx"


def test_a_client_id_is_utf8() -> None:
    with pytest.raises(WireDecodeError, match="a client id is not UTF-8") as raised:
        request_of(struct.pack(">hhih", FIND, FIXED, 7, 1) + b"\xff")
    assert (raised.value.position, raised.value.kind) == (10, "utf8")


#: Tagged fields of a header, and whether they are whole.
TAGS = [
    ("00", True),
    ("01 00 00", True),
    ("01 00 02 61 62", True),
    ("02 00 01 61 05 00", True),
    ("01 ff ff ff ff 0f 01 61", True),  # a tag in five bytes
    ("01 00 80 80 00", True),  # a size in three
    ("01 00 03 61 62", False),  # one byte too few
    ("01 00 01", False),
    ("02 00 00 00 01", False),
    ("01 00 ff ff ff ff 0f", False),
]


@pytest.mark.parametrize(("tags", "whole"), TAGS)
def test_a_tag_of_a_header_ends_within_it(tags: str, whole: bool) -> None:
    fields = bytes.fromhex(tags)
    request = struct.pack(">hhih", FIND, FLEXIBLE, 7, 2) + b"me" + fields
    answer = struct.pack(">i", 7) + fields
    if whole:
        assert request_of(request + b"body") == Request(FIND, FLEXIBLE, 7, "me", b"body")
        assert response_start(FIND, FLEXIBLE, answer + b"body") == len(answer)
        # It may be all that there is.
        assert request_of(request).body == b""
        assert response_start(FIND, FLEXIBLE, answer) == len(answer)
        return
    for payload, read in ((request, request_of), (answer, lambda answer: response_start(FIND, FLEXIBLE, answer))):
        with pytest.raises(WireDecodeError, match="a tagged field of a header ends too late") as raised:
            read(payload)
        assert (raised.value.position, raised.value.kind) == (len(payload), "truncated")


@pytest.mark.parametrize(("varint", "at"), [("", 4), ("80", 4), ("80 80 80 80 80 00", 4), ("01 80", 5), ("01 00 ff", 6)])
def test_a_varint_of_a_header_ends_after_five_bytes_at_most(varint: str, at: int) -> None:
    with pytest.raises(WireDecodeError, match="a varint of a header does not end") as raised:
        response_start(FIND, FLEXIBLE, struct.pack(">i", 7) + bytes.fromhex(varint))
    assert (raised.value.position, raised.value.kind) == (at, "varint")


def test_an_answer_without_tags_begins_after_the_correlation_id() -> None:
    assert response_start(FIND, FIXED, b"\0" * 9) == 4
    assert response_start(VERSIONS, 4, b"\0" * 9) == 4
    assert response_start(WRITE, 0, b"\0" * 9) == 5


def test_tags_of_an_answer_are_passed_over() -> None:
    async def test() -> None:
        async def tagged(turn: Turn) -> bytes:
            answer = await turn.usual()
            assert answer is not None
            return frame(answer[4:8] + bytes.fromhex("01 09 02 61 62") + answer[9:])

        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.always = {FIND: tagged, WRITE: tagged}
            await client.initialize_state(KEY, 1, 0)
            await client.write_state(KEY, ss.WriteState(1, 1, 5, -1, []))
            assert broker.store.read_summary(KEY).start_offset == 5

    run(test)
