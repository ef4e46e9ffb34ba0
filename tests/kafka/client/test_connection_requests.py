"""Requests on a connection that is open: each finds its answer by its id, and is lost in the words of whatever ended it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from typing import Any

import pytest

import share_state as ss
from share_state.errors import WireDecodeError
from share_state.kafka import BrokerTooOldError
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.peers import LostError
from tests.kafka.lines import BROKER, Lines, Message, answer_of, on_lines, run, soon, told, versions
from tests.kafka.scripted import FIND, METADATA, REQUEST_TIMEOUT, WRITE

WHERE = "broker 3 (host:9092)"
ASKED: Message = {"keyType": 2, "coordinatorKeys": ["k"]}
FOUND: Message = {
    "throttleTimeMs": 0,
    "coordinators": [{"key": "k", "nodeId": 4, "host": "other", "port": 1, "errorCode": 0, "errorMessage": None}],
}
#: Somebody's look-up, with an id of its own.
FRAME = struct.pack(">hhih", FIND, 6, 99, 3) + b"she\0" + b"\x02\x02\x02k\0"


@on_lines
async def test_an_answer_is_given_as_it_was_said(lines: Lines) -> None:
    connection = await lines.open(FOUND)
    assert await soon(connection.request(FIND, ASKED)) == FOUND
    assert lines.asked[1:] == [(FIND, 6, 1, "tester", ASKED)]
    assert (connection.requests, lines.waits(), connection.usable) == (2, [], True)
    assert lines.clock.timers[-1].delay == REQUEST_TIMEOUT


@on_lines
async def test_a_version_that_is_asked_for_is_used(lines: Lines) -> None:
    topics = {"topics": None, "allowAutoTopicCreation": False}
    connection = await lines.open({"brokers": [], "clusterId": None, "controllerId": 1, "topics": [], "throttleTimeMs": 0})
    asking = asyncio.create_task(connection.request(METADATA, {**topics, "includeTopicAuthorizedOperations": False}, 12))
    await soon(asking)
    assert lines.asked[-1][:4] == (METADATA, 12, 1, "tester")
    # Nobody looks at what the broker has then.
    connection._versions.clear()
    lines.answers.append(FOUND)
    assert await soon(connection.request(FIND, ASKED, 6)) == FOUND


@on_lines
async def test_answers_find_their_requests_in_any_order(lines: Lines) -> None:
    connection = await lines.open(..., ...)
    tasks = [asyncio.create_task(connection.request(FIND, {**ASKED, "coordinatorKeys": [key]})) for key in "ab"]
    await asyncio.sleep(0)
    first, second = lines.asked[1:]
    assert (first.correlation_id, second.correlation_id) == (1, 2)
    assert lines.waits() == [REQUEST_TIMEOUT] * 2
    empty = {**FOUND, "coordinators": []}
    lines.last.protocol.data_received(answer_of(second, empty) + answer_of(first, FOUND))
    assert [await soon(task) for task in tasks] == [FOUND, empty]
    assert lines.waits() == []


@on_lines
async def test_who_stopped_waiting_leaves_the_connection_in_order(lines: Lines) -> None:
    connection = await lines.open(..., ..., FOUND)
    gone = [asyncio.create_task(connection.request(FIND, ASKED)) for _ in range(2)]
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    lines.last.protocol.data_received(answer_of(lines.asked[1], FOUND))
    assert await soon(connection.request(FIND, ASKED)) == FOUND
    # Nor is the end of it of interest to the other.
    await connection.close()
    assert (lines.waits(), lines.last.aborted) == ([], 1)


@on_lines
async def test_bytes_are_sent_as_they_are_and_taken_apart_by_who_sent_them(lines: Lines) -> None:
    connection = await lines.open(..., ...)
    heard: list[Any] = []

    def decode(version: int, frame: bytes, start: int) -> tuple[int, bytes, int]:
        return version, frame, start

    connection.send(FIND, 6, b"\x02\x02\x02k\0", decode, heard.append)
    connection.send(FIND, 2, b"\0\x01k\x02", decode, heard.append)
    assert [frame.hex(" ") for frame in lines.written[1:]] == [
        "00 00 00 16 00 0a 00 06 00 00 00 01 00 06 74 65 73 74 65 72 00 02 02 02 6b 00",
        "00 00 00 14 00 0a 00 02 00 00 00 02 00 06 74 65 73 74 65 72 00 01 6b 02",
    ]
    # Tagged fields of the header are not the message's.
    first, second = b"\0\0\0\x01" + b"\x01\x07\x02ab" + b"body", b"\0\0\0\x02" + b"body"
    for frame in (first, second):
        lines.last.protocol.data_received(struct.pack(">i", len(frame)) + frame)
    assert heard == [(6, first, 9), (2, second, 4)]
    assert (connection.requests, lines.waits()) == (3, [])


@on_lines
async def test_a_frame_goes_out_with_an_id_of_ours(lines: Lines) -> None:
    connection = await lines.open(..., ...)
    heard: list[Any] = []
    connection.send_frame(FRAME, heard.append)
    connection.send_frame(FRAME, None)
    ours = [b"\0\0\0\x13" + FRAME[:4] + struct.pack(">i", at) + FRAME[8:] for at in (1, 2)]
    assert lines.written[1:] == ours
    # Only the first is waited for; who asked is given the header too.
    assert (lines.waits(), connection.requests) == ([REQUEST_TIMEOUT], 3)
    lines.last.protocol.data_received(b"\0\0\0\x09" + b"\0\0\0\x01" + b"\0body")
    assert (heard, lines.waits(), connection.usable) == ([b"\0\0\0\x01\0body"], [], True)


@on_lines
async def test_ids_are_not_negative(lines: Lines) -> None:
    connection = await lines.open(*[...] * 3)
    connection._correlation_id = 0x7FFF_FFFE
    for _ in range(3):
        connection.send_frame(FRAME, None)
    assert [asked.correlation_id for asked in lines.asked[1:]] == [0x7FFF_FFFE, 0x7FFF_FFFF, 0]


async def lost(lines: Lines, *answers: Any) -> tuple[Connection, LostError]:
    """A connection of which a request is lost."""
    connection = await lines.open(*answers, node=BROKER)
    with pytest.raises(LostError) as raised:
        await soon(connection.request(FIND, ASKED))
    assert (connection.usable, lines.waits(), lines.last.aborted) == (False, [], 1)
    return connection, raised.value


def _named(error: Exception, reason: str) -> Exception:
    error.reason = reason  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("end", "reason", "code", "retriable"),
    [
        (None, "closed the connection", 13, True),
        (ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer", 13, True),
        (OSError("odd"), "odd", 13, True),
        (socket.gaierror(), "gaierror", 13, True),
        (RuntimeError("a bug"), "a bug", 13, True),
        (RuntimeError(), "RuntimeError", 13, True),
        (_named(ssl.SSLError(1, "[SSL] shut down"), "SHUT_DOWN"), "[SSL] shut down", 13, True),
    ],
)
@on_lines
async def test_why_a_connection_ended_is_in_plain_words(lines: Lines, end: Any, reason: str, code: int, retriable: bool) -> None:
    _, error = await lost(lines, end)
    assert told(error) == (WHERE, reason, code, True, retriable)


@on_lines
async def test_an_alert_about_our_certificate_sent_nothing(lines: Lines) -> None:
    _, error = await lost(lines, _named(ssl.SSLError(1, "alert"), "TLSV13_ALERT_CERTIFICATE_REQUIRED"))
    reason = "our certificate is not taken, or none was shown: TLSV13_ALERT_CERTIFICATE_REQUIRED"
    assert told(error) == (WHERE, reason, 58, False, False)


@on_lines
async def test_half_an_answer_is_none(lines: Lines) -> None:
    connection = await lines.open(b"\0\0\0\x09abc", node=BROKER)
    asking = asyncio.create_task(connection.request(FIND, ASKED))
    for _ in range(3):
        await asyncio.sleep(0)
    lines.last.protocol.connection_lost(None)
    with pytest.raises(LostError) as raised:
        await soon(asking)
    assert told(raised.value) == (WHERE, "closed the connection within an answer", 13, True, True)


@pytest.mark.parametrize("given", [7, -1])
def test_an_answer_that_nobody_waits_for_ends_the_connection(given: int) -> None:
    async def test(lines: Lines) -> None:
        _, error = await lost(lines, b"\0\0\0\x05" + struct.pack(">i", given) + b"\0")
        reason = f"what came is no answer: no request has correlation id {given}"
        assert told(error) == (WHERE, reason, -1, True, False)

    run(test)
    connection = Connection(BROKER, Lines().options())
    with pytest.raises(WireDecodeError) as wrong:
        connection._take(struct.pack(">i", given) + b"more")
    assert (wrong.value.position, wrong.value.kind) == (0, "correlation")


@on_lines
async def test_an_answer_is_as_long_as_its_message_unless_more_is_allowed(lines: Lines) -> None:
    body = ss.encode_message(FIND, 6, FOUND, response=True)
    longer = b"\0\0\0\x01" + b"\0" + body + b"end"
    longer = struct.pack(">i", len(longer)) + longer
    _, error = await lost(lines, longer)
    assert error.reason.startswith("what came is no answer: ")
    assert told(error)[2:] == (-1, True, False)
    connection = await lines.open(longer, trailing=True)
    assert await soon(connection.request(FIND, ASKED)) == FOUND


@on_lines
async def test_an_answer_that_is_late_ends_the_connection_for_all(lines: Lines) -> None:
    connection = await lines.open(..., node=BROKER)
    ends: list[Any] = []
    connection.send_frame(FRAME, ends.append)
    connection._expect(999, 7, bytes, ends.append)
    assert lines.clock.expire(REQUEST_TIMEOUT) == 2
    expected = (WHERE, "FindCoordinator was not answered in 1000 s", 7, True, True)
    assert [told(end) for end in ends] == [expected] * 2
    assert ends[0] is not ends[1]
    assert lines.last.aborted == 1
    # A number of seconds is not longer than it needs to be, and a request has a name or a number.
    other = await lines.open(node=BROKER)
    other._expect(999, 7, bytes, ends.append)
    lines.clock.expire(REQUEST_TIMEOUT)
    assert ends[2].reason == "request 999 was not answered in 1000 s"


@on_lines
async def test_a_long_answer_that_is_arriving_has_more_time(lines: Lines) -> None:
    connection = await lines.open(..., node=BROKER)
    ends: list[Any] = []
    connection.send_frame(FRAME, ends.append)
    part = bytes(64 << 10)
    connection._frames.data_received(struct.pack(">i", 10 * len(part)) + part[4:])
    for _ in range(2):
        assert (lines.clock.expire(REQUEST_TIMEOUT), ends) == (1, [])
        connection._frames.data_received(part)
    # The second arrived in the time that is over now, and a byte less does not do.
    assert (lines.clock.expire(REQUEST_TIMEOUT), ends) == (1, [])
    connection._frames.data_received(part[1:])
    assert lines.clock.expire(REQUEST_TIMEOUT) == 1
    assert [told(end)[1:3] for end in ends] == [("FindCoordinator was not answered in 1000 s", 7)]


@on_lines
async def test_what_we_close_is_lost(lines: Lines) -> None:
    connection = await lines.open(..., node=BROKER)
    ends: list[Any] = []
    connection.send_frame(FRAME, ends.append)
    for _ in range(2):
        await connection.close()
    assert [told(end) for end in ends] == [(WHERE, "the connection was closed by us", 13, True, True)]
    assert (lines.waits(), lines.last.aborted, connection.usable) == ([], 1, False)
    for late in (connection, Connection(BROKER, lines.options())):
        with pytest.raises(LostError) as closed:
            late.send_frame(FRAME, None)
        assert told(closed.value) == (WHERE, "the connection is closed", 13, False, True)
    assert connection.requests == 2


@pytest.mark.parametrize(("theirs", "version"), [((0, 0), 0), ((1, 9), 1), ((0, 9), 1), ((-5, 1), 1)])
@on_lines
async def test_the_newest_version_of_both_sides_is_spoken(lines: Lines, theirs: tuple[int, int], version: int) -> None:
    lines.answers.append(versions(api_85=theirs))
    connection = await soon(Connection.open(BROKER, lines.options()))
    assert connection.version_of(WRITE) == version


@pytest.mark.parametrize(("theirs", "has"), [((1, 3), "has versions 1 to 3"), ((-2, -1), "has versions -2 to -1"), (None, "")])
@on_lines
async def test_a_broker_without_a_version_of_ours_is_told(lines: Lines, theirs: tuple[int, int] | None, has: str) -> None:
    lines.answers.append(versions() if theirs is None else versions(api_84=theirs))
    connection = await soon(Connection.open(BROKER, lines.options(needs="get another")))
    with pytest.raises(BrokerTooOldError) as old:
        connection.version_of(84)
    has_it = has or "does not have it"
    expected = f"{WHERE}: ReadShareGroupState version 0 to 0 is needed, the broker {has_it}; get another"
    assert (str(old.value), old.value.kafka_code, old.value.node) == (expected, 35, WHERE)
