"""The server's side of SASL in literals: SCRAM as in RFC 7677, and what a login knows of itself."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import scramp  # type: ignore[import-untyped]

from share_state.kafka.logins import Login, Users, read_users

#: The conversation of RFC 7677, section 3.
CLIENT_NONCE, SERVER_NONCE = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


class Rules:
    """The rules of a SCRAM mechanism, with the salt and the server's nonce of the RFC."""

    def __init__(self, mechanism: str) -> None:
        self.rules = scramp.ScramMechanism(mechanism)

    def make_auth_info(self, password: str, *, iteration_count: int) -> object:
        return self.rules.make_auth_info(password, iteration_count=iteration_count, salt=SALT)

    def make_server(self, keys: Callable[[str], object]) -> object:
        return self.rules.make_server(keys, s_nonce=SERVER_NONCE)


@pytest.fixture
def users(monkeypatch: pytest.MonkeyPatch) -> Users:
    made = Users({"user": "pencil"})
    monkeypatch.setattr(made, "_scramp", SimpleNamespace(ScramMechanism=Rules, ScramException=scramp.ScramException))
    return made


def begun(users: Users | None, mechanism: str, tokens: Any = None) -> Login:
    login = Login(users, tokens)
    assert login.handshake({"mechanism": mechanism})["errorCode"] == 0
    return login


def say(login: Login, said: bytes) -> dict[str, Any]:
    return asyncio.run(login.authenticate({"authBytes": said}))


def answer(say: bytes, code: int = 0, message: str | None = None) -> dict[str, Any]:
    return {"errorCode": code, "errorMessage": message, "authBytes": say, "sessionLifetimeMs": 0}


def state(login: Login) -> tuple[str, bool, bool, str]:
    return login.name, login.over, login.failed, login.wrong


def invalid(mechanism: str) -> str:
    return f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"


def test_nothing_is_known_before_a_login(users: Users) -> None:
    assert state(Login(None)) == ("", False, False, "")
    login = Login(users)
    early = "SaslAuthenticate came before SaslHandshake"
    assert say(login, b"\0user\0pencil") == answer(b"", 34, early)
    assert state(login) == ("", False, True, early)


def test_the_conversation_of_rfc_7677(users: Users) -> None:
    login = begun(users, "SCRAM-SHA-256")
    assert say(login, CLIENT_FIRST) == answer(SERVER_FIRST)
    assert state(login) == ("user", False, False, "")
    assert say(login, CLIENT_FINAL) == answer(SERVER_FINAL)
    assert state(login) == ("user", True, False, "")


def test_another_proof_is_refused(users: Users) -> None:
    login = begun(users, "SCRAM-SHA-256")
    say(login, CLIENT_FIRST)
    assert say(login, CLIENT_FINAL.replace(b"p=dH", b"p=eH")) == answer(b"", 58, invalid("SCRAM-SHA-256"))
    assert state(login) == ("user", False, True, invalid("SCRAM-SHA-256"))


@pytest.mark.parametrize("mechanism", MECHANISMS[1:])
@pytest.mark.parametrize(("said", "claimed"), [(b"n,,n=nobody,r=abc", "nobody"), (b"n,,", ""), (b"\xff", ""), (b"", "")])
def test_a_first_message_that_leads_nowhere_is_refused(users: Users, mechanism: str, said: bytes, claimed: str) -> None:
    login = begun(users, mechanism)
    assert say(login, said) == answer(b"", 58, invalid(mechanism))
    assert state(login) == (claimed, False, True, invalid(mechanism))


@pytest.mark.parametrize("said", [b"", b"\xff", CLIENT_FIRST])
def test_a_final_message_that_is_none_is_refused(users: Users, said: bytes) -> None:
    login = begun(users, "SCRAM-SHA-256")
    say(login, CLIENT_FIRST)
    assert say(login, said) == answer(b"", 58, invalid("SCRAM-SHA-256"))
    assert not login.over


def test_hashing_keeps_the_loop_free(users: Users, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    real = users.scram

    def scram(mechanism: str, claimed: Callable[[str], None]) -> Any:
        threads.append(threading.current_thread())
        return real(mechanism, claimed)

    monkeypatch.setattr(users, "scram", scram)
    say(begun(users, "SCRAM-SHA-512"), b"n,,n=user,r=abc")
    (thread,) = threads
    assert thread is not threading.current_thread()


def test_a_handshake_names_all_mechanisms_whatever_comes_of_it(users: Users) -> None:
    every = [*MECHANISMS, "OAUTHBEARER"]
    login = Login(users, lambda token: token)
    assert login.handshake({"mechanism": "plain"}) == {"errorCode": 33, "mechanisms": every}
    assert state(login) == ("", False, True, "mechanism 'plain' is not offered")
    login = Login(users, lambda token: token)
    assert login.handshake({"mechanism": "PLAIN"}) == {"errorCode": 0, "mechanisms": every}
    assert login.handshake({"mechanism": "PLAIN"}) == {"errorCode": 34, "mechanisms": every}
    assert state(login) == ("", False, True, "SaslHandshake came twice")


PLAIN_TEXT = "Authentication failed: Invalid username or password"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (b"\0user\0pencil\0", "user"),
        (b"root\0user\0pencil", "user"),
        (b"nobody\0user\0pencil", "user"),
        (b"\0user", "user"),
        (b"user\0pencil", "pencil"),
        (b"\0\xff\0pencil", ""),
        (b"\0user\0\xff", "user"),
        (b"", ""),
    ],
)
def test_plain_refuses_with_one_text(users: Users, said: bytes, name: str) -> None:
    login = begun(users, "PLAIN")
    assert say(login, said) == answer(b"", 58, PLAIN_TEXT)
    assert state(login) == (name, False, True, PLAIN_TEXT)


@pytest.mark.parametrize("said", [b"\0user\0pencil", b"user\0user\0pencil"])
def test_plain_lets_in_who_acts_for_nobody_else(users: Users, said: bytes) -> None:
    login = begun(users, "PLAIN")
    assert say(login, said) == answer(b"")
    assert state(login) == ("user", True, False, "")


def test_a_user_without_a_password_is_nobody() -> None:
    users = Users({"user": "pencil"})
    asked = [("user", "pencil"), ("user", ""), ("user", "Pencil"), ("nobody", ""), ("nobody", "pencil"), ("", ""), ("é", "ü")]
    assert [users.knows(*one) for one in asked] == [True, False, False, False, False, False, False]


def test_a_file_of_users_is_utf_8_whatever_the_machine_prefers(tmp_path: Path) -> None:
    class Latin(type(tmp_path)):  # type: ignore[misc]
        """A path on a machine whose locale is not UTF-8."""

        def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
            return str(super().read_text(encoding or "latin-1", errors))

    (tmp_path / "users").write_text("é:ö\n", encoding="utf-8")
    assert read_users(Latin(tmp_path / "users")) == {"é": "ö"}
