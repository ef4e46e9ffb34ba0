"""Clients that have not logged in: what they may ask, and what becomes of them."""

from __future__ import annotations

import asyncio
import logging
import struct
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.errors import ConfigError, ShareStateError, UnsupportedVersionError, WireDecodeError
from share_state.gateway import authentication
from share_state.gateway.access import Access
from share_state.gateway.authentication import Authentication
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address
from share_state.util.admission import Admission
from tests.gateway.wire.codec import Message, decode, encode, flexible
from tests.gateway.wire.connection import request_header

HANDSHAKE, AUTHENTICATE, VERSIONS, METADATA = 17, 36, 18, 3
GOOD, WRONG = b"\0alice\0secret", b"\0alice\0wrong"


class Dispatch:
    """Notes what it is asked, and which logins it is to offer."""

    def __init__(self) -> None:
        self.asked: list[tuple[Client, bytes]] = []
        self.offered: Any = None

    async def respond(self, client: Client, payload: bytes) -> bytes | None:
        self.asked.append((client, payload))
        return b"dispatched"

    def offer_logins(self, versions: Any) -> None:
        self.offered = dict(versions)


def made(users: dict[str, str] | None = None, tokens: Any = None) -> tuple[Authentication, Dispatch, Client]:
    """Authentication in front of a dispatch, and a client that it has met."""
    dispatch, client = Dispatch(), Client(1, "host", Address("here", 1), Access())
    found = Authentication(cast("Any", dispatch), users, tokens, Admission(10, 10, 10))
    found.meet(client)
    return found, dispatch, client


USERS = {"alice": "secret"}


def request(key: int, version: int, message: Message) -> bytes:
    return request_header(key, version, 77, "me") + encode(key, version, message)


def ask(what: Authentication, client: Client, payload: bytes) -> bytes | None:
    return asyncio.run(what.respond(client, payload))


def told(key: int, version: int, frame: bytes | None) -> Message:
    assert frame is not None
    assert struct.unpack_from(">ii", frame) == (len(frame) - 4, 77)
    return decode(key, version, frame[8 + flexible(key, version) :], response=True)


def handshake(what: Authentication, client: Client, mechanism: str = "PLAIN") -> Message:
    return told(HANDSHAKE, 1, ask(what, client, request(HANDSHAKE, 1, {"mechanism": mechanism})))


def authenticate(what: Authentication, client: Client, said: bytes, version: int = 2) -> Message:
    return told(AUTHENTICATE, version, ask(what, client, request(AUTHENTICATE, version, {"authBytes": said})))


@pytest.mark.parametrize(("users", "tokens"), [(USERS, None), (None, lambda _token: "bob"), (USERS, lambda _token: "bob")])
def test_logins_are_offered_where_they_are_needed(users: dict[str, str] | None, tokens: Any) -> None:
    what, dispatch, client = made(users, tokens)
    assert what.is_needed
    assert dispatch.offered == {HANDSHAKE: (1, 1), AUTHENTICATE: (0, 2)}
    assert client.login is not None
    mechanisms = [] if users is None else ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
    assert client.login.mechanisms == [*mechanisms, *([] if tokens is None else ["OAUTHBEARER"])]


def test_an_empty_list_of_users_lets_nobody_in() -> None:
    with pytest.raises(ConfigError) as refused:
        made({})
    assert (str(refused.value), refused.value.field) == ("no user may log in", "users")


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_client_that_has_logged_in_is_who_it_says(version: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "share_state.gateway.clients")
    what, dispatch, client = made(USERS)
    assert handshake(what, client) == {"errorCode": 0, "mechanisms": ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]}
    assert (client.client_id, client.principal, what.succeeded) == ("me", "User:ANONYMOUS", 0)
    lifetime = {"sessionLifetimeMs": 0} if version else {}
    assert authenticate(what, client, GOOD, version) == {"errorCode": 0, "errorMessage": None, "authBytes": b"", **lifetime}
    assert (client.principal, client.login, client.is_refused) == ("User:alice", None, False)
    assert (what.succeeded, what.failed, dispatch.asked) == (1, 0, [])
    assert ask(what, client, b"anything") == b"dispatched"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", "a login succeeded: client='me' host=host principal='User:alice' software=''")
    ]


def test_a_client_that_fails_is_told_late_and_hears_nothing_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(authentication, "asyncio", SimpleNamespace(sleep=sleep))
    what, dispatch, client = made(USERS)
    handshake(what, client)
    assert slept == []
    answer = authenticate(what, client, WRONG)
    assert answer == {
        "errorCode": 58,
        "errorMessage": "Authentication failed: Invalid username or password",
        "authBytes": b"",
        "sessionLifetimeMs": 0,
    }
    # Guessing is slow.
    assert slept == [0.1]
    assert (what.succeeded, what.failed, client.is_refused, client.principal) == (0, 1, True, "User:ANONYMOUS")
    for payload in (request(AUTHENTICATE, 2, {"authBytes": GOOD}), request(VERSIONS, 0, {}), b""):
        assert ask(what, client, payload) is None
    assert dispatch.asked == []
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("a login failed: user='alice' reason=")
    assert record.getMessage().endswith(" client='me' host=host principal='User:ANONYMOUS' software=''")


def test_versions_may_be_asked_before_and_between() -> None:
    what, dispatch, client = made(USERS)
    payload = request(VERSIONS, 3, {"clientSoftwareName": "a", "clientSoftwareVersion": "b"})
    assert ask(what, client, payload) == b"dispatched"
    # Whatever its version is.
    unknown = struct.pack(">hhih", VERSIONS, 99, 1, -1)
    handshake(what, client)
    assert ask(what, client, unknown) == b"dispatched"
    assert dispatch.asked == [(client, payload), (client, unknown)]
    assert client.login is not None
    assert authenticate(what, client, GOOD)["errorCode"] == 0


@pytest.mark.parametrize(
    ("key", "version"),
    [(METADATA, 12), (METADATA, 0), (HANDSHAKE, 0), (HANDSHAKE, 2), (AUTHENTICATE, 3), (AUTHENTICATE, -1), (0, 0), (999, -1)],
)
def test_a_stranger_asks_for_nothing_else(key: int, version: int) -> None:
    what, dispatch, client = made(USERS)
    with pytest.raises(UnsupportedVersionError) as refused:
        ask(what, client, struct.pack(">hhih", key, version, 77, -1))
    assert str(refused.value) == f"request {key} version {version} of a client that has not logged in"
    assert (dispatch.asked, what.failed) == ([], 0)


@pytest.mark.parametrize("payload", [b"", b"\0\x24\0"])
def test_what_is_shorter_than_a_key_and_a_version_is_no_request(payload: bytes) -> None:
    what, _, client = made(USERS)
    with pytest.raises(WireDecodeError) as refused:
        ask(what, client, payload)
    assert str(refused.value) == "a request ends within its header"
    assert (refused.value.position, refused.value.kind) == (len(payload), "truncated")


def test_a_login_that_is_longer_than_its_message_is_refused() -> None:
    what, _, client = made(USERS)
    handshake(what, client)
    with pytest.raises(ShareStateError):
        ask(what, client, request(AUTHENTICATE, 2, {"authBytes": GOOD}) + b"more")
    assert what.succeeded == 0
