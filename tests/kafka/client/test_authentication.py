"""A login on a connection: each message of both sides as it is on the wire, and the whole text of each refusal."""

from __future__ import annotations

from typing import Any

import pytest

from share_state.kafka import AuthenticationFailedError, KafkaPersisterError, NotAuthorizedError, Plain
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.peers import LostError
from share_state.kafka.client.security import UnconvincedError
from tests.kafka.lines import BROKER, Lines, Message, on_lines, soon, told, versions
from tests.kafka.scripted import AUTHENTICATE, FIND, HANDSHAKE, VERSIONS

WHERE = "broker 3 (host:9092)"
TAKEN: Message = {"errorCode": 0, "mechanisms": ["TALK"]}


class Talk:
    """A mechanism that says what a test has for it, and keeps what it is given."""

    name = "TALK"

    def __init__(self, *says: bytes | Exception, proof: str = "") -> None:
        self.says = list(says)
        self.heard: list[bytes] = []
        self.proof = proof
        #: Number of answers heard at each request for the proof.
        self.checked: list[int] = []

    def start(self) -> Talk:
        return self

    async def first(self) -> bytes:
        return self._next() or b""

    async def answer(self, said: bytes) -> bytes | None:
        self.heard.append(said)
        return self._next()

    def check_ended(self) -> None:
        self.checked.append(len(self.heard))
        if self.proof:
            raise UnconvincedError(self.proof)

    def _next(self) -> bytes | None:
        if not self.says:
            return None
        said = self.says.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


def says(said: bytes, code: int = 0, why: str | None = None, lifetime_ms: int = 0) -> Message:
    return {"errorCode": code, "errorMessage": why, "authBytes": said, "sessionLifetimeMs": lifetime_ms}


async def refused(lines: Lines, talk: Any, *answers: Any) -> tuple[type[KafkaPersisterError], str, int | None, str]:
    """Error that is raised; nothing is left of the attempt."""
    with pytest.raises(KafkaPersisterError) as raised:
        await lines.open(*answers, node=BROKER, sasl=talk)
    assert (lines.waits(), lines.last.aborted) == ([], 1)
    error = raised.value
    return type(error), str(error), error.kafka_code, error.node


@on_lines
async def test_messages_go_back_and_forth_until_the_mechanism_has_no_more(lines: Lines) -> None:
    talk = Talk(b"one", b"two")
    connection = await lines.open(TAKEN, says(b"a"), says(b"b"), node=BROKER, sasl=talk)
    assert lines.asked[1:] == [
        (HANDSHAKE, 1, 1, "tester", {"mechanism": "TALK"}),
        (AUTHENTICATE, 2, 2, "tester", {"authBytes": b"one"}),
        (AUTHENTICATE, 2, 3, "tester", {"authBytes": b"two"}),
    ]
    assert (talk.heard, talk.checked) == ([b"a", b"b"], [2])
    assert (connection.requests, connection.usable, lines.waits()) == (4, True, [])
    # Bytes of the two requests without and with tagged fields.
    assert lines.written[1].hex(" ") == "00 00 00 16 00 11 00 01 00 00 00 01 00 06 74 65 73 74 65 72 00 04 54 41 4c 4b"
    assert lines.written[2].hex(" ") == "00 00 00 16 00 24 00 02 00 00 00 02 00 06 74 65 73 74 65 72 00 04 6f 6e 65 00"


@on_lines
async def test_a_password_is_one_message(lines: Lines) -> None:
    await lines.open({"errorCode": 0, "mechanisms": ["PLAIN"]}, says(b""), sasl=Plain("alice", "secret"))
    assert lines.messages[1:] == [
        (HANDSHAKE, {"mechanism": "PLAIN"}),
        (AUTHENTICATE, {"authBytes": b"\0alice\0secret"}),
    ]


@on_lines
async def test_without_a_mechanism_nothing_more_is_said(lines: Lines) -> None:
    await lines.open()
    assert [key for key, _ in lines.messages] == [VERSIONS]


@pytest.mark.parametrize(
    ("mechanisms", "takes"), [(["PLAIN", "GSSAPI"], "PLAIN, GSSAPI"), (["PLAIN"], "PLAIN"), ([], "no mechanism")]
)
@on_lines
async def test_a_mechanism_that_is_not_taken_is_told_beside_those_that_are(
    lines: Lines, mechanisms: list[str], takes: str
) -> None:
    talk = Talk(b"one")
    expected = f"{WHERE}: the broker does not take TALK; it takes {takes}"
    said = await refused(lines, talk, {"errorCode": 33, "mechanisms": mechanisms})
    assert said == (AuthenticationFailedError, expected, 33, WHERE)
    assert (talk.says, talk.checked, len(lines.asked)) == ([b"one"], [], 2)


@on_lines
async def test_a_handshake_that_fails_is_told(lines: Lines) -> None:
    expected = f"{WHERE}: SaslHandshake failed with code 34 (ILLEGAL_SASL_STATE): no reason given"
    said = await refused(lines, Talk(b"one"), {"errorCode": 34, "mechanisms": ["TALK"]})
    assert said == (AuthenticationFailedError, expected, 34, WHERE)


@pytest.mark.parametrize(
    ("code", "kind", "name", "why"),
    [
        (58, AuthenticationFailedError, "SASL_AUTHENTICATION_FAILED", "Invalid username or password"),
        (58, AuthenticationFailedError, "SASL_AUTHENTICATION_FAILED", None),
        (31, NotAuthorizedError, "CLUSTER_AUTHORIZATION_FAILED", "not you"),
    ],
)
@on_lines
async def test_a_login_that_is_refused_is_told_in_the_words_of_the_broker(
    lines: Lines, code: int, kind: type, name: str, why: str | None
) -> None:
    talk = Talk(b"one", b"two")
    reason = why or "no reason given"
    expected = f"{WHERE}: authentication by TALK failed with code {code} ({name}): {reason}"
    assert await refused(lines, talk, TAKEN, says(b"a"), says(b"b", code, why)) == (kind, expected, code, WHERE)
    # The mechanism does not hear more than was accepted.
    assert (talk.heard, talk.checked) == ([b"a"], [])


@on_lines
async def test_a_broker_that_proves_nothing_is_not_trusted(lines: Lines) -> None:
    expected = (AuthenticationFailedError, f"{WHERE}: authentication by TALK failed: no proof", 58, WHERE)
    assert await refused(lines, Talk(b"one", proof="no proof"), TAKEN, says(b"a")) == expected


@on_lines
async def test_a_message_that_the_mechanism_does_not_take_ends_the_login(lines: Lines) -> None:
    expected = (AuthenticationFailedError, f"{WHERE}: authentication by TALK failed: wrong", 58, WHERE)
    assert await refused(lines, Talk(b"one", UnconvincedError("wrong")), TAKEN, says(b"a")) == expected


@on_lines
async def test_a_mechanism_that_has_nothing_to_say_says_nothing(lines: Lines) -> None:
    expected = (AuthenticationFailedError, f"{WHERE}: authentication by TALK failed: no token", 58, WHERE)
    assert await refused(lines, Talk(UnconvincedError("no token")), TAKEN) == expected
    assert [key for key, _ in lines.messages] == [VERSIONS, HANDSHAKE]


@on_lines
async def test_no_login_takes_more_than_eight_messages(lines: Lines) -> None:
    talk = Talk(*(bytes([at]) for at in range(20)))
    await lines.open(TAKEN, *(says(b"on") for _ in range(20)), sasl=talk)
    assert [message["authBytes"] for _, message in lines.messages[2:]] == [bytes([at]) for at in range(8)]
    assert talk.checked == [8]


@on_lines
async def test_a_broker_that_hangs_up_within_a_login_is_tried_again(lines: Lines) -> None:
    for answers in ([None], [TAKEN, None]):
        with pytest.raises(LostError) as lost:
            await lines.open(*answers, node=BROKER, sasl=Talk(b"one"))
        assert told(lost.value) == (WHERE, "closed the connection", 13, False, True)
        assert lines.waits() == []


@on_lines
async def test_a_broker_without_logins_is_told_as_one_that_is_too_old(lines: Lines) -> None:
    lines.answers.append(versions(api_17=(0, 0)))
    with pytest.raises(KafkaPersisterError) as old:
        await soon(Connection.open(BROKER, lines.options(Talk(b"one"))))
    assert str(old.value).startswith(f"{WHERE}: SaslHandshake version 1 to 1 is needed, the broker has versions 0 to 0; ")


# Sessions.


@on_lines
async def test_a_session_is_left_in_time_and_not_before_its_requests_are_answered(lines: Lines) -> None:
    # That of the last answer counts.
    answers = [TAKEN, says(b"a", lifetime_ms=9_000_000), says(b"b", lifetime_ms=3_600_000)]
    connection = await lines.open(*answers, node=BROKER, sasl=Talk(b"one", b"two"))
    assert lines.waits() == [3060.0]
    lost: list[Any] = []
    look_up = b"\0\x0a\0\x06\0\0\0\0\0\0\0" + b"\x02\x01\0"
    connection.send_frame(look_up, lost.append)
    assert lines.clock.expire(3060.0) == 1
    # No other request goes out on it, but what was sent has its answer.
    assert (connection.usable, lines.last.aborted, lost) == (False, 0, [])
    answer = b"\0\0\0\x04body"
    lines.last.protocol.data_received(b"\0\0\0\x08" + answer)
    assert (lines.last.aborted, lost) == (1, [answer])
    with pytest.raises(LostError) as over:
        connection.send_frame(look_up, None)
    assert told(over.value) == (WHERE, "the connection is closed", 13, False, True)
    assert lines.asked[-1].api_key == FIND


@on_lines
async def test_a_session_without_requests_is_closed_at_once(lines: Lines) -> None:
    connection = await lines.open(TAKEN, says(b"", lifetime_ms=600_001), node=BROKER, sasl=Talk(b"one"))
    (wait,) = lines.waits()
    assert wait == pytest.approx(510.00085)
    assert lines.clock.expire(wait) == 1
    assert (connection.usable, lines.last.aborted) == (False, 1)
    assert connection._lost is not None
    assert told(connection._lost) == (WHERE, "the session is over", 13, False, True)


@pytest.mark.parametrize(("lifetime_ms", "waits"), [(0, []), (-1, []), (1, [0.00085])])
@on_lines
async def test_a_session_that_has_no_end_is_kept(lines: Lines, lifetime_ms: int, waits: list[float]) -> None:
    await lines.open(TAKEN, says(b"", lifetime_ms=lifetime_ms), sasl=Talk(b"one"))
    assert lines.waits() == pytest.approx(waits)
    # Nobody retires a connection that is closed.
    lines.last.protocol.connection_lost(None)
    assert lines.waits() == []
