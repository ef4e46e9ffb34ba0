"""A connection that is opened: what is asked for, byte by byte, and all that is said where it fails."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import pytest

from share_state._core import __version__
from share_state.kafka import (
    AuthenticationFailedError,
    BadAnswerError,
    BrokerTooOldError,
    BrokerUnreachableError,
    KafkaPersisterError,
    RefusedError,
    SecurityOptions,
)
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.peers import LostError
from tests.kafka.lines import BROKER, NODE, Lines, on_lines, outcomes, soon, told, versions
from tests.kafka.scripted import CONNECT_TIMEOUT, REQUEST_TIMEOUT, VERSIONS

#: Name and version that we give as our own.
OURS = {"clientSoftwareName": "share-state", "clientSoftwareVersion": __version__}
NEEDS = "share groups need Kafka 4.2 with share.version 1 or higher"


def all_of(error: KafkaPersisterError) -> tuple[type[KafkaPersisterError], str, int | None, str]:
    return type(error), str(error), error.kafka_code, error.node


@on_lines
async def test_a_connection_asks_for_versions_first(lines: Lines) -> None:
    connection = await lines.open(node=BROKER)
    assert lines.made == [("host", 9092, None, None)]
    version = __version__.encode()
    body = b"\x0cshare-state" + bytes([len(version) + 1]) + version + b"\0"
    head = b"\0\x12" + b"\0\x03" + b"\0\0\0\0" + b"\0\x06tester" + b"\0"
    assert lines.written == [(len(head) + len(body)).to_bytes(4, "big") + head + body]
    assert lines.asked == [(VERSIONS, 3, 0, "tester", OURS)]
    assert (connection.node, connection.requests, connection.usable) == (BROKER, 1, True)
    assert connection.offered == {3: (0, 12), 10: (0, 6), 17: (0, 1), 18: (0, 4), 36: (0, 2), 85: (0, 1)}
    # Both times were measured, and neither is any more.
    assert [timer.delay for timer in lines.clock.timers] == [CONNECT_TIMEOUT, REQUEST_TIMEOUT]
    assert lines.waits() == []
    assert lines.last.aborted == 0


@on_lines
async def test_the_name_in_a_certificate_is_that_of_the_host_unless_another_is_given(lines: Lines) -> None:
    context = ssl.create_default_context()
    for name in (None, "broker.example"):
        await lines.open(security=SecurityOptions(context, name))
    assert lines.made == [("host", 9092, context, "host"), ("host", 9092, context, "broker.example")]


@on_lines
async def test_a_frame_may_be_as_long_as_the_options_say(lines: Lines) -> None:
    # An answer of ApiVersions has 4 bytes of correlation id, 2 of code, 1 of length, 7 a request, 4 of time and 1 of tags.
    await lines.open(max_frame=54)
    with pytest.raises(BadAnswerError) as refused:
        await lines.open(max_frame=53)
    expected = "host:9092: what came is no answer: a frame announces 54 bytes, not 4 to 53"
    assert all_of(refused.value) == (BadAnswerError, expected, -1, "host:9092")


@on_lines
async def test_a_broker_that_is_older_is_asked_in_our_oldest_version(lines: Lines) -> None:
    # Said in version 0, whatever was asked.
    lines.answers.append(b"\0\0\0\x0a" + b"\0\0\0\0" + b"\0\x23" + b"\0\0\0\0")
    connection = await lines.open(apis={VERSIONS: (0, 3)})
    assert [asked[:3] for asked in lines.asked] == [(VERSIONS, 3, 0), (VERSIONS, 0, 1)]
    assert (connection.requests, connection.offered[85]) == (2, (0, 1))


@on_lines
async def test_a_version_that_is_not_taken_is_an_answer_without_requests(lines: Lines) -> None:
    connection = await lines.open(b"\0\0\0\x0a" + b"\0\0\0\1" + b"\0\x23" + b"\0\0\0\0")
    assert await soon(connection.request(VERSIONS, OURS)) == {"errorCode": 35, "apiKeys": []}


@pytest.mark.parametrize(("ours", "asked"), [((3, 3), [3]), ((2, 3), [3, 2])])
@on_lines
async def test_a_broker_that_takes_none_of_our_versions_is_too_old(lines: Lines, ours: tuple[int, int], asked: list[int]) -> None:
    # The second one is in the form of the version that was asked, which counts no less.
    lines.answers.extend([b"\0\0\0\x0a" + at.to_bytes(4, "big") + b"\0\x23" + b"\0\0\0\0" for at in range(2)])
    with pytest.raises(BrokerTooOldError) as refused:
        await soon(Connection.open(BROKER, lines.options(apis={VERSIONS: ours})))
    where = "broker 3 (host:9092)"
    expected = f"{where}: the broker does not have ApiVersions version {ours[0]}; {NEEDS}"
    assert all_of(refused.value) == (BrokerTooOldError, expected, 35, where)
    assert [one.version for one in lines.asked] == asked
    assert lines.last.aborted == 1


@pytest.mark.parametrize(
    ("code", "kind", "name"), [(42, RefusedError, "INVALID_REQUEST"), (1234, KafkaPersisterError, "code"), (-1, None, None)]
)
@on_lines
async def test_a_broker_that_says_no_versions_is_told_with_its_code(lines: Lines, code: int, kind: Any, name: str | None) -> None:
    lines.answers.append(versions(code))
    with pytest.raises(KafkaPersisterError) as refused:
        await soon(Connection.open(BROKER, lines.options()))
    where = "broker 3 (host:9092)"
    expected = f"{where}: ApiVersions failed with code {code} ({name or 'UNKNOWN_SERVER_ERROR'}): no reason given"
    assert all_of(refused.value) == (kind or KafkaPersisterError, expected, code, where)
    assert lines.last.aborted == 1
    assert lines.waits() == []


async def failure(lines: Lines, fails: BaseException) -> BaseException:
    lines.fails = fails
    with pytest.raises(Exception) as raised:  # noqa: PT011  what it is is compared by who asks
        await soon(Connection.open(BROKER, lines.options()))
    assert lines.waits() == []
    return raised.value


@pytest.mark.parametrize(
    ("fails", "reason"),
    [
        # The system's words are in place of those of asyncio.
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 9092)"), "Connection refused"),
        (OSError(1, "Connect call failed"), "Operation not permitted"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (OSError(0, "nothing"), "nothing"),
        (OSError("several failed"), "several failed"),
        (TimeoutError(), "TimeoutError"),
    ],
)
@on_lines
async def test_why_nobody_could_be_reached_is_in_plain_words(lines: Lines, fails: OSError, reason: str) -> None:
    error = await failure(lines, fails)
    assert isinstance(error, LostError)
    assert told(error) == ("broker 3 (host:9092)", reason, 13, False, True)


@on_lines
async def test_a_certificate_that_is_not_trusted_is_told(lines: Lines) -> None:
    fails = ssl.SSLCertVerificationError("certificate verify failed")
    fails.verify_message = "self-signed certificate"
    error = await failure(lines, fails)
    where = "broker 3 (host:9092)"
    expected = f"{where}: its certificate is not trusted: self-signed certificate"
    assert isinstance(error, KafkaPersisterError)
    assert all_of(error) == (AuthenticationFailedError, expected, 58, where)
    assert error.__cause__ is fails


def tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "[SSL] alert")
    error.reason = reason
    return error


OUR_ALERTS = ["TLSV13_ALERT_CERTIFICATE_REQUIRED", "TLSV1_ALERT_UNKNOWN_CA", "TLSV1_ALERT_ACCESS_DENIED"]


@pytest.mark.parametrize("reason", OUR_ALERTS)
@on_lines
async def test_a_certificate_of_ours_that_is_not_taken_is_told(lines: Lines, reason: str) -> None:
    error = await failure(lines, tls(reason))
    where = "broker 3 (host:9092)"
    expected = f"{where}: our certificate is not taken, or none was shown: {reason}"
    assert isinstance(error, KafkaPersisterError)
    assert all_of(error) == (AuthenticationFailedError, expected, 58, where)


@pytest.mark.parametrize("reason", ["WRONG_VERSION_NUMBER", "TLSV1_ALERT_PROTOCOL_VERSION", "CERTIFICATE_VERIFY_FAILED", ""])
@on_lines
async def test_a_server_without_tls_is_told(lines: Lines, reason: str) -> None:
    fails = tls(reason)
    error = await failure(lines, fails)
    where = "broker 3 (host:9092)"
    assert isinstance(error, KafkaPersisterError)
    assert all_of(error) == (BrokerUnreachableError, f"{where}: no TLS: {fails}", 13, where)
    assert error.__cause__ is fails


@pytest.mark.parametrize("reason", OUR_ALERTS)
@on_lines
async def test_an_alert_that_comes_with_the_first_answer_is_the_same(lines: Lines, reason: str) -> None:
    lines.answers.append(tls(reason))
    with pytest.raises(AuthenticationFailedError) as refused:
        await soon(Connection.open(BROKER, lines.options()))
    where = "broker 3 (host:9092)"
    expected = f"{where}: our certificate is not taken, or none was shown: {reason}"
    assert all_of(refused.value) == (AuthenticationFailedError, expected, 58, where)


@on_lines
async def test_a_server_that_does_not_speak_kafka_is_told(lines: Lines) -> None:
    lines.answers.append(b"HTTP/1.1 400 Bad Request")
    with pytest.raises(BadAnswerError) as refused:
        await soon(Connection.open(BROKER, lines.options()))
    where = "broker 3 (host:9092)"
    expected = f"{where}: what came is no answer: a frame announces 1213486160 bytes, not 4 to 104857600"
    assert all_of(refused.value) == (BadAnswerError, expected, -1, where)
    assert lines.waits() == []


@on_lines
async def test_a_connection_that_is_cut_meanwhile_was_sent_nothing(lines: Lines) -> None:
    for end, reason in ((None, "closed the connection"), (ConnectionResetError(104, "reset by peer"), "reset by peer")):
        lines.answers.append(end)
        with pytest.raises(LostError) as lost:
            await soon(Connection.open(NODE, lines.options()))
        assert told(lost.value) == ("host:9092", reason, 13, False, True)


@on_lines
async def test_a_broker_that_says_nothing_is_left_when_the_time_is_up(lines: Lines) -> None:
    opening = asyncio.create_task(Connection.open(NODE, lines.options()))
    for _ in range(5):
        await asyncio.sleep(0)
    assert lines.waits() == [CONNECT_TIMEOUT, REQUEST_TIMEOUT]
    assert lines.clock.expire(CONNECT_TIMEOUT) == 1
    (late,) = await outcomes(opening)
    assert isinstance(late, LostError)
    assert told(late) == ("host:9092", "connecting took too long", 7, False, True)
    assert (lines.waits(), lines.last.aborted) == ([], 1)


@on_lines
async def test_who_stops_waiting_leaves_no_connection(lines: Lines) -> None:
    opening = asyncio.create_task(Connection.open(NODE, lines.options()))
    for _ in range(5):
        await asyncio.sleep(0)
    opening.cancel()
    (stopped,) = await outcomes(opening)
    assert isinstance(stopped, asyncio.CancelledError)
    assert (lines.waits(), lines.last.aborted) == ([], 1)
