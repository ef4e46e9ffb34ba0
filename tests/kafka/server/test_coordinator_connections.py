"""The share coordinator server and its connections, without a socket: what is sent, and what is logged."""

from __future__ import annotations

import asyncio
import logging

import pytest

from share_state.kafka import ShareCoordinatorServer
from share_state.kafka.client.peers import Address
from share_state.persister import MemoryPersister
from tests.kafka.scripted import AUTHENTICATE, DELETE, FIND, HANDSHAKE, TOPIC
from tests.kafka.server.coordinator_stand_ins import (
    LOGGER,
    PEERNAME,
    Writer,
    answer,
    authenticate,
    converse,
    find,
    handshake,
    header,
    logged,
    received,
    request,
    server,
)

USERS = {"alice": "secret"}
GOOD, WRONG = authenticate(b"\0alice\0secret"), authenticate(b"\0alice\0wrong")
FOUND = request(FIND, 6, find(), 8)
DELETED = request(DELETE, 0, {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [{"partition": 0}]}]}, 9)
GONE = {"results": [{"topicId": TOPIC, "partitions": [{"partition": 0, "errorCode": 0, "errorMessage": None}]}]}
THERE = repr(PEERNAME)


def serve(coordinator: ShareCoordinatorServer, *payloads: bytes, half: bytes = b"", lost: Exception | None = None) -> Writer:
    """Serve a connection whose client sends this, perhaps half a frame more, and goes or is lost."""

    async def whole() -> Writer:
        reader, writer = received(*payloads, ended=False), Writer()
        reader.feed_data(half)
        if lost is None:
            reader.feed_eof()
        else:
            reader.set_exception(lost)
        await converse(coordinator, reader, writer)
        return writer

    return asyncio.run(whole())


@pytest.fixture(autouse=True)
def _every_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)


# A connection.


def test_requests_are_answered_in_order(caplog: pytest.LogCaptureFixture) -> None:
    writer = serve(server(), FOUND, DELETED, FOUND)
    assert (writer.drained, writer.end) == ([1, 2, 3], "closed")
    assert answer(DELETE, 0, writer.sent[1], 9) == GONE
    assert writer.sent[0] == writer.sent[2]
    (row,) = answer(FIND, 6, writer.sent[0], 8)["coordinators"]
    # Here is where the connection ends, whatever else an IPv6 socket says of itself.
    here = {"nodeId": 1, "host": "here", "port": 9092, "errorCode": 0, "errorMessage": ""}
    assert row == {"key": f"g:{TOPIC}:0", **here}
    assert logged(caplog) == []


def test_a_server_that_answers_a_request_with_nothing_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    class Silent(ShareCoordinatorServer):
        async def respond(self, payload: bytes, here: Address) -> bytes | None:
            return None if payload == DELETED else await super().respond(payload, here)

    writer = serve(Silent(MemoryPersister()), FOUND, DELETED, FOUND)
    assert (len(writer.sent), writer.end, logged(caplog)) == (1, "closed", [])


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (header(1, 12), "request 1 version 12 is not known"),
        (b"\0\x0a\0\6\0", "a request ends within its header"),
        (b"x" * 301, "a frame announces 301 bytes, not 4 to 300"),
    ],
)
def test_a_connection_that_sends_no_request_is_cut_off_and_logged(
    caplog: pytest.LogCaptureFixture, payload: bytes, why: str
) -> None:
    writer = serve(server(max_frame=300), FOUND, payload, FOUND)
    assert (len(writer.sent), writer.end) == (1, "aborted")
    ((level, text),) = logged(caplog)
    assert level == "WARNING"
    assert text.startswith(f"closed the connection of {THERE}: {why}")


@pytest.mark.parametrize(("half", "lost"), [(b"\0\0", None), (b"\0\0\0\x09abc", None), (b"", ConnectionResetError())])
def test_a_client_that_is_lost_is_logged_and_its_connection_cut_off(
    caplog: pytest.LogCaptureFixture, half: bytes, lost: Exception | None
) -> None:
    writer = serve(server(), half=half, lost=lost)
    assert (writer.sent, writer.end) == ([], "aborted")
    assert logged(caplog) == [("INFO", f"{THERE} disconnected")]


def test_who_has_logged_in_is_answered() -> None:
    writer = serve(server(USERS), handshake(), GOOD, FOUND, DELETED)
    assert [answer(HANDSHAKE, 1, writer.sent[0], 1)["errorCode"], answer(AUTHENTICATE, 2, writer.sent[1], 2)["errorCode"]] == [
        0,
        0,
    ]
    assert answer(FIND, 6, writer.sent[2], 8)["coordinators"][0]["errorCode"] == 0
    assert answer(DELETE, 0, writer.sent[3], 9) == GONE
    assert (writer.drained, writer.end) == ([1, 2, 3, 4], "closed")


@pytest.mark.parametrize("said", [(handshake("GSSAPI"),), (handshake(), WRONG), (handshake(), handshake()), (WRONG,)])
def test_who_fails_to_log_in_hears_why_and_nothing_more(caplog: pytest.LogCaptureFixture, said: tuple[bytes, ...]) -> None:
    writer = serve(server(USERS), *said, FOUND, FOUND)
    assert (len(writer.sent), writer.end, logged(caplog)) == (len(said), "closed", [])


@pytest.mark.parametrize(("max_frame", "longest"), [(300, 300), (1 << 20, 68 << 10)])
def test_a_stranger_sends_no_long_frames(caplog: pytest.LogCaptureFixture, max_frame: int, longest: int) -> None:
    half = (longest + 1).to_bytes(4, "big")
    writer = serve(server(USERS, max_frame=max_frame), half=half)
    text = f"closed the connection of {THERE}: a frame announces {longest + 1} bytes, not 4 to {longest}"
    ((level, logged_text),) = logged(caplog)
    assert (level, logged_text[: len(text)], writer.end) == ("WARNING", text, "aborted")
    # A frame of just that length is waited for.
    caplog.clear()
    serve(server(USERS, max_frame=max_frame), half=longest.to_bytes(4, "big"))
    assert logged(caplog) == [("INFO", f"{THERE} disconnected")]
