"""Who may talk to the fake share coordinator: SASL PLAIN and SCRAM, answered as a Kafka broker does.

SCRAM needs the package ``scramp`` (extra ``kafka-scram``); without it only PLAIN is offered.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from share_state.errors import ConfigError
from share_state.kafka import codes

__all__ = ["Login", "Users", "read_users"]

_PLAIN: Final = "PLAIN"
_SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
#: Kafka's least number (``ScramMechanism``).
_ROUNDS: Final = 4096


def read_users(path: Path) -> dict[str, str]:
    """Read a file with ``NAME:PASSWORD`` on each line; empty lines and those that begin with ``#`` are passed over.

    Raises:
        ConfigError: it cannot be read, or a line is not of that form; the text names the line and not what it holds.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", field="sasl_users", value=str(path)) from None
    users = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, password = line.partition(":")
        if not name or not password or name in users:
            raise ConfigError(
                f"{path}:{number}: not NAME:PASSWORD, or a name for the second time", field="sasl_users", value=number
            )
        users[name] = password
    if not users:
        raise ConfigError(f"{path} names no user", field="sasl_users", value=str(path))
    return users


class Users:
    """Names and passwords, and what the mechanisms make of them."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = dict(passwords)
        self._keys: dict[tuple[str, str], Any] = {}
        try:
            import scramp  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
        except ImportError:
            self._scramp = None
        else:
            self._scramp = scramp

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms that are offered."""
        return [_PLAIN] if self._scramp is None else [_PLAIN, *_SCRAM]

    def knows(self, name: str, password: str) -> bool:
        """Whether this is the password of that user."""
        return hmac.compare_digest(self._passwords.get(name, "").encode(), password.encode()) and name in self._passwords

    def scram(self, mechanism: str) -> tuple[Any, type[Exception]]:
        """Begin a SCRAM conversation: the server's side of it, and what it raises."""
        if self._scramp is None:
            raise ConfigError("SCRAM needs the package scramp", field="sasl", value=mechanism)
        rules = self._scramp.ScramMechanism(mechanism)

        def keys(name: str) -> Any:  # noqa: ANN401  scramp has no types
            found = self._keys.get((mechanism, name))
            if found is None:
                made = rules.make_auth_info(self._passwords[name], iteration_count=_ROUNDS)
                found = self._keys[mechanism, name] = made
            return found

        return rules.make_server(keys), self._scramp.ScramException


class Login:
    """The authentication of one connection (``SaslServerAuthenticator``).

    Attributes:
        over: whether the client is let in.
        failed: whether the connection is to be closed, once the last answer is sent.
    """

    def __init__(self, users: Users) -> None:
        self.over = False
        self.failed = False
        self._users = users
        self._mechanism: str | None = None
        self._server: Any = None
        self._wrong: type[Exception] = ValueError

    def handshake(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer SaslHandshake."""
        code = codes.NONE
        if self._mechanism is not None:
            code = codes.ILLEGAL_SASL_STATE
        elif asked["mechanism"] not in self._users.mechanisms:
            code = codes.UNSUPPORTED_SASL_MECHANISM
        else:
            self._mechanism = asked["mechanism"]
        self.failed = code != codes.NONE
        return {"errorCode": code, "mechanisms": self._users.mechanisms}

    async def authenticate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer SaslAuthenticate."""
        said: bytes = asked["authBytes"]
        if self._mechanism is None:
            return self._refuse(codes.ILLEGAL_SASL_STATE, "SaslAuthenticate came before SaslHandshake")
        if self._mechanism == _PLAIN:
            return self._plain(said)
        # Thousands of rounds of a hash when a user comes for the first time: not on the event loop.
        return await asyncio.to_thread(self._scram, said, self._mechanism)

    def _plain(self, said: bytes) -> dict[str, Any]:
        acting_for, _, rest = said.partition(b"\0")
        name, _, password = rest.partition(b"\0")
        try:
            known = self._users.knows(name.decode(), password.decode())
        except UnicodeDecodeError:
            known = False
        if not known or acting_for not in (b"", name):
            return self._refuse(codes.SASL_AUTHENTICATION_FAILED, "Authentication failed: Invalid username or password")
        self.over = True
        return _content(b"")

    def _scram(self, said: bytes, mechanism: str) -> dict[str, Any]:
        try:
            if self._server is None:
                self._server, self._wrong = self._users.scram(mechanism)
                self._server.set_client_first(said.decode())
                return _content(self._server.get_server_first().encode())
            self._server.set_client_final(said.decode())
            answer = _content(self._server.get_server_final().encode())
        except (self._wrong, KeyError, ValueError):
            reason = f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
            return self._refuse(codes.SASL_AUTHENTICATION_FAILED, reason)
        self.over = True
        return answer

    def _refuse(self, code: int, reason: str) -> dict[str, Any]:
        self.failed = True
        return {**_content(b""), "errorCode": code, "errorMessage": reason}


def _content(say: bytes) -> dict[str, Any]:
    return {"errorCode": codes.NONE, "errorMessage": None, "authBytes": say, "sessionLifetimeMs": 0}
