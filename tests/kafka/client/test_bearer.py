"""Tokens of OAUTHBEARER as a server reads them, the handshake before them, and the file of users."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import ConfigError
from share_state.kafka import Scram
from share_state.kafka.bearer_tokens import INVALID_TOKEN, TokenRefusedError, token_of
from share_state.kafka.client.security import UnconvincedError
from share_state.kafka.logins import Login, Users, read_users


@pytest.mark.parametrize(
    ("said", "token", "acting_for"),
    [
        (b"n,,\x01auth=Bearer abc\x01\x01", "abc", ""),
        (b"n,a=bob,\x01auth=bearer abc\x01\x01", "abc", "bob"),
        (b"n,a=,\x01auth=BEARER  abc\x01\x01", "abc", ""),
        (b"n,a=a=2Cb=3Dc,\x01host=x\x01auth=Bearer a-b_c~d+e/f.9==\x01port=1\x01\x01", "a-b_c~d+e/f.9==", "a,b=c"),
        ("n,a=é,\x01auth=Bearer abc\x01x=a=b\x01\x01".encode(), "abc", "é"),
    ],
)
def test_a_first_message_holds_a_token_and_a_name(said: bytes, token: str, acting_for: str) -> None:
    assert token_of(said) == (token, acting_for)


MALFORMED = "the first message of OAUTHBEARER is malformed"
NO_TOKEN = "the first message of OAUTHBEARER holds no bearer token"  # noqa: S105  what is said of it
NOT_UTF8 = "the authorization id of OAUTHBEARER is not UTF-8"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", MALFORMED),
        (b"n,,\x01\x01", MALFORMED),
        (b"y,,\x01auth=Bearer abc\x01\x01", MALFORMED),
        (b"n,,\x01auth=Bearer abc\x01", MALFORMED),
        (b"n,,\x01auth=Bearer abc\x01\x01x", MALFORMED),
        (b"n,,\x01au th=Bearer abc\x01\x01", MALFORMED),
        (b"n,,\x01Auth=Bearer abc\x01\x01", NO_TOKEN),
        (b"n,,\x01auth=Basic abc\x01\x01", NO_TOKEN),
        (b"n,,\x01auth=Bearerabc\x01\x01", NO_TOKEN),
        (b"n,,\x01auth=Bearer \x01\x01", NO_TOKEN),
        (b"n,,\x01auth=Bearer a b\x01\x01", NO_TOKEN),
        (b"n,a=\xff,\x01auth=Bearer abc\x01\x01", NOT_UTF8),
    ],
)
def test_what_is_no_first_message_is_told(said: bytes, why: str) -> None:
    with pytest.raises(TokenRefusedError) as refused:
        token_of(said)
    assert (str(refused.value), refused.value.field) == (why, "authBytes")


def answer(code: int, say: bytes, message: str | None = None) -> dict[str, Any]:
    return {"errorCode": code, "errorMessage": message, "authBytes": say, "sessionLifetimeMs": 0}


def bearer(token: str, acting_for: str = "") -> bytes:
    acting = f"a={acting_for}" if acting_for else ""
    return f"n,{acting},\x01auth=Bearer {token}\x01\x01".encode()


def name_of(token: str) -> str:
    if token == "bad":  # noqa: S105  no secret
        raise TokenRefusedError("expired", field="exp")
    return "" if token == "nobody" else token  # noqa: S105


async def later(token: str) -> str:
    return name_of(token)


def promised(token: str) -> Awaitable[str]:
    return later(token)


@pytest.mark.parametrize("validator", [name_of, later, promised])
async def test_a_token_lets_its_bearer_in(validator: Callable[[str], str | Awaitable[str]]) -> None:
    for acting_for in ("", "alice"):
        login = Login(None, validator)
        assert login.mechanisms == ["OAUTHBEARER"]
        assert login.handshake({"mechanism": "OAUTHBEARER"}) == {"errorCode": 0, "mechanisms": ["OAUTHBEARER"]}
        assert await login.authenticate({"authBytes": bearer("alice", acting_for)}) == answer(0, b"")
        assert (login.name, login.over, login.failed, login.wrong) == ("alice", True, False, "")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (bearer("bad"), "expired"),
        (bearer("nobody"), "the token has no subject"),
        (bearer("alice", "bob"), "the token is of 'alice', who may not act for 'bob'"),
        (b"n,,", MALFORMED),
    ],
)
@pytest.mark.parametrize("validator", [name_of, later, promised])
def test_a_token_that_does_not_count_is_refused_in_two_steps(
    said: bytes, why: str, validator: Callable[[str], str | Awaitable[str]], caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        login = Login(None, validator)
        login.handshake({"mechanism": "OAUTHBEARER"})
        with caplog.at_level(logging.INFO, "share_state.logins"):
            # The client is told why as JSON, and acknowledges it before the code comes.
            assert await login.authenticate({"authBytes": said}) == answer(0, INVALID_TOKEN.encode())
        assert (login.name, login.over, login.failed) == ("", False, False)
        assert await login.authenticate({"authBytes": b"\x01"}) == answer(58, b"", INVALID_TOKEN)
        assert (login.over, login.failed, login.wrong) == (False, True, INVALID_TOKEN)

    asyncio.run(test())
    assert [record.getMessage() for record in caplog.records] == [f"a token was refused: {why}"]


@pytest.mark.parametrize("given", [5, None, b"alice"])
def test_a_validator_that_gives_no_text_lets_nobody_in(given: Any) -> None:
    async def test() -> None:
        login = Login(None, lambda _token: given)
        login.handshake({"mechanism": "OAUTHBEARER"})
        assert (await login.authenticate({"authBytes": bearer("alice")}))["authBytes"] == INVALID_TOKEN.encode()
        assert not login.over

    asyncio.run(test())


def test_what_is_offered_follows_from_users_and_tokens() -> None:
    users = Users({"alice": "secret"})
    passwords = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
    assert Login(users).mechanisms == passwords
    assert Login(users, name_of).mechanisms == [*passwords, "OAUTHBEARER"]
    assert Login(None).mechanisms == []


# The file of users.


def test_a_file_of_users(tmp_path: Path) -> None:
    path = tmp_path / "users"
    path.write_text("\ufeff# who may\n\nalice:secret\n   \nbob:a:b: c\r\né:ö\u2028\x0b\x85x\n", encoding="utf-8")
    assert read_users(path) == {"alice": "secret", "bob": "a:b: c", "é": "ö\u2028\x0b\x85x"}


@pytest.mark.parametrize(
    ("text", "number"), [("alice", 1), ("alice:", 1), (":secret", 1), ("\n# x\nalice:x\nalice:y\n", 4), (" # x", 1)]
)
def test_a_line_that_names_no_user_is_told_by_its_number(tmp_path: Path, text: str, number: int) -> None:
    path = tmp_path / "users"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_users(path)
    expected = f"{path}:{number}: not NAME:PASSWORD, or a name for the second time"
    assert (str(refused.value), refused.value.field, refused.value.value) == (expected, "sasl_users", number)


@pytest.mark.parametrize("content", [None, b"\xff:x", b"", b"# nobody\n"])
def test_a_file_that_has_no_users_is_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "users"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read_users(path)
    expected = f"{path} cannot be read: " if content in (None, b"\xff:x") else f"{path} has no user"
    assert str(refused.value).startswith(expected)
    assert (refused.value.field, refused.value.value) == ("sasl_users", str(path))


@pytest.mark.parametrize(
    ("validator", "token", "acting_for", "why"),
    [
        (None, "alice", "", "tokens are not accepted here"),
        (name_of, "nobody", "", "the token has no subject"),
        (name_of, "alice", "bob", "the token is of 'alice', who may not act for 'bob'"),
    ],
)
def test_a_refusal_names_its_field(validator: Any, token: str, acting_for: str, why: str) -> None:
    with pytest.raises(TokenRefusedError) as refused:
        asyncio.run(Login(None, validator)._bearer_of(token, acting_for))
    assert (str(refused.value), refused.value.field) == (why, "authBytes")


def test_a_password_may_have_a_zero_character() -> None:
    login = Login(Users({"alice": "a\0b", "": "empty"}))
    login.handshake({"mechanism": "PLAIN"})
    assert asyncio.run(login.authenticate({"authBytes": b"\0alice\0a\0b"})) == answer(0, b"")
    users = Users({"alice": "", "": "empty"})
    assert [users.knows(*login) for login in (("alice", ""), ("", "empty"), ("bob", ""), ("", ""))] == [True, True, False, False]


def test_the_keys_of_a_user_are_made_once_for_each_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str, int]] = []

    class Rules:
        def __init__(self, mechanism: str) -> None:
            self.mechanism = mechanism

        def make_auth_info(self, password: str, *, iteration_count: int) -> str:
            made.append((self.mechanism, password, iteration_count))
            return f"keys of {password}"

        def make_server(self, keys: Callable[[str], Any]) -> Callable[[str], Any]:
            return keys

    class Scramp:
        ScramMechanism = Rules
        ScramException = KeyError

    users = Users({"alice": "secret"})
    monkeypatch.setattr(users, "_scramp", Scramp)
    claimed: list[str] = []
    for _ in range(2):
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            keys, raised = users.scram(mechanism, claimed.append)
            assert (keys("alice"), raised) == ("keys of secret", KeyError)
    assert made == [("SCRAM-SHA-256", "secret", 4096), ("SCRAM-SHA-512", "secret", 4096)]
    assert claimed == ["alice"] * 4


def test_without_scramp_only_passwords_in_clear_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scramp", None)
    users = Users({"alice": "secret"})
    assert users.mechanisms == ["PLAIN"]
    with pytest.raises(ConfigError) as refused:
        users.scram("SCRAM-SHA-256", print)
    expected = ("SCRAM needs the package scramp", "sasl", "SCRAM-SHA-256")
    assert (str(refused.value), refused.value.field, refused.value.value) == expected


# A client's side.


def test_a_broker_has_to_prove_that_it_knows_the_password() -> None:
    with pytest.raises(UnconvincedError, match=r"^the broker accepted the login before it proved that it knows the password$"):
        Scram("alice", "secret").start().check_ended()
